import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { log, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { Refusal, tool } from '../../src/program/tool.ts';
import { answer, head, never, nth, only, plainState, quiet, Scene, ScriptedModel } from './support.ts';

const pay = tool({
  name: 'pay',
  description: 'Pays',
  input: z.object({ amount: z.number() }),
  effect: 'once',
  approval: 'always',
  run: ({ amount }) => ({ paid: amount }),
});

let failuresLeft = 0;
const look = tool({
  name: 'look',
  description: 'Looks',
  input: z.object({}),
  effect: 'idempotent',
  retry: { backoffMs: [0] },
  run: () => {
    if (failuresLeft > 0) {
      failuresLeft -= 1;
      throw new Refusal('busy');
    }
    return 'seen';
  },
});

let crashesLeft = 0;
const agent = defineAgent({
  name: 'clerk',
  version: 3,
  state: { round: value(z.number(), 0), due: value(z.date(), new Date(0)), notes: log(z.string()) },
  tools: { pay, look },
  start: 'think',
  maxSteps: 20,
  nodes: {
    think: async ({ round }, { model, goto }) =>
      goto(round < 2 ? 'check' : 'buy', { round: round + 1, notes: [await model.text(`round ${round}`)] }),
    check: {
      retry: { backoffMs: [0] },
      run: async (_state, { call, goto }) => {
        if (crashesLeft > 0) {
          crashesLeft -= 1;
          throw new Error('stumbled');
        }
        return goto('think', { notes: [await call('look', {})], due: new Date(1_000) });
      },
    },
    buy: async (_state, { call, end }) => {
      await call('pay', { amount: 7 });
      return end({ notes: ['bought'] });
    },
  },
});

/** Runs until the approval is waited for: two loops, one failure of the node `check`, one refused call. */
async function waiting() {
  failuresLeft = 1;
  crashesLeft = 1;
  const scene = new Scene({ agent, model: new ScriptedModel((prompt) => `thought ${prompt}`) });
  const thread = await scene.begun();
  expect(await thread.run()).toEqual({ end: 'waiting' });
  return scene;
}

describe('after a restart', () => {
  test('[A2a] the position is the same: node just run, node to run next, loop counts, nodes visited', async () => {
    const { position } = await head(await (await waiting()).open());

    expect(position.node).toBe('think');
    expect(position.next).toMatchObject([{ node: 'buy', path: '' }]);
    expect(position.visits).toEqual({ think: 3, check: 2 });
    expect(position.step).not.toBe(only(position.next).step);
  });

  test('[A2b] the business state is the same', async () => {
    const state = await plainState(await (await waiting()).open());

    expect(state).toEqual({
      round: 3,
      due: new Date(1_000),
      notes: ['thought round 0', 'seen', 'thought round 1', 'seen', 'thought round 2'],
    });
  });

  test('[A2c] control is the same: retries by node, branches taken, steps taken and allowed, usage', async () => {
    const { control } = await head(await (await waiting()).open());

    expect(control).toMatchObject({
      status: 'waiting',
      run: { steps: 5, maxSteps: 20 },
      retries: { check: 1 },
      branches: { think: 'buy', check: 'think' },
      usage: { inputTokens: 21, outputTokens: 9 },
      resumes: 0,
      failure: null,
      inboxTaken: 1,
    });
    expect(control.waits).toHaveLength(1);
  });

  test('[A2c] resumes are counted with the commit that follows them: a step that was cut off is one, an answer is none', async () => {
    failuresLeft = 0;
    crashesLeft = 0;
    let isHeld = true;
    const scene = new Scene({ agent, model: new ScriptedModel(() => (isHeld ? never<string>() : 'thought')) });
    await scene.begun();
    for (let crash = 0; crash < 2; crash += 1) {
      const { thread, life } = await scene.mortal();
      void thread.run();
      await scene.clock.whenAsleep((ms) => ms === 120_000);
      life.end();
      await quiet();
    }
    isHeld = false;
    const thread = await scene.open();
    expect(await thread.run()).toEqual({ end: 'waiting' });
    expect((await head(thread)).control.resumes).toBe(1); // both crashes cut off the same step
    await answer(thread, only(await thread.waits()), { decision: 'allow' });
    await (await scene.open()).run();

    expect((await head(thread)).control.resumes).toBe(1);
  });

  test('[A2c] the failures of a node whose retries are spent are counted too', async () => {
    failuresLeft = 0;
    crashesLeft = 3;
    const scene = new Scene({ agent, model: new ScriptedModel(() => 'thought') });
    expect(await (await scene.begun()).run()).toMatchObject({ end: 'failed' });

    expect((await head(await scene.open())).control).toMatchObject({
      retries: { check: 3 },
      failure: { message: 'stumbled' },
    });
  });

  test('[A2e] every call is there by its id, with its attempts and their status', async () => {
    const thread = await (await waiting()).open();
    const effects = await thread.effects();
    const looks = effects.filter(({ name }) => name === 'look');

    expect(effects.map(({ name, attempt, status }) => [name, attempt, status])).toEqual([
      ['scripted', 1, 'succeeded'],
      ['look', 1, 'failed'],
      ['look', 2, 'succeeded'],
      ['scripted', 1, 'succeeded'],
      ['look', 1, 'succeeded'],
      ['scripted', 1, 'succeeded'],
    ]);
    expect(nth(looks, 0).key).toBe(nth(looks, 1).key);
    expect(nth(looks, 2).key).not.toBe(nth(looks, 1).key);
    expect(nth(looks, 0).error).toMatchObject({ code: 'refused', message: 'busy' });
  });

  test('[A2e] a call that was cut off is in doubt', async () => {
    const slow = tool({
      name: 'slow',
      description: 'Never ends',
      input: z.object({}),
      effect: 'once',
      run: () => new Promise<string>(() => undefined),
    });
    const cut = defineAgent({
      name: 'cut',
      version: 1,
      state: {},
      tools: { slow },
      start: 'go',
      nodes: {
        go: async (_state, { call, end }) => {
          await call('slow', {});
          return end();
        },
      },
    });
    const scene = new Scene({ agent: cut });
    const thread = await scene.begun();
    void thread.run();
    await scene.clock.whenAsleep((ms) => ms === 60_000);

    expect(only(await thread.effects()).status).toBe('in_progress');
    expect(only(await (await scene.open()).effects()).status).toBe('in_doubt');
  });

  test('[A2b] an earlier checkpoint still gives the state as it was then', async () => {
    const thread = await (await waiting()).open();
    const infos = await thread.checkpoints();
    const early = nth(
      infos.filter(({ position }) => position.node === 'check'),
      -1,
    );

    expect((await thread.state(early.id)).round).toBe(1);
    await expect(thread.state('0000000099-AAAAAAAAAAAA' as typeof early.id)).rejects.toMatchObject({
      code: 'checkpoint_unknown',
    });
  });

  test('[A3a, A3b] checkpoints are listed newest first, each with its parent, page by page', async () => {
    const thread = await (await waiting()).open();
    const all = await thread.checkpoints();
    const first = await thread.checkpoints({ limit: 3 });
    const second = await thread.checkpoints({ limit: 3, before: nth(first, -1).id });

    expect([...first, ...second].map(({ id }) => id)).toEqual(all.slice(0, 6).map(({ id }) => id));
    expect(all.map(({ parent }) => parent)).toEqual([...all.slice(1).map(({ id }) => id), null]);
    expect(all.map(({ id }) => id)).toEqual([...all.map(({ id }) => id)].sort().reverse());
    expect(nth(all, 0)).toMatchObject({ agent: 'clerk', agentVersion: 3, stateVersion: 1 });
  });
});

describe('what is no data', () => {
  const keeper = (bad: () => unknown) =>
    defineAgent({
      name: 'keeper',
      version: 1,
      state: { kept: value(z.unknown(), null), good: value(z.number(), 0) },
      start: 'first',
      nodes: {
        first: (_state, { goto }) => goto('second', { good: 1 }),
        second: (_state, { end }) => end({ good: 2, kept: { deep: [bad()] } }),
      },
    });

  const cases: readonly [string, () => unknown][] = [
    ['a function', () => () => 1],
    ['a symbol', () => Symbol('s')],
    ['a live object', () => new AbortController()],
    ['a promise', () => Promise.resolve(1)],
  ];
  test.each(cases)('[A2f, A7d] %s in an update fails the run with its path; the state stays', async (_name, bad) => {
    const scene = new Scene({ agent: keeper(bad) });
    const thread = await scene.begun();

    expect(await thread.run()).toMatchObject({ end: 'failed' });
    const again = await scene.open();
    expect((await head(again)).control.failure).toMatchObject({
      code: 'value_not_storable',
      details: { path: 'kept.deep[0]' },
    });
    expect(await again.state()).toEqual({ kept: null, good: 1 });
  });

  test('[A2f] in an input it is refused before anything is kept', async () => {
    const scene = new Scene({ agent: keeper(() => 1) });
    const thread = await scene.open();

    await expect(thread.send({ kept: () => 1 })).rejects.toMatchObject({
      code: 'value_not_storable',
      details: { path: 'input.kept' },
    });
    expect(await scene.stored('inbox')).toEqual([]);
  });
});
