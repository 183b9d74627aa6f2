/** Arguments that JavaScript lets through: refused before anything is kept, and the thread stays readable. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { NodeContext } from '../../src/program/node-context.ts';
import { type Tools, tool } from '../../src/program/tool.ts';
import { head, Scene, ScriptedModel } from './support.ts';

const state = { said: log(z.string()) };
type Context = NodeContext<typeof state, Tools, 'go'>;

function doing(work: (context: Context) => unknown): Scene {
  const get = tool({ name: 'get', description: 'Gets', input: z.object({}), effect: 'read', run: () => 'got' });
  const agent = defineAgent({
    name: 'odd',
    version: 1,
    state,
    tools: { get } as Tools,
    start: 'go',
    nodes: {
      go: async (_state, context) => {
        await work(context);
        return context.end({ said: ['done'] });
      },
    },
  });
  return new Scene({ agent, model: new ScriptedModel(() => 'yes') });
}

/** As code without types gives it. */
const odd = (given: unknown) => given as never;

describe('a call of a node', () => {
  test.each<[string, (context: Context) => unknown, string]>([
    ['ask', ({ ask }) => ask(odd({ q: 1 })), 'the question is of type object, not a text'],
    ['ask', ({ ask }) => ask('well?', odd({ expiresMs: '5' })), 'expiresMs is of type string, not a number from 0'],
    ['waitFor', ({ waitFor }) => waitFor(odd(['word'])), 'the name is a list, not a text'],
    ['waitFor', ({ waitFor }) => waitFor('word', { expiresMs: Number.NaN }), 'expiresMs is NaN, not a number from 0'],
    ['emit', ({ emit }) => emit(odd(undefined)), 'the name is undefined, not a text'],
    ['model', ({ model }) => model.text(odd({ text: 'x' })), 'the prompt is of type object, not a text'],
    ['model', ({ model }) => model.answer(odd({})), 'messages is undefined, not a list'],
    ['child', ({ child }) => child(odd({}), {}), 'the name of the agent is undefined, not a text'],
    ['parallel', ({ parallel }) => parallel(odd('go')), 'what it was given is of type string, not a list'],
    ['fanOut', ({ fanOut }) => fanOut('go', odd({ a: 1 })), 'what it was given as items is of type object, not a list'],
    ['get', ({ call }) => call('get', odd({}), odd({ key: {} })), 'its key is of type object, not a text'],
  ])('[B9f] to %s (%#) with another type is refused, and the thread stays readable', async (name, work, problem) => {
    const scene = doing(work);

    expect(await (await scene.begun()).run()).toEqual({ end: 'failed' });
    const later = await scene.open();
    const { failure } = (await head(later)).control;
    expect(failure).toMatchObject({ code: 'argument_invalid', details: { problem } });
    expect(failure?.message).toContain(name);
    expect(await later.waits()).toEqual([]);
    await later.send({});
    expect(await later.run()).toEqual({ end: 'failed' });
  });

  test('[B9f] of a tool by a list is one of an unknown tool', async () => {
    const scene = doing(({ call }) => call(odd(['get']), odd({})));

    expect(await (await scene.begun()).run()).toEqual({ end: 'failed' });
    expect((await head(await scene.open())).control.failure?.code).toBe('tool_unknown');
  });

  test('[B9f] to sleep for a text is refused', async () => {
    const scene = doing(({ sleep }) => sleep(odd('5')));

    expect(await (await scene.begun()).run()).toEqual({ end: 'failed' });
    expect((await head(await scene.open())).control.failure?.code).toBe('sleep_invalid');
  });
});

describe('an id that is no text', () => {
  test('[B11a] is refused, and nothing is kept: no thread either', async () => {
    const scene = doing(() => undefined);
    const thread = await scene.open();

    await expect(thread.send({}, odd({ dedupId: 'a' }))).rejects.toMatchObject({
      code: 'dedup_id_invalid',
      details: { thread: 'thread', found: 'object' },
    });
    expect(await thread.row()).toBeUndefined();
  });

  test('[B11a] is refused for events, cancels and extensions, too', async () => {
    const thread = await doing(() => undefined).begun();

    for (const attempt of [
      () => thread.signal('word', 1, odd(7)),
      () => thread.cancel(odd({})),
      () => thread.extend({ steps: 1 }, odd(null)),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ code: 'dedup_id_invalid' });
    }
    expect((await thread.row())?.inbox).toBe(1);
  });
});
