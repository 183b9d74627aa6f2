/** A `once` call whose entry is lost among others: which attempt it was is not known, and its receiver is asked by key and attempt. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { done, notDone, Refusal, type ToolCall, tool, unknown, type Verdict } from '../../src/program/tool.ts';
import { never, nth, only, plainState, Scene } from './support.ts';
import { beforeNode, choices } from './travel-agent.ts';

interface Given {
  /** Attempts that the receiver refuses before it takes one. */
  readonly refused?: number;
  /** Calls of another tool before it, and so entries that are lost with its own. */
  readonly looks?: number;
  readonly verify?: (arrived: ReadonlySet<string>, call: ToolCall) => Verdict<string>;
  readonly compensate?: (arrived: Set<string>, call: ToolCall) => void;
  readonly asks?: boolean;
}

const name = ({ effectKey, attempt }: ToolCall) => `${effectKey} ${attempt}`;

/** Pays, and dies before the answer is stored; then its ledger is gone. */
async function lostCall({ refused = 0, looks = 1, verify, compensate, asks = false }: Given) {
  const arrived = new Set<string>();
  const asked: number[] = [];
  let isFirst = true;
  let die: () => void = () => undefined;
  const look = tool({ name: 'look', description: 'Looks', input: z.object({}), effect: 'read', run: () => 'seen' });
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: z.object({}),
    effect: 'once',
    run: async (_input, call) => {
      if (call.attempt <= refused) throw new Refusal('busy');
      arrived.add(name(call));
      if (!isFirst) return 'paid again';
      isFirst = false;
      die();
      return never<string>();
    },
    ...(verify && {
      verify: (_input: object, call: ToolCall) => {
        asked.push(call.attempt);
        return verify(arrived, call);
      },
    }),
    ...(compensate && {
      compensate: (_input: object, call: ToolCall) => {
        asked.push(call.attempt);
        compensate(arrived, call);
      },
    }),
  });
  const agent = defineAgent({
    name: 'payer',
    version: 1,
    state: { said: log(z.string()) },
    tools: { look, pay },
    start: 'go',
    nodes: {
      go: async (_state, { call, ask, end }) => {
        for (let index = 0; index < looks; index += 1) await call('look', {});
        const came = await call('pay', {}).catch((error: { code: string }) => error.code);
        if (asks) await ask('And now?');
        return end({ said: [came] });
      },
    },
  });
  const scene = new Scene({ agent });
  scene.world.backoff = 'passes';
  await scene.begun();
  const { thread, life } = await scene.mortal();
  die = () => life.end();
  void thread.run();
  await life.death;
  expect(arrived.size).toBe(1);
  scene.lose('ledger', () => true);
  return { scene, thread: await scene.open(), arrived, asked };
}

const byAttempt = (arrived: ReadonlySet<string>, call: ToolCall) =>
  arrived.has(name(call)) ? done('paid') : notDone({ closed: true });

describe('a once call that is lost among other entries', () => {
  test.each([
    [0, 1],
    [1, 1],
    [2, 1],
    [0, 4],
    [2, 0],
  ])(
    '[B4d, B4c] refused %i times, behind %i reads: its verify is asked about each attempt that may have been made',
    async (refused, looks) => {
      const { thread, arrived } = await lostCall({ refused, looks, verify: byAttempt });

      expect(await thread.run()).toEqual({ end: 'done' });
      expect((await plainState(thread)).said).toEqual(['paid']);
      expect(arrived.size).toBe(1);
    },
  );

  test('[B4d, B4c] is made again only where none of them is known to its receiver', async () => {
    const { thread, arrived, asked } = await lostCall({ verify: () => notDone({ closed: true }) });

    expect(await thread.run()).toEqual({ end: 'done' });
    expect([...asked].sort()).toEqual([1, 2]);
    expect(nth([...arrived], -1)).toMatch(/ 3$/);
  });

  test('[B4d, B4f] is left to a person where one of them is not known', async () => {
    const { thread, arrived } = await lostCall({
      verify: (_arrived, { attempt }) => (attempt === 1 ? unknown : notDone({ closed: true })),
    });

    expect(await thread.run()).toEqual({ end: 'waiting' });
    expect(only(await thread.waits()).kind).toBe('in_doubt');
    expect(arrived.size).toBe(1);
  });

  test('[B4f] is left to a person where more attempts may have been made than can be asked about', async () => {
    const { thread, asked } = await lostCall({ looks: 20, verify: byAttempt });

    expect(await thread.run()).toEqual({ end: 'waiting' });
    expect(only(await thread.waits()).reason).toContain('Any of 21 attempts may have been made.');
    expect(asked).toEqual([]);
  });

  test.each([
    [0, 1],
    [1, 1],
    [0, 4],
  ])('[B4e, B4c] refused %i times, behind %i reads: all that may have been made is undone', async (refused, looks) => {
    const { thread, arrived } = await lostCall({
      refused,
      looks,
      compensate: (all, call) => void all.delete(name(call)),
    });

    expect(await thread.run()).toEqual({ end: 'done' });
    expect((await plainState(thread)).said).toEqual(['effect_compensated']);
    expect([...arrived]).toEqual([]);
  });

  test('[B4e, B4f] one of whose undoings fails is not said to be undone', async () => {
    const { thread } = await lostCall({
      compensate: (_all, { attempt }) => {
        if (attempt === 1) throw new Error('no such payment');
      },
    });

    expect(await thread.run()).toEqual({ end: 'waiting' });
    expect(only(await thread.waits()).reason).toContain('no such payment');
    expect((await thread.effects()).filter(({ status }) => status === 'compensated')).toEqual([]);
  });

  test('[B12c, B4e] and that going back is to undo is undone whichever attempt it was', async () => {
    const { scene, thread, arrived } = await lostCall({
      asks: true,
      verify: byAttempt,
      compensate: (all, call) => void all.delete(name(call)),
    });
    expect(await thread.run()).toEqual({ end: 'waiting' });
    const [paid] = arrived;
    const target = await beforeNode(thread, 'go');
    const effects = await choices(thread.rollBack(target), (called) => (called === 'pay' ? 'compensate' : 'redo'));
    await thread.rollBack(target, { effects });
    await (await scene.open()).run();

    expect([...arrived]).not.toContain(paid); // what is there now is the call that was made since
    expect((await thread.effects()).map(({ kind }) => kind)).toContain('compensate');
  });
});
