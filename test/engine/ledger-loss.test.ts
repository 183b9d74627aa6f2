import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { done, notDone, type ToolCall, tool, type Verdict } from '../../src/program/tool.ts';
import { answer, never, nth, only, Scene } from './support.ts';

const input = z.object({ n: z.number() });

interface Given {
  readonly verify?: () => Verdict<string>;
  readonly approval?: 'always';
}

/** A node that makes a `once` call, then a call that is cut off at first. */
function crashedAfterOnce({ verify, approval }: Given = {}) {
  const sent: ToolCall[] = [];
  const looked: ToolCall[] = [];
  const isCut = deferred<void>();
  const send = tool({
    name: 'send',
    description: 'Sends',
    input,
    effect: 'once',
    run: ({ n }, call) => {
      sent.push(call);
      return `sent ${n}`;
    },
    ...(verify && { verify }),
    ...(approval && { approval }),
  });
  const look = tool({
    name: 'look',
    description: 'Looks',
    input,
    effect: 'idempotent',
    run: ({ n }, call) => {
      looked.push(call);
      if (looked.length > 1) return `looked ${n}`;
      isCut.resolve();
      return never<string>();
    },
  });
  const agent = defineAgent({
    name: 'sender',
    version: 1,
    state: { notes: log(z.string()) },
    tools: { send, look },
    start: 'go',
    nodes: {
      go: async (_state, { call, end }) => {
        if (approval === undefined) {
          const note = await call('send', { n: 1 });
          return end({ notes: [note, await call('look', { n: 2 })] });
        }
        const note = await call('look', { n: 2 });
        return end({ notes: [note, await call('send', { n: 1 })] });
      },
    },
  });
  const scene = new Scene({ agent });
  const crash = async () => {
    await scene.begun();
    const { thread, life } = await scene.mortal();
    void thread.run();
    await isCut.promise;
    life.end();
  };
  return { scene, sent, looked, crash };
}

const ruined: readonly [string, (scene: Scene) => void][] = [
  ['is missing', (scene) => scene.lose('ledger', (key) => key.startsWith('0000000001'))],
  ['is damaged', (scene) => scene.damage('ledger', (key) => key === '0000000001.i')],
  ['has a damaged outcome', (scene) => scene.damage('ledger', (key) => key === '0000000001.o')],
  ['has lost its outcome', (scene) => scene.lose('ledger', (key) => key === '0000000001.o')],
];

describe('a once call whose entry in the ledger', () => {
  test.each(ruined)('[B4c, B3c] %s is in doubt, not "never called"', async (_what, ruin) => {
    const { scene, sent, crash } = crashedAfterOnce();
    await crash();
    ruin(scene);
    const thread = await scene.open();

    expect(await thread.run()).toEqual({ end: 'waiting' });
    expect(only(await thread.waits())).toMatchObject({ kind: 'in_doubt', tool: 'send', args: { n: 1 } });
    expect(sent).toHaveLength(1);
  });

  test.each(ruined)('[B4d] %s is settled by verify, and its node goes on', async (_what, ruin) => {
    const { scene, sent, crash } = crashedAfterOnce({ verify: () => done('sent 1') });
    await crash();
    ruin(scene);
    const thread = await scene.open();

    expect(await thread.run()).toEqual({ end: 'done' });
    expect(sent).toHaveLength(1);
  });

  test('[B4f] a person says that it was done: the call is not made again, also after a further restart', async () => {
    const { scene, sent, crash } = crashedAfterOnce();
    await crash();
    nth(ruined, 0)[1](scene);
    const thread = await scene.open();
    await thread.run();
    await answer(thread, only(await thread.waits()), { decision: 'done', result: 'sent by hand' });

    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(sent).toHaveLength(1);
  });

  test('[B4c, B9d] where another entry is lost, a call that wants an approval is still not made without one', async () => {
    const { scene, sent, crash } = crashedAfterOnce({ approval: 'always', verify: () => notDone({ closed: true }) });
    await crash();
    scene.lose('ledger', (key) => key.startsWith('0000000001'));
    const thread = await scene.open();

    expect(await thread.run()).toEqual({ end: 'waiting' });
    expect(sent).toEqual([]);
    expect(only(await thread.waits()).kind).toBe('approval');
    await answer(thread, only(await thread.waits()), { decision: 'allow' });
    const running = thread.run();
    await scene.passes(900, 1_100);
    expect(await running).toEqual({ end: 'done' });
    expect(sent).toHaveLength(1);
  });

  test('[B4b] of class idempotent is made again with the same key', async () => {
    const { scene, looked, crash } = crashedAfterOnce();
    await crash();
    scene.lose('ledger', (key) => key.startsWith('0000000002'));
    await (await scene.open()).run();

    expect(looked.map(({ effectKey }) => effectKey)).toEqual([nth(looked, 0).effectKey, nth(looked, 0).effectKey]);
  });

  test('[A2e] is missing does not hide the others from the list of calls', async () => {
    const { scene, crash } = crashedAfterOnce();
    await crash();
    nth(ruined, 0)[1](scene);

    expect(only(await (await scene.open()).effects()).name).toBe('look');
  });
});

describe('a lost record of the thread itself', () => {
  test('[A11a, I10] a damaged head that nothing can make again blocks the thread with the record named, and deletes nothing', async () => {
    const { scene, crash } = crashedAfterOnce();
    await crash();
    const before = (await scene.stored('checkpoints')).length;
    scene.damage('checkpoints', () => true);
    scene.damage('events', () => true);
    scene.lose('inbox', () => true);
    const thread = await scene.open();

    expect(await thread.run()).toMatchObject({ end: 'blocked', error: { code: 'record_damaged' } });
    await expect(thread.state()).rejects.toMatchObject({ code: 'record_damaged', details: { table: 'checkpoints' } });
    expect(await scene.stored('checkpoints')).toHaveLength(before);
  });

  test('[A11a] a damaged answer to a wait is no answer: the thread is blocked, the call is not made', async () => {
    const { scene, sent, looked } = crashedAfterOnce({ approval: 'always' });
    looked.push({} as ToolCall);
    const thread = await scene.begun();
    await thread.run();
    await answer(thread, only(await thread.waits()), { decision: 'allow' });
    scene.damage('waits', (key) => key.startsWith('a:'));

    expect(await (await scene.open()).run()).toMatchObject({ end: 'blocked', error: { code: 'record_damaged' } });
    expect(sent).toEqual([]);
  });
});
