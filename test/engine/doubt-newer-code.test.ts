/** What a person said of a call in doubt, and the class it was made with, count also for code that has changed its tool. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { EffectClass } from '../../src/model/effect.ts';
import { log } from '../../src/model/fields.ts';
import type { WaitAnswer } from '../../src/model/wait.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { done, notDone, tool } from '../../src/program/tool.ts';
import { answer, never, only, plainState, quiet, Scene } from './support.ts';

interface Changed {
  readonly effect?: EffectClass;
  readonly verify?: () => ReturnType<typeof done> | ReturnType<typeof notDone>;
  readonly compensate?: () => void;
  /** Whether the node asks a question behind its call. */
  readonly asks?: boolean;
}

/** A tool whose first version loses its answer, or never gets one, and whose second one would make the call. */
function sending(
  did: string[],
  { effect = 'once', verify, compensate, asks }: Changed = {},
  run?: () => Promise<string>,
) {
  const send = tool({
    name: 'send',
    description: 'Sends',
    input: z.object({}),
    effect,
    retry: { attempts: 1 },
    run: async () => {
      did.push('run');
      return run === undefined ? 'sent' : run();
    },
    ...(verify && {
      verify: () => {
        did.push('verify');
        return verify();
      },
    }),
    ...(compensate && { compensate }),
  });
  return defineAgent({
    name: 'sender',
    version: run === undefined ? 2 : 1,
    state: { said: log(z.unknown()) },
    tools: { send },
    start: 'go',
    nodes: {
      go: async (_state, { call, ask, end }) => {
        const came = await call('send', {}).catch((error: { code: string }) => error.code);
        return end({ said: asks ? [came, await ask('And now?')] : [came] });
      },
    },
  });
}

const lost = () => Promise.reject(new Error('lost'));

const changes: readonly [string, (did: string[]) => Changed][] = [
  ['is as it was', () => ({})],
  ['is a read by now', () => ({ effect: 'read' })],
  ['is idempotent by now', () => ({ effect: 'idempotent' })],
  ['has a verify by now that says done', () => ({ verify: () => done('verified') })],
  ['has a verify by now that says not done', () => ({ verify: () => notDone({ closed: true }) })],
  ['has a compensate by now', (did) => ({ compensate: () => void did.push('undone') })],
];

describe.each(changes)('a call in doubt whose tool %s', (_name, change) => {
  const answers: readonly [string, WaitAnswer, unknown, readonly string[]][] = [
    ['done', { decision: 'done', result: 'by hand' }, 'by hand', ['run']],
    ['given up', { decision: 'give_up' }, 'effect_given_up', ['run']],
    ['not done', { decision: 'not_done' }, 'sent', ['run', 'run']],
  ];
  test.each(answers)(
    '[B4f, B15b] a person said %s: that counts, and nothing else is asked',
    async (_what, given, came, made) => {
      const did: string[] = [];
      const scene = new Scene({ agent: sending(did, {}, lost) });
      const thread = await scene.begun();
      expect(await thread.run()).toEqual({ end: 'waiting' });
      await answer(thread, only(await thread.waits()), given);

      const newer = await scene.open({ agent: sending(did, change(did)) });
      scene.world.backoff = 'passes';
      expect(await newer.run()).toEqual({ end: 'done' });
      expect((await plainState(newer)).said).toEqual([came]);
      expect(did).toEqual(made);
    },
  );
});

describe('a once call that a crash cut off', () => {
  test.each<EffectClass>(['read', 'idempotent'])(
    '[B4c, B15b] is in doubt by its class on record, though newer code says "%s"',
    async (effect) => {
      const did: string[] = [];
      const scene = new Scene({ agent: sending(did, {}, never) });
      await scene.begun();
      const { thread: first, life } = await scene.mortal();
      void first.run();
      await quiet();
      life.end();
      expect(did).toEqual(['run']);

      const newer = await scene.open({ agent: sending(did, { effect }) });
      expect(await newer.run()).toEqual({ end: 'waiting' });
      expect(only(await newer.waits())).toMatchObject({ kind: 'in_doubt', tool: 'send' });
      expect(did).toEqual(['run']);
    },
  );

  test('[B4e, B15b] and that was undone stays so, though newer code has a verify', async () => {
    const did: string[] = [];
    const undo = { compensate: () => void did.push('undone'), asks: true };
    const scene = new Scene({ agent: sending(did, undo, lost) });
    expect(await (await scene.begun()).run()).toEqual({ end: 'waiting' });
    scene.lose('ledger', (key) => key === '0000000001.o');

    const newer = await scene.open({ agent: sending(did, { asks: true, verify: () => done('verified') }) });
    await answer(newer, only(await newer.waits()), { decision: 'reply', value: 'end' });
    expect(await newer.run()).toEqual({ end: 'done' });
    expect((await plainState(newer)).said).toEqual(['effect_compensated', 'end']);
    expect(did).toEqual(['run', 'undone']);
  });
});
