import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { defineAgent, type RunLimits } from '../../src/program/agent.ts';
import type { ModelPart } from '../../src/program/model.ts';
import { answer, head, only, plainState, quiet, Scene, ScriptedModel } from './support.ts';

const state = { said: log(z.string()) };
const day = 86_400_000;

/** Asks for a word, then for another; each question waits for its answer. */
function asking(limits: RunLimits, deadlineMs?: number): Scene {
  const agent = defineAgent({
    name: 'limited',
    version: 1,
    state,
    limits,
    start: 'first',
    nodes: {
      first: async (_state, { ask, goto }) => goto('second', { said: [await ask<string>('first?')] }),
      second: {
        ...(deadlineMs !== undefined && { deadlineMs }),
        run: async (_state, { ask, end }) => end({ said: [await ask<string>('second?')] }),
      },
    },
  });
  return new Scene({ agent });
}

async function reply(scene: Scene, value: string): Promise<void> {
  const thread = await scene.open();
  await answer(thread, only(await thread.waits()), { decision: 'reply', value });
}

const run = async (scene: Scene) => (await scene.open()).run();

describe('a deadline', () => {
  test('[B7a, B7d, A2d] counts over restarts and waits, and stops the run where it stands', async () => {
    const scene = asking({ runMs: 1_000 });
    await (await scene.begun()).run();
    scene.clock.advance(600);
    await reply(scene, 'one');
    expect(await run(scene)).toEqual({ end: 'waiting' });
    expect((await (await scene.open()).row())?.wakeUpAtMs).toBe(scene.clock.nowMs() + 400);
    scene.clock.advance(400);

    expect(await run(scene)).toEqual({ end: 'timed_out' });
    const newest = await head(await scene.open());
    expect(newest).toMatchObject({ cause: 'timed_out', kind: 'snapshot' });
    expect(newest.control).toMatchObject({ status: 'timed_out', spent: { ms: 1_000 }, limits: { runMs: 1_000 } });
    expect(newest.position.next[0]?.node).toBe('second');
    expect((await plainState(await scene.open())).said).toEqual(['one']);
  });

  test.each([
    ['of the one step', false],
    ['of lines side by side', true],
  ])('[B7a, B7e] %s that was reached can be extended: a step has its deadline anew', async (_of, isForked) => {
    const deadlineMs = 1_000;
    const agent = defineAgent({
      name: 'limited',
      version: 1,
      state,
      start: isForked ? 'fork' : 'a',
      nodes: {
        fork: (_state, { parallel }) => parallel(['a', 'b']),
        a: { deadlineMs, run: async (_state, { ask, end }) => end({ said: [String(await ask('well?'))] }) },
        b: { deadlineMs, run: async (_state, { ask, end }) => end({ said: [String(await ask('well?'))] }) },
      },
    });
    const scene = new Scene({ agent });
    await (await scene.begun()).run();
    scene.clock.advance(1_000);
    expect(await run(scene)).toEqual({ end: 'timed_out' });
    await (await scene.open()).extend({ runMs: 1 });
    expect(await run(scene)).toEqual({ end: 'waiting' });
    scene.clock.advance(999);
    expect(await run(scene)).toEqual({ end: 'waiting' });
    for (const wait of await (await scene.open()).waits())
      await answer(await scene.open(), wait, { decision: 'reply', value: 'late' });

    expect(await run(scene)).toEqual({ end: 'done' });
    expect(new Set((await plainState(await scene.open())).said as string[])).toEqual(new Set(['late']));
  });

  test('[B7e] that was reached can be extended: the run goes on with the answers it had', async () => {
    const scene = asking({ runMs: 1_000 });
    await (await scene.begun()).run();
    await reply(scene, 'one');
    await run(scene);
    scene.clock.advance(day);
    await run(scene);
    await reply(scene, 'two'); // its question is still open
    expect(await run(scene)).toEqual({ end: 'timed_out' });
    await (await scene.open()).extend({ runMs: 2 * day });

    expect(await run(scene)).toEqual({ end: 'done' });
    expect((await plainState(await scene.open())).said).toEqual(['one', 'two']);
  });

  test('[B7e] that was reached can be given up', async () => {
    const scene = asking({ runMs: 1_000 });
    await (await scene.begun()).run();
    scene.clock.advance(1_000);
    await run(scene);
    await (await scene.open()).cancel();

    expect(await run(scene)).toEqual({ end: 'cancelled' });
  });

  test('[B7a] of a step counts from when it was scheduled, and not that of the step before', async () => {
    const scene = asking({}, 1_000);
    await (await scene.begun()).run();
    scene.clock.advance(day);
    await reply(scene, 'one');
    expect(await run(scene)).toEqual({ end: 'waiting' });
    scene.clock.advance(999);
    expect(await run(scene)).toEqual({ end: 'waiting' });
    scene.clock.advance(1);

    expect(await run(scene)).toEqual({ end: 'timed_out' });
  });

  test('[B7d] stops a call that is under way', async () => {
    const agent = defineAgent({
      name: 'slow',
      version: 1,
      state,
      limits: { runMs: 500 },
      start: 'only',
      nodes: {
        only: (_state, { abortSignal }) =>
          new Promise((_resolve, reject) => abortSignal.addEventListener('abort', () => reject(abortSignal.reason))),
      },
    });
    const scene = new Scene({ agent });
    const running = (await scene.begun()).run();
    await scene.passes(500, 500);

    expect(await running).toEqual({ end: 'timed_out' });
  });

  test('[B7b] is not moved by a clock that is put back, or forward, while the thread is open', async () => {
    const scene = asking({ runMs: 1_000 });
    const thread = await scene.begun();
    await thread.run();
    scene.clock.jump(day);
    expect(await thread.run()).toEqual({ end: 'waiting' });
    scene.clock.jump(-2 * day);
    expect(await thread.run()).toEqual({ end: 'waiting' });
    scene.clock.advance(1_000);

    expect(await thread.run()).toEqual({ end: 'timed_out' });
  });

  test('[B7b] gains nothing from a clock that was put back while no page was open', async () => {
    const scene = asking({ runMs: 1_000 });
    await (await scene.begun()).run();
    scene.clock.advance(900);
    await run(scene);
    await reply(scene, 'one');
    await run(scene); // commits what has passed
    scene.clock.jump(-day);
    expect(await run(scene)).toEqual({ end: 'waiting' });

    const { control } = await head(await scene.open());
    expect(control.spent.ms).toBe(900);
    const thread = await scene.open();
    scene.clock.advance(100);
    await reply(scene, 'two');
    expect(await thread.run()).toEqual({ end: 'done' });
  });
});

