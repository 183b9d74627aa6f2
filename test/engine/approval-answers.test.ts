import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import { value } from '../../src/model/fields.ts';
import type { WaitAnswer } from '../../src/model/wait.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { askingAgent } from './asking-agent.ts';
import { answer, nth, only, plainState, quiet, Scene, withMethods } from './support.ts';

async function waiting(asking: Parameters<typeof askingAgent>[0] = {}) {
  const { agent, sent, noted } = askingAgent(asking);
  const scene = new Scene({ agent });
  const thread = await scene.begun();
  expect(await thread.run()).toEqual({ end: 'waiting' });
  return { scene, thread, sent, noted };
}

test.each<[unknown, 'done' | 'waiting']>([
  [undefined, 'waiting'],
  [false, 'done'],
  [true, 'waiting'],
  ['', 'waiting'],
])('[B9d] an approval function that gives %j: the run is %s after it', async (given, end) => {
  const sent: string[] = [];
  const mail = tool({
    name: 'mail',
    description: 'Sends a mail',
    input: z.object({ to: z.string() }),
    effect: 'once',
    approval: () => given as boolean,
    run: ({ to }) => void sent.push(to),
  });
  const agent = defineAgent({
    name: 'mailer',
    version: 1,
    state: { to: value(z.string(), 'ann') },
    start: 'go',
    tools: { mail },
    nodes: {
      go: async ({ to }, { call, end }) => {
        await call('mail', { to });
        return end({});
      },
    },
  });
  const thread = await new Scene({ agent }).begun();

  expect(await thread.run()).toMatchObject({ end });
  expect(sent).toHaveLength(end === 'done' ? 1 : 0);
});

describe('an answer', () => {
  const same: readonly [string, WaitAnswer, WaitAnswer][] = [
    ['allow', { decision: 'allow' }, { decision: 'allow', forThread: false }],
    ['deny', { decision: 'deny' }, { decision: 'deny', reason: '' }],
    [
      'edited allow',
      { decision: 'allow', args: { to: 'bob', note: 'x' } },
      { args: { to: 'bob', note: 'x' }, decision: 'allow' },
    ],
  ];
  test.each(same)('[B9b] given twice changes nothing the second time: %s', async (_name, first, second) => {
    const { scene, thread } = await waiting();
    const wait = only(await thread.waits());
    await answer(thread, wait, first);
    const before = await scene.stored('waits');

    await expect(answer(await scene.open(), wait, second)).resolves.toBeUndefined();
    expect(await scene.stored('waits')).toEqual(before);
  });

  const other: readonly [string, WaitAnswer, WaitAnswer][] = [
    ['deny after allow', { decision: 'allow' }, { decision: 'deny' }],
    ['another reason', { decision: 'deny', reason: 'a' }, { decision: 'deny', reason: 'b' }],
    ['for the thread', { decision: 'allow' }, { decision: 'allow', forThread: true }],
    ['other arguments', { decision: 'allow' }, { decision: 'allow', args: { to: 'bob', note: 'x' } }],
  ];
  test.each(other)('[B9b] that contradicts the first is refused with the winner: %s', async (_name, first, second) => {
    const { thread } = await waiting();
    const wait = only(await thread.waits());
    await answer(thread, wait, first);

    await expect(answer(thread, wait, second)).rejects.toMatchObject({
      code: 'wait_closed',
      details: { wait: wait.id, winner: first.decision },
    });
  });

  test('[B9b] whose values differ only where JSON is blind is another answer', async () => {
    const when = tool({
      name: 'when',
      description: 'Takes a map',
      input: z.object({ at: z.map(z.string(), z.bigint()) }),
      effect: 'once',
      approval: 'always',
      run: () => 'done',
    });
    const agent = defineAgent({
      name: 'maps',
      version: 1,
      state: { done: value(z.string(), '') },
      tools: { when },
      start: 'go',
      nodes: { go: async (_state, { call, end }) => end({ done: await call('when', { at: new Map([['a', 1n]]) }) }) },
    });
    const thread = await new Scene({ agent }).begun();
    await thread.run();
    const wait = only(await thread.waits());
    await answer(thread, wait, { decision: 'allow', args: { at: new Map([['a', 2n]]) } });

    await expect(
      answer(thread, wait, { decision: 'allow', args: { at: new Map([['a', 2n]]) } }),
    ).resolves.toBeUndefined();
    await expect(answer(thread, wait, { decision: 'allow', args: { at: new Map([['a', 3n]]) } })).rejects.toMatchObject(
      {
        code: 'wait_closed',
      },
    );
  });

  test('[B9b] that was given for something else than what is asked is refused', async () => {
    const { thread, sent } = await waiting();
    const wait = only(await thread.waits());

    await expect(thread.answer(wait.id, 'another digest', { decision: 'allow' })).rejects.toMatchObject({
      code: 'answer_mismatch',
      details: { tool: 'send' },
    });
    expect(await thread.run()).toEqual({ end: 'waiting' });
    expect(sent).toEqual([]);
  });

  test('[B9b] to a wait that nobody asked is refused', async () => {
    const { thread } = await waiting();

    await expect(thread.answer('nonsense', 'digest', { decision: 'allow' })).rejects.toMatchObject({
      code: 'wait_unknown',
    });
  });

  test('[B9b, I1] is acknowledged only once the store has it', async () => {
    const { scene, thread } = await waiting();
    const wait = only(await thread.waits());
    const store = scene.world.store();
    const go = deferred<void>();
    const slow = await scene.open({
      store: withMethods(store, { commit: (groups) => go.promise.then(() => store.commit(groups)) }),
    });
    let isAcknowledged = false;
    const answering = answer(slow, wait, { decision: 'allow' }).then(() => {
      isAcknowledged = true;
    });
    await quiet();

    expect(isAcknowledged).toBe(false);
    go.resolve();
    await answering;
    expect(await scene.stored('waits')).toHaveLength(2);
  });
});

