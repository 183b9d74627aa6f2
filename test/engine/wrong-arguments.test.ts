/** Arguments that JavaScript lets through: refused before anything is kept, and the thread stays readable. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { EngineThread } from '../../src/engine/engine-thread.ts';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { NodeContext } from '../../src/program/node-context.ts';
import { type Tools, tool } from '../../src/program/tool.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { answer, head, only, Scene, ScriptedModel } from './support.ts';

const state = { said: log(z.string()) };
type Context = NodeContext<typeof state, Tools, 'go'>;

function doing(work: (context: Context) => unknown): Scene {
  const get = tool({ name: 'get', description: 'Gets', input: z.object({}), effect: 'read', run: () => 'got' });
  const send = tool({ ...get, name: 'send', approval: 'always' });
  const agent = defineAgent({
    name: 'odd',
    version: 1,
    state,
    tools: { get, send } as Tools,
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

  test.each(['', '\ud800', '\ufeffa'])('[B11a] or is %j is refused, and nothing is kept', async (dedupId) => {
    const thread = await doing(() => undefined).open();

    await expect(thread.send({}, dedupId)).rejects.toMatchObject({ code: 'dedup_id_invalid' });
    expect(await thread.row()).toBeUndefined();
  });

  test('[B9f] of an event that no record can hold is refused', async () => {
    const thread = await doing(() => undefined).begun();

    for (const name of ['\ud800', '\ufeffword'])
      await expect(thread.signal(name)).rejects.toMatchObject({ code: 'event_name_invalid' });
    expect((await thread.row())?.inbox).toBe(1);
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

describe('what a thread is asked', () => {
  test.each<[string, (thread: EngineThread) => Promise<unknown>, string, string]>([
    ['events', (thread) => thread.events({ limit: 0 }), 'limit_invalid', 'A list of 0 cannot be given'],
    ['events', (thread) => thread.events({ limit: odd('5') }), 'limit_invalid', 'A list of "5" cannot be given'],
    ['events', (thread) => thread.events({ from: 'then' }), 'checkpoint_unknown', 'has no checkpoint then'],
    ['events', (thread) => thread.events({ from: odd(7) }), 'checkpoint_unknown', 'has no checkpoint 7'],
    ['checkpoints', (thread) => thread.checkpoints({ limit: 0 }), 'limit_invalid', 'A list of 0 cannot be given'],
    ['checkpoints', (thread) => thread.checkpoints({ limit: 1.5 }), 'limit_invalid', 'A list of 1.5 cannot be given'],
    [
      'checkpoints',
      (thread) => thread.checkpoints({ before: odd('then') }),
      'checkpoint_unknown',
      'no checkpoint then',
    ],
    ['state', (thread) => thread.state(odd(7)), 'checkpoint_unknown', 'has no checkpoint 7'],
    [
      'inspect',
      async (thread) => thread.inspect(odd([(await head(thread)).id])),
      'checkpoint_unknown',
      'has no checkpoint',
    ],
    ['inspect', (thread) => thread.inspect(odd(null)), 'checkpoint_unknown', 'has no checkpoint null'],
    ['rollBack', (thread) => thread.rollBack(odd('then')), 'checkpoint_unknown', 'has no checkpoint then'],
    ['diff', (thread) => thread.diff(odd(null), {}), 'side_invalid', 'not null'],
    ['diff', (thread) => thread.diff(odd([]), {}), 'side_invalid', 'not a list'],
    ['compact', (thread) => thread.compact({}, odd(['then'])), 'checkpoint_unknown', 'has no checkpoint then'],
    ['compact', (thread) => thread.compact({}, odd([7])), 'checkpoint_unknown', 'has no checkpoint 7'],
    ['share', (thread) => thread.share('bob', odd('all')), 'share_invalid', '"all"; there are read, write, none'],
    ['share', (thread) => thread.share(odd(7), 'read'), 'share_invalid', 'its owner cannot be used: it is not a text'],
    ['signal', (thread) => thread.signal(''), 'event_name_invalid', 'no name of an event'],
    ['signal', (thread) => thread.signal(odd(7)), 'event_name_invalid', 'no name of an event'],
    ['send', (thread) => thread.send({}, 'id', odd('drop')), 'policy_unknown', 'queue, reject, interrupt, roll_back'],
    ['send', (thread) => thread.send(odd('hi')), 'state_invalid', 'give an object with the fields to change'],
    ['send', (thread) => thread.send(odd(null)), 'state_invalid', 'give an object with the fields to change'],
    ['send', (thread) => thread.send({ toString: 1 }), 'field_unknown', 'There is no field "toString"'],
    ['send', (thread) => thread.send([]), 'state_invalid', 'give an object with the fields to change'],
    ['edit', (thread) => thread.edit(odd(null)), 'state_invalid', 'give an object with the fields to change'],
    ['extend', (thread) => thread.extend(odd(null)), 'extension_invalid', 'null is no object'],
  ])('[C2a] by %s (%#) with another value is refused with what may be given', async (_, ask, code, text) => {
    const thread = await doing(() => undefined).begun();
    await thread.run();
    const { inbox, head: before } = (await thread.row()) ?? {};

    const refused = expect(ask(thread)).rejects;
    await refused.toMatchObject({ code, message: expect.stringContaining(text) });
    expect(await thread.row()).toMatchObject({ inbox, head: before });
  });

  test.each([null, undefined, 'allow', {}, { decision: 'reply' }])(
    '[B9c] an answer that is %j is refused, with the decisions that there are',
    async (given) => {
      const thread = await doing(({ online }) => online()).begun(); // nothing is asked
      await expect(thread.answer('no-wait', '', odd(given))).rejects.toMatchObject({ code: 'wait_unknown' });
      const asking = await doing(({ call }) => call('send', odd({}))).begun();
      await asking.run();
      const [wait] = await asking.waits();

      await expect(asking.answer(wait?.id ?? '', wait?.digest ?? '', odd(given))).rejects.toMatchObject({
        code: 'answer_invalid',
        details: { allowed: 'allow (args, forThread), deny (reason)' },
      });
    },
  );
});

test.each([
  [{ decision: 'allow', edited: { to: 'x' } }, 'allow with "edited"'],
  [{ decision: 'deny', why: 'no' }, 'deny with "why"'],
  [{ decision: 'edit', args: {} }, 'edit'],
])('[B9c] an answer with what no answer has is refused, and the wait stays open: %j', async (given, decision) => {
  const asking = await doing(({ call }) => call('send', odd({}))).begun();
  await asking.run();
  const [wait] = await asking.waits();

  await expect(asking.answer(wait?.id ?? '', wait?.digest ?? '', odd(given))).rejects.toMatchObject({
    code: 'answer_invalid',
    message: expect.stringContaining(
      `cannot be answered with ${JSON.stringify(decision)}. Answer allow (args, forThread), deny (reason).`,
    ),
  });
  expect(await asking.waits()).toHaveLength(1);
});

test.each([
  [{ decision: 'allow', forThread: 'yes' }, 'allow with forThread "yes"', 'with true or false'],
  [{ decision: 'deny', reason: 5 }, 'deny with the reason 5', 'with a text'],
])('[B9c, B9e] an answer of another type is refused: %j', async (given, decision, allowed) => {
  const asking = await doing(({ call }) => call('send', odd({}))).begun();
  await asking.run();
  const wait = only(await asking.waits());

  await expect(answer(asking, wait, odd(given))).rejects.toMatchObject({
    code: 'answer_invalid',
    details: { decision, allowed },
  });
  expect(await asking.waits()).toHaveLength(1);
});

test('[B9c, B9f] a reply without a value is refused', async () => {
  const asking = await doing(({ ask }) => ask('Well?')).begun();
  await asking.run();
  const wait = only(await asking.waits());

  await expect(answer(asking, wait, odd({ decision: 'reply' }))).rejects.toMatchObject({
    code: 'answer_invalid',
    details: { decision: 'reply without a value', allowed: 'reply (value), deny (reason)' },
  });
});

test('[A13c] secrets that are one text, and no list of them, are refused before the thread is opened', async () => {
  const scene = doing(() => undefined);
  await scene.begun();
  const { agent } = scene;

  await expect((await scene.open({ agent, secrets: () => 'sk-12345678' })).run()).resolves.toMatchObject({
    end: 'blocked',
    error: { code: 'option_invalid', details: { option: 'secrets' } },
  });
});

describe('an engine', () => {
  const agent = defineAgent({
    name: 'still',
    version: 1,
    state: {},
    start: 'go',
    nodes: { go: (_, { end }) => end() },
  });

  test.each<[object, string, string]>([
    [{ durability: 'none' }, 'durability', '"none" is none of strict, relaxed'],
    [{ resume: 'auto' }, 'resume', 'there is none of that name'], // one of `serve` alone
    [{ maxResumes: 0 }, 'maxResumes', '0 is not a number from 1'],
    [{ maxResumes: Number.NaN }, 'maxResumes', 'NaN is not a number from 1'],
    [{ tiers: { everyStep: 3 } }, 'tiers', 'it has "everyStep"; there are everySteps, everyMs, longStepMs'],
    [{ tiers: { everySteps: -1 } }, 'tiers', 'everySteps is -1, not a number from 0'],
    [{ tiers: { everyMs: '5' } }, 'tiers', 'everyMs is "5", not a number from 0'],
    [{ model: {} }, 'model', 'a model has a function stream'],
    [{ models: { second: { name: 'second' } } }, 'second', 'a model has a function stream'],
  ])('[C2a] with the options %j is not made', async (options, option, problem) => {
    await expect(new TestWorld().engine({ agent, ...options })).rejects.toMatchObject({
      code: 'option_invalid',
      details: { option, problem: expect.stringContaining(problem) },
    });
  });

  test('[C2a] with every option that there is is made', async () => {
    const model = new ScriptedModel(() => 'yes');
    const options = {
      durability: 'relaxed',
      maxResumes: Infinity,
      tiers: { everySteps: 0, everyMs: Infinity },
      model,
    } as const;

    const thread = (await new TestWorld().engine({ agent, ...options, models: { other: model } })).thread('t');
    await thread.send({});
    expect(await thread.run()).toEqual({ end: 'done' });
  });
});