describe('a budget', () => {
  const priced = Object.assign(new ScriptedModel(() => 'word'), {
    price: { inputPerMillion: 1_000_000, outputPerMillion: 2_000_000 },
  });
  // A prompt of 4 characters is 4 tokens in; each answer is 3 out: 7 tokens, at a cost of 10.
  function spending(limits: RunLimits, calls = 5): Scene {
    const agent = defineAgent({
      name: 'spending',
      version: 1,
      state,
      limits,
      start: 'only',
      nodes: {
        only: async (_state, { model, end }) => {
          for (let call = 0; call < calls; call += 1) await model.text(`say${call}`);
          return end({ said: ['all'] });
        },
      },
    });
    return new Scene({ agent, model: priced });
  }

  test('[B7c, B7d] of tokens stops the run before the call that would go beyond it', async () => {
    priced.calls.length = 0;
    const scene = spending({ tokens: 14 });

    expect(await (await scene.begun()).run()).toEqual({ end: 'out_of_budget' });
    expect(priced.calls).toHaveLength(2);
    expect((await head(await scene.open())).control.status).toBe('out_of_budget');
  });

  test('[B7c] of cost counts by the price of the model', async () => {
    priced.calls.length = 0;
    const scene = spending({ cost: 25 });

    expect(await (await scene.begun()).run()).toEqual({ end: 'out_of_budget' });
    expect(priced.calls).toHaveLength(3);
  });

  test('[B7e, A2d] that is extended goes on without paying again for what was answered', async () => {
    priced.calls.length = 0;
    const scene = spending({ tokens: 14 });
    await (await scene.begun()).run();
    await (await scene.open()).extend({ tokens: 7 });
    expect(await run(scene)).toEqual({ end: 'out_of_budget' });
    await (await scene.open()).extend({ tokens: 100 });

    expect(await run(scene)).toEqual({ end: 'done' });
    expect(priced.calls.map(({ prompt }) => prompt)).toEqual(['say0', 'say1', 'say2', 'say3', 'say4']);
    expect((await head(await scene.open())).control).toMatchObject({
      spent: { tokens: 35, cost: 50 },
      limits: { tokens: 121 },
      usage: { inputTokens: 20, outputTokens: 15, cost: 50 },
    });
  });

  test('[B7c] begins anew with the next input; what the thread used in all goes on', async () => {
    const scene = spending({ tokens: 14 }, 2);
    const thread = await scene.begun();
    await thread.run();
    await thread.send({});

    expect(await thread.run()).toEqual({ end: 'done' });
    const { control } = await head(thread);
    expect(control.spent.tokens).toBe(14);
    expect(control.usage.inputTokens + control.usage.outputTokens).toBe(28);
  });

  test('[B7c] counts what a failed step used', async () => {
    const agent = defineAgent({
      name: 'failing',
      version: 1,
      state,
      start: 'only',
      nodes: {
        only: {
          retry: { attempts: 1 },
          run: async (_state, { model }) => {
            await model.text('say0');
            throw new Error('no');
          },
        },
      },
    });
    const thread = await new Scene({ agent, model: priced }).begun();

    expect(await thread.run()).toMatchObject({ end: 'failed' });
    expect((await head(thread)).control.usage).toEqual({ inputTokens: 4, outputTokens: 3, cost: 10 });
  });

  test('[B7c] of a model that says itself what a call cost, takes that', async () => {
    const own = {
      name: 'own',
      async *stream(): AsyncGenerator<ModelPart> {
        yield { type: 'finish', usage: { inputTokens: 1, outputTokens: 1, cost: 3 } };
      },
    };
    const agent = defineAgent({
      name: 'own',
      version: 1,
      state,
      start: 'only',
      nodes: { only: async (_state, { model, end }) => end({ said: [await model.text('x')] }) },
    });
    const thread = await new Scene({ agent, model: own }).begun();
    await thread.run();

    expect((await head(thread)).control.usage.cost).toBe(3);
  });

  test('[B7e] of steps that was reached can be extended too', async () => {
    const agent = defineAgent({
      name: 'steps',
      version: 1,
      state,
      maxSteps: 2,
      start: 'turn',
      nodes: { turn: ({ said }, { goto, end }) => (said.length < 3 ? goto('turn', { said: ['x'] }) : end()) },
    });
    const scene = new Scene({ agent });
    expect(await (await scene.begun()).run()).toMatchObject({ end: 'failed' });
    await (await scene.open()).extend({ steps: 2 });

    expect(await run(scene)).toEqual({ end: 'done' });
  });

  test('[B7e] that is extended by no sensible number is refused, and nothing is kept', async () => {
    const thread = await spending({ tokens: 14 }).begun();

    await expect(thread.extend({ tokens: -5 })).rejects.toMatchObject({
      code: 'extension_invalid',
      details: { problem: 'the extension.tokens is -5, not a number above 0' },
    });
    await expect(thread.extend({ coins: 5 } as object)).rejects.toMatchObject({ code: 'extension_invalid' });
    expect((await thread.row())?.inbox).toBe(1);
  });

  test.each([{ tokens: -1 }, { cost: 0 }, { runMs: Number.NaN }, { tokens: Infinity }, { money: 3 } as RunLimits])(
    '[B7c] an agent with the limits %j is refused where it is defined',
    (limits) => {
      expect(() => spending(limits)).toThrow(/^Agent "spending" cannot be used: limits/);
    },
  );

  test('[B7a] a node with a deadline that is none is refused where it is defined', () => {
    expect(() => asking({}, -3)).toThrow('node "second" deadlineMs is -3, not a number above 0');
  });
});

test('[B7d] lines of a fork stop together when the time is over, and all go on when it is extended', async () => {
  const agent = defineAgent({
    name: 'forked',
    version: 1,
    state,
    limits: { runMs: 1_000 },
    start: 'begin',
    nodes: {
      begin: (_state, { parallel }) => parallel(['asks', 'works'], { join: 'last' }),
      asks: async (_state, { ask, end }) => end({ said: [await ask<string>('well?')] }),
      works: (_state, { end }) => end({ said: ['works'] }),
      last: (_state, { end }) => end({ said: ['last'] }),
    },
  });
  const scene = new Scene({ agent });
  const thread = await scene.begun();
  await thread.run();
  await quiet();
  scene.clock.advance(1_000);
  expect(await run(scene)).toEqual({ end: 'timed_out' });
  await (await scene.open()).extend({ runMs: 1_000 });
  expect(await run(scene)).toEqual({ end: 'waiting' });
  await reply(scene, 'well');

  expect(await run(scene)).toEqual({ end: 'done' });
  expect((await plainState(await scene.open())).said).toEqual(['well', 'works', 'last']);
});
