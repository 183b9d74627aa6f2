/** Bad input gets a clear, typed error (what happened, with values, and what to do next), and nothing is lost by it. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { log, value } from '../../src/model/fields.ts';
import type { ThreadId } from '../../src/model/ids.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { answer, head, only, plainState, Scene } from './support.ts';

const said = { said: log(z.string()) };

const listener = defineAgent({
  name: 'listener',
  version: 1,
  state: said,
  start: 'go',
  nodes: { go: async (_state, { waitFor, end }) => end({ said: [await waitFor<string>('word')] }) },
});

describe('an id that is taken', () => {
  test('[B11a] by an input that says something else is refused; what was sent first is kept, and nothing else', async () => {
    const scene = new Scene({ agent: listener });
    const thread = await scene.begun();
    await thread.send({ said: ['one'] }, 'message-1');

    await expect(thread.send({ said: ['two'] }, 'message-1')).rejects.toMatchObject({
      code: 'id_taken',
      details: { thread: 'thread', dedupId: 'message-1', kept: 'input' },
      message:
        'The id "message-1" of thread "thread" is taken: what is kept under it (input) says something else. This one was not kept: send it under an id of its own.',
    });
    await thread.send({ said: ['one'] }, 'message-1');
    expect((await thread.row())?.inbox).toBe(2);
  });

  test('[B11a, B9f] by an event, or by another kind of item, is refused too', async () => {
    const scene = new Scene({ agent: listener });
    const thread = await scene.begun();
    await thread.signal('word', 'yes', 'event-1');

    const taken = { code: 'id_taken', details: { kept: 'event' } };
    await expect(thread.signal('word', 'no', 'event-1')).rejects.toMatchObject(taken);
    await expect(thread.signal('other', 'yes', 'event-1')).rejects.toMatchObject(taken);
    await expect(thread.cancel('event-1')).rejects.toMatchObject(taken);
    await thread.signal('word', 'yes', 'event-1');
    expect(await thread.run()).toEqual({ end: 'done' });
    expect((await plainState(thread)).said).toEqual(['yes']);
  });

  test('[B11a] by the same input with a large value is no trouble, also when the item itself is gone', async () => {
    const scene = new Scene({ agent: listener });
    const thread = await scene.begun();
    const large = { said: ['x'.repeat(10_000)] };
    await thread.send(large, 'message-1');
    await thread.send({ ...large }, 'message-1');
    await expect(thread.send({ said: ['y'.repeat(10_000)] }, 'message-1')).rejects.toMatchObject({ code: 'id_taken' });
    scene.lose('inbox', (key) => key.startsWith('o:'));

    await thread.send({ said: ['anything'] }, 'message-1');
    expect((await thread.row())?.inbox).toBe(2);
  });
});

test('[B3d, B15a] a node whose calls changed their order between versions is stopped with both, and goes on with the old one', async () => {
  const made: string[] = [];
  const act = (name: string) =>
    tool({
      name,
      description: name,
      input: z.object({}),
      effect: 'once',
      run: () => {
        made.push(name);
        return name;
      },
    });
  const version = (number: number, order: readonly ('pay' | 'ship')[]) =>
    defineAgent({
      name: 'shop',
      version: number,
      state: said,
      tools: { pay: act('pay'), ship: act('ship') },
      start: 'go',
      nodes: {
        go: async (_state, { call, ask, end }) => {
          const [first = 'pay', second = 'ship'] = order;
          await call(first, {});
          await ask('go on?');
          return end({ said: [await call(second, {})] });
        },
      },
    });
  const scene = new Scene({ agent: version(1, ['pay', 'ship']) });
  const thread = await scene.begun();
  await thread.run();
  await answer(thread, only(await thread.waits()), { decision: 'reply', value: 'yes' });
  const before = await thread.row();

  const end = await (await scene.open({ agent: version(2, ['ship', 'pay']) })).run();
  expect(end).toMatchObject({ end: 'blocked', error: { code: 'replay_mismatch' } });
  expect(end.end === 'blocked' && end.error.message).toMatch(
    /called "ship" with .* where "pay" with .* is on record\. Nodes must/,
  );
  expect(await (await scene.open()).row()).toMatchObject({ head: before?.head, status: 'waiting' });
  expect(await (await scene.open()).run()).toEqual({ end: 'done' });
  expect(made).toEqual(['pay', 'ship']);
});

test('[B9b] an answer to a wait that is not there any more is refused with both ids, and changes nothing', async () => {
  const thread = await new Scene({ agent: listener }).begun();
  await thread.run();

  await expect(thread.answer('gone', 'digest', { decision: 'allow' })).rejects.toMatchObject({
    code: 'wait_unknown',
    message: 'Thread "thread" has no wait gone any more, or never had: read its waits again. Nothing was changed.',
  });
  expect((await thread.row())?.status).toBe('waiting');
});

test.each([
  [{ tokens: -1 }, 'limits.tokens is -1, not a number above 0'],
  [{ cost: Number.NaN }, 'limits.cost is NaN, not a number above 0'],
  [{ runMs: Number.POSITIVE_INFINITY }, 'limits.runMs is Infinity, not a number above 0'],
])('[B7c] a budget of %j is refused where the agent is defined', (limits, problem) => {
  expect(() => defineAgent({ ...listener, limits })).toThrow(`Agent "listener" cannot be used: ${problem}.`);
});

test('[B1a, B6d] a reducer that throws fails the step with the field and its words; what was before is kept, and the next input works', async () => {
  const agent = defineAgent({
    name: 'adder',
    version: 1,
    state: {
      sum: value(z.number(), 1, (sum, more: number) => {
        if (more === 13) throw new Error('13 is too much');
        return sum + more;
      }),
      notes: log(z.string()),
      next: value(z.number(), 0),
    },
    start: 'go',
    nodes: { go: ({ next }, { end }) => end({ sum: next, notes: [`added ${next}`] }) },
  });
  const scene = new Scene({ agent });
  const thread = await scene.begun({ next: 13 });

  expect(await thread.run()).toMatchObject({ end: 'failed' });
  expect((await head(thread)).control.failure).toMatchObject({
    code: 'state_invalid',
    message:
      'The update of field "sum" does not fit its schema: its reducer threw Error: 13 is too much. Nothing was committed.',
  });
  expect(await plainState(thread)).toEqual({ sum: 1, notes: [], next: 13 });
  await thread.send({ next: 4 });
  expect(await (await scene.open()).run()).toEqual({ end: 'done' });
  expect(await plainState(thread)).toEqual({ sum: 5, notes: ['added 4'], next: 4 });
});

test('[A14a] of 10,000 open threads each can be listed, reached and run', { timeout: 60_000 }, async () => {
  const engine = await new TestWorld().engine({ agent: listener });
  for (let index = 0; index < 10_000; index += 1) await engine.thread(`thread ${index}`).send({});

  const ids = new Set((await engine.threads(Infinity)).map(({ id }) => id));
  expect(ids.size).toBe(10_000);
  expect(ids.has('thread 9999' as ThreadId)).toBe(true);
  expect(await engine.threads()).toHaveLength(1_000);
  expect(await engine.thread('thread 5000').run()).toEqual({ end: 'waiting' });
});
