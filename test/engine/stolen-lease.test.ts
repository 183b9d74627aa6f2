/**
 * A lease can be stolen from a runner that only stood still: its call may still leave when it goes on (PROTOCOL 3). `not_done`
 * then counts only where the receiver refuses such a call.
 */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { done, notDone, type ToolCall, tool, type Verdict } from '../../src/program/tool.ts';
import { answer, never, nth, only, Scene } from './support.ts';

interface Given {
  readonly verify: () => Verdict<string>;
  readonly fenced?: boolean;
}

/** A thread whose runner stands still in its call. */
async function standingStill({ verify, fenced }: Given) {
  const calls: ToolCall[] = [];
  const act = tool({
    name: 'act',
    description: 'Acts',
    input: z.object({}),
    effect: 'once',
    settleMs: 50_000,
    run: (_input, call) => {
      calls.push(call);
      return calls.length === 1 ? never<string>() : 'ok';
    },
    verify,
    ...(fenced !== undefined && { fenced }),
  });
  const agent = defineAgent({
    name: 'actor',
    version: 1,
    state: { result: value(z.string(), '') },
    tools: { act },
    start: 'go',
    nodes: { go: async (_state, { call, end }) => end({ result: await call('act', {}) }) },
  });
  const scene = new Scene({ agent });
  await scene.begun();
  const { thread, life } = await scene.mortal();
  void thread.run();
  await scene.clock.whenAsleep((ms) => ms === 60_000);
  life.end(); // whether it is dead or stands still, nobody can tell
  return { scene, calls };
}

/** Lets the time pass after which no call that kept to its time can still arrive. */
async function passSettleTime(scene: Scene) {
  await scene.passes(60_001, 60_001);
}

describe('a call that was under way when its lease was stolen, and is not done by what verify says', () => {
  test('[B4d, B4c, B14c] is left to a person, even after its time: its runner may only have stood still', async () => {
    const { scene, calls } = await standingStill({ verify: () => notDone() });
    const thread = await scene.open();
    const running = thread.run('stolen');
    await passSettleTime(scene);

    expect(await running).toEqual({ end: 'waiting' });
    expect(calls).toHaveLength(1);
    const wait = only(await thread.waits());
    expect(wait.kind).toBe('in_doubt');
    await answer(thread, wait, { decision: 'not_done' });
    expect(await thread.run()).toEqual({ end: 'done' });
    expect(calls).toHaveLength(2);
  });

  test('[B4d, B4c, B14c] is left to a person where its record is lost, too', async () => {
    const { scene, calls } = await standingStill({ verify: () => notDone() });
    scene.lose('ledger', () => true);
    const thread = await scene.open();
    const running = thread.run('stolen');
    await passSettleTime(scene);

    expect(await running).toEqual({ end: 'waiting' });
    expect(calls).toHaveLength(1);
  });

  test('[B4d, B4c, B14c] is left to a person also by a runner that comes after the thief', async () => {
    const { scene, calls } = await standingStill({ verify: () => notDone() });
    const { thread: thief, life } = await scene.mortal();
    void thief.run('stolen');
    await scene.clock.whenAsleep((ms) => ms === 60_001);
    life.end();
    scene.clock.advance(500_000);
    const thread = await scene.open();

    expect(await thread.run()).toEqual({ end: 'waiting' });
    expect(calls).toHaveLength(1);
    expect(only(await thread.waits()).kind).toBe('in_doubt');
  });

  test('[B4d] is made again after its time where the receiver refuses what comes too late', async () => {
    const { scene, calls } = await standingStill({ verify: () => notDone(), fenced: true });
    const running = (await scene.open()).run('stolen');
    await passSettleTime(scene);

    expect(await running).toEqual({ end: 'done' });
    expect(calls).toHaveLength(2);
    expect(nth(calls, 1).effectKey).toBe(nth(calls, 0).effectKey);
  });

  test('[B4d] is made again at once where the receiver has closed it', async () => {
    const { scene, calls } = await standingStill({ verify: () => notDone({ closed: true }) });

    expect(await (await scene.open()).run('stolen')).toEqual({ end: 'done' });
    expect(calls).toHaveLength(2);
  });

  test('[B4d] and turns out to be done before its time is over: is not made again', async () => {
    let asked = 0;
    const verify = () => {
      asked += 1;
      return asked === 1 ? notDone() : done('it arrived');
    };
    const { scene, calls } = await standingStill({ verify });
    const thread = await scene.open();
    const running = thread.run('stolen');
    await passSettleTime(scene);

    expect(await running).toEqual({ end: 'done' });
    expect(await thread.state()).toMatchObject({ result: 'it arrived' });
    expect(calls).toHaveLength(1);
  });
});

test('[B4d] a call that was under way when its runner was gone for certain is made again after its time', async () => {
  const { scene, calls } = await standingStill({ verify: () => notDone() });
  const running = (await scene.open()).run();
  await passSettleTime(scene);

  expect(await running).toEqual({ end: 'done' });
  expect(calls).toHaveLength(2);
});