describe('several waits at once', () => {
  const orders = [
    [0, 1, 2],
    [2, 1, 0],
    [1, 2, 0],
  ] as const;
  test.each(orders)('[B9b, B9c] are answered in any order, with restarts in between: %s %s %s', async (...order) => {
    const { scene, sent, noted } = await waiting({ to: ['ann', 'bob', 'cid'] });
    const waits = await (await scene.open()).waits();
    expect(waits.map(({ args }) => (args as { to: string }).to)).toEqual(['ann', 'bob', 'cid']);
    for (const [count, index] of order.entries()) {
      const thread = await scene.open();
      await answer(thread, nth(waits, index), { decision: 'allow' });
      expect(await (await scene.open()).run()).toEqual({ end: count === 2 ? 'done' : 'waiting' });
    }

    expect(sent).toEqual(order.map((index) => `${['ann', 'bob', 'cid'][index]}: hello`));
    expect(noted).toEqual(['hello']);
    expect((await plainState(await scene.open())).log).toEqual(['ann', 'bob', 'cid']);
  });

  test('[B9d] each gets its own answer', async () => {
    const { scene, thread, sent } = await waiting({ to: ['ann', 'bob'] });
    const waits = await thread.waits();
    await answer(thread, nth(waits, 1), { decision: 'deny' });
    await answer(thread, nth(waits, 0), { decision: 'allow' });
    await (await scene.open()).run();

    expect(sent).toEqual(['ann: hello']);
    expect((await plainState(thread)).log).toEqual(['ann', 'tool_denied']);
  });

  test('[B9a] that are asked together are opened by one commit', async () => {
    const { scene } = await waiting({ to: ['ann', 'bob', 'cid'] });
    const infos = await (await scene.open()).checkpoints();

    expect(infos.map(({ cause }) => cause)).toEqual(['wait', 'input']);
    expect(new Set((await scene.stored('waits')).map(({ commit }) => commit)).size).toBe(1);
  });
});

describe('a run that is still live', () => {
  /** Runs until one mail waits for its answer and another call is under way. */
  async function live() {
    const held = deferred<string>();
    const { agent, sent } = askingAgent({ beside: () => held.promise });
    const scene = new Scene({ agent });
    const thread = await scene.begun();
    const running = thread.run();
    await quiet();
    return { scene, thread, running, held, sent };
  }

  test('[B9b] goes on at once with an answer that comes from another tab', async () => {
    const { scene, thread, running, held, sent } = await live();
    const other = await scene.open();
    await answer(other, only(await other.waits()), { decision: 'allow' });
    await thread.look();
    await quiet();

    expect(sent).toEqual(['ann: hello']);
    held.resolve('worked');
    expect(await running).toEqual({ end: 'done' });
    expect((await plainState(thread)).log).toEqual(['ann', 'worked']);
  });

  test('[B9b] takes up an answer that it was not told of, before it ends', async () => {
    const { scene, running, held, sent } = await live();
    const other = await scene.open();
    await answer(other, only(await other.waits()), { decision: 'allow' });
    held.resolve('worked');

    expect(await running).toEqual({ end: 'done' });
    expect(sent).toEqual(['ann: hello']);
  });

  test('[B9a] ends waiting once nothing else is under way', async () => {
    const { running, held, sent } = await live();
    held.resolve('worked');

    expect(await running).toEqual({ end: 'waiting' });
    expect(sent).toEqual([]);
  });
});
