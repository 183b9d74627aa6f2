import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { EffectClass } from '../../src/model/effect.ts';
import { value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { done, notDone, Refusal, type ToolCall, tool, unknown, type Verdict } from '../../src/program/tool.ts';
import { answer, head, never, nth, only, Scene } from './support.ts';

/** What the tool does on its first, second … call. */
type Script = readonly (() => string | Promise<string>)[];

interface Given {
  readonly effect: EffectClass;
  readonly script: Script;
  readonly verify?: (call: ToolCall) => Verdict<string> | Promise<Verdict<string>>;
  readonly compensate?: (call: ToolCall) => void;
  readonly attempts?: number;
}

/** A node with one call. */
function oneCall({ effect, script, verify, compensate, attempts = 3 }: Given) {
  const calls: ToolCall[] = [];
  const act = tool({
    name: 'act',
    description: 'Acts',
    input: z.object({ what: z.string() }),
    effect,
    retry: { attempts },
    settleMs: 50_000,
    run: (_input, call) => {
      calls.push(call);
      return nth(script, Math.min(calls.length, script.length) - 1)();
    },
    ...(verify && { verify: (_input: { what: string }, call: ToolCall) => verify(call) }),
    ...(compensate && { compensate: (_input: { what: string }, call: ToolCall) => compensate(call) }),
  });
  const agent = defineAgent({
    name: 'actor',
    version: 1,
    state: { result: value(z.string(), '') },
    tools: { act },
    start: 'go',
    nodes: { go: async (_state, { call, end }) => end({ result: await call('act', { what: 'it' }) }) },
  });
  return { scene: new Scene({ agent }), calls };
}

/** Runs the thread until its call is cut off by a crash. */
async function crashed(given: Given) {
  const { scene, calls } = oneCall({ ...given, script: [() => never(), ...given.script] });
  await scene.begun();
  const { thread, life } = await scene.mortal();
  void thread.run();
  await scene.clock.whenAsleep((ms) => ms === 60_000);
  life.end();
  return { scene, calls, thread: await scene.open() };
}

const ok = () => 'ok';

async function attempts(scene: Scene) {
  const effects = await (await scene.open()).effects();
  return effects.filter(({ kind }) => kind === 'tool').map(({ attempt, status }) => `${attempt} ${status}`);
}

describe('a call that a crash cut off', () => {
  test('[B4a] read: runs again freely; nothing was recorded before it', async () => {
    const { scene, calls, thread } = await crashed({ effect: 'read', script: [ok] });
    expect(await scene.stored('ledger')).toEqual([]);

    expect(await thread.run()).toEqual({ end: 'done' });
    expect(calls).toHaveLength(2);
    expect(await attempts(scene)).toEqual(['1 succeeded']);
  });

  test('[B4b] idempotent: runs again with the same effect key and the next attempt number', async () => {
    const { scene, calls, thread } = await crashed({ effect: 'idempotent', script: [ok] });

    expect(await thread.run()).toEqual({ end: 'done' });
    expect(calls.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(nth(calls, 0).effectKey).toBe(nth(calls, 1).effectKey);
    expect(await attempts(scene)).toEqual(['1 failed', '2 succeeded']);
  });

  test('[B4c, B4f] once: is never made again blindly; a person is asked', async () => {
    const { scene, calls, thread } = await crashed({ effect: 'once', script: [ok] });

    expect(await thread.run()).toEqual({ end: 'waiting' });
    expect(await (await scene.open()).run()).toEqual({ end: 'waiting' });
    expect(calls).toHaveLength(1);
    expect(only(await thread.waits())).toMatchObject({ kind: 'in_doubt', tool: 'act', args: { what: 'it' } });
    expect(only(await thread.waits()).effectKey).toBe(nth(calls, 0).effectKey);
  });

  test('[B4d] once, verified as done: is not made again, and its node gets the result that verify found', async () => {
    const { scene, calls, thread } = await crashed({ effect: 'once', script: [ok], verify: () => done('found') });

    expect(await thread.run()).toEqual({ end: 'done' });
    expect((await thread.state()).result).toBe('found');
    expect(calls).toHaveLength(1);
    expect(await attempts(scene)).toEqual(['1 succeeded']);
  });

  test('[B4d] verify is asked for the key and the attempt of the call in doubt, and is an effect itself', async () => {
    const asked: ToolCall[] = [];
    const { calls, thread } = await crashed({
      effect: 'once',
      script: [ok],
      verify: (call) => {
        asked.push(call);
        return done('found');
      },
    });
    await thread.run();

    expect(only(asked)).toMatchObject({ effectKey: nth(calls, 0).effectKey, attempt: 1 });
    expect((await thread.effects()).map(({ kind, name, status }) => [kind, name, status])).toEqual([
      ['tool', 'act', 'succeeded'],
      ['verify', 'act (verify)', 'succeeded'],
    ]);
  });

  test('[B4d] once, verified as not done and closed: is made again at once, with the same key', async () => {
    const { scene, calls, thread } = await crashed({
      effect: 'once',
      script: [ok],
      verify: () => notDone({ closed: true }),
    });

    expect(await thread.run()).toEqual({ end: 'done' });
    expect(calls.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(nth(calls, 0).effectKey).toBe(nth(calls, 1).effectKey);
    expect(await attempts(scene)).toEqual(['1 failed', '2 succeeded']);
  });

  test('[B4d] once, not done but not closed: counts only after its latest start and the settle time', async () => {
    const { scene, calls, thread } = await crashed({ effect: 'once', script: [ok], verify: () => notDone() });
    const overAtMs = nth(calls, 0).notAfterMs + 50_000;
    const running = thread.run();
    const waitMs = await scene.clock.whenAsleep((ms) => ms > 55_000 && ms < 60_010 && ms !== 60_000);

    expect(scene.clock.nowMs() + waitMs).toBe(overAtMs + 1);
    expect(calls).toHaveLength(1);
    scene.clock.advance(waitMs);
    expect(await running).toEqual({ end: 'done' });
    expect(calls).toHaveLength(2);
    expect((await thread.effects()).filter(({ kind }) => kind === 'verify')).toHaveLength(2);
  });

  test('[B4d, B4c] an answer of verify from before the settle time does not count after a further crash', async () => {
    let happened = false;
    const { scene, calls } = await crashed({
      effect: 'once',
      script: [ok],
      verify: () => (happened ? done('arrived late') : notDone()),
    });
    const { thread, life } = await scene.mortal();
    void thread.run();
    await scene.clock.whenAsleep((ms) => ms > 55_000 && ms < 60_010 && ms !== 60_000);
    life.end();
    happened = true;
    scene.clock.advance(500_000);
    const again = await scene.open();

    expect(await again.run()).toEqual({ end: 'done' });
    expect((await again.state()).result).toBe('arrived late');
    expect(calls).toHaveLength(1);
  });

  test('[B4d, B4f] once, not known to verify: a person is asked', async () => {
    const { calls, thread } = await crashed({ effect: 'once', script: [ok], verify: () => unknown });

    expect(await thread.run()).toEqual({ end: 'waiting' });
    expect(only(await thread.waits()).kind).toBe('in_doubt');
    expect(calls).toHaveLength(1);
  });

  test('[B4d, B4f] a verify that fails in all its attempts leaves it to a person', async () => {
    const { scene, calls, thread } = await crashed({
      effect: 'once',
      script: [ok],
      verify: () => {
        throw new Error('no network');
      },
    });
    const running = thread.run();
    await scene.passes(900, 1_100);
    await scene.passes(4_500, 5_500);

    expect(await running).toEqual({ end: 'waiting' });
    expect(calls).toHaveLength(1);
  });

  test('[B4e] once, with compensate: is undone, not made again, and the node is told', async () => {
    const undone: string[] = [];
    const { scene, calls, thread } = await crashed({
      effect: 'once',
      script: [ok],
      compensate: ({ effectKey }) => undone.push(effectKey),
    });

    expect(await thread.run()).toMatchObject({ end: 'failed' });
    expect((await head(thread)).control.failure?.code).toBe('effect_compensated');
    expect(undone).toEqual([nth(calls, 0).effectKey]);
    expect(calls).toHaveLength(1);
    expect(await attempts(scene)).toEqual(['1 compensated']);
  });
});

describe('a person decides about a call in doubt', () => {
  test('[B4f] done: the node goes on with the result that the person gave', async () => {
    const { scene, calls, thread } = await crashed({ effect: 'once', script: [ok] });
    await thread.run();
    await answer(thread, only(await thread.waits()), { decision: 'done', result: 'by hand' });
    const again = await scene.open();

    expect(await again.run()).toEqual({ end: 'done' });
    expect((await again.state()).result).toBe('by hand');
    expect(calls).toHaveLength(1);
  });

  test('[B4f] not done: the call is made again', async () => {
    const { scene, calls, thread } = await crashed({ effect: 'once', script: [ok] });
    await thread.run();
    await answer(thread, only(await thread.waits()), { decision: 'not_done' });

    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(calls.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  test('[B4f] give up: the node is told, and nothing is called', async () => {
    const { scene, calls, thread } = await crashed({ effect: 'once', script: [ok] });
    await thread.run();
    await answer(thread, only(await thread.waits()), { decision: 'give_up' });

    expect(await (await scene.open()).run()).toMatchObject({ end: 'failed' });
    expect((await head(thread)).control.failure?.code).toBe('effect_given_up');
    expect(calls).toHaveLength(1);
    expect(await attempts(scene)).toEqual(['1 given_up']);
  });

  test('[B4f] an approval cannot be given as the answer, nor the other way round', async () => {
    const { thread } = await crashed({ effect: 'once', script: [ok] });
    await thread.run();

    await expect(answer(thread, only(await thread.waits()), { decision: 'allow' })).rejects.toMatchObject({
      code: 'answer_invalid',
      details: { decision: 'allow', allowed: 'done (result), not_done, give_up' },
    });
  });
});

describe('an error of a once call', () => {
  const fail = () => {
    throw new Error('socket closed');
  };

  test('[B4c] leaves it in doubt: it may have happened', async () => {
    const { scene, calls } = oneCall({ effect: 'once', script: [fail] });

    expect(await (await scene.begun()).run()).toEqual({ end: 'waiting' });
    expect(calls).toHaveLength(1);
    expect(await attempts(scene)).toEqual(['1 in_doubt']);
  });

  test('[B4c, B5a] is a failure if the tool declares a refusal: it is made again', async () => {
    const refuse = () => {
      throw new Refusal('queue is full');
    };
    const { scene, calls } = oneCall({ effect: 'once', script: [refuse, ok] });
    const thread = await scene.begun();
    const running = thread.run();
    await scene.passes(900, 1_100);

    expect(await running).toEqual({ end: 'done' });
    expect(calls).toHaveLength(2);
    expect(await attempts(scene)).toEqual(['1 failed', '2 succeeded']);
  });

  test('[B4c] a refusal that says so is not tried again', async () => {
    const { scene, calls } = oneCall({
      effect: 'once',
      script: [
        () => {
          throw new Refusal('no such address', { retry: false });
        },
      ],
    });
    const thread = await scene.begun();

    expect(await thread.run()).toMatchObject({ end: 'failed' });
    expect((await head(thread)).control.failure).toMatchObject({
      code: 'effect_failed',
      details: { name: 'act', attempts: 1, reason: 'no such address' },
    });
    expect(calls).toHaveLength(1);
  });

  test('[B4c, B5a] failures that verify finds not done are spent like others', async () => {
    const { scene, calls } = oneCall({
      effect: 'once',
      script: [fail],
      verify: () => notDone({ closed: true }),
      attempts: 2,
    });
    const running = (await scene.begun()).run();
    await scene.passes(900, 1_100);

    expect(await running).toMatchObject({ end: 'failed' });
    expect(calls).toHaveLength(2);
  });
});
