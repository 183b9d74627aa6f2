/** Waits of lines whose run stands at a limit, until it is extended or given up. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import type { EngineThread } from '../../src/engine/engine-thread.ts';
import { log, value } from '../../src/model/fields.ts';
import { defineAgent, type RunLimits } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { answer, head, nth, only, plainState, Scene, ScriptedModel } from './support.ts';

const state = { said: log(z.string()) };

interface Waits {
  ask(question: string, options?: { readonly expiresMs: number }): Promise<unknown>;
  sleep(durationMs: number): Promise<void>;
}

type Work = (waits: Waits) => Promise<unknown>;

/** Two lines: what one of them does, and one that asks the model, and again, until the run may not go on. */
function twoLines(work: Work, limits: { readonly maxSteps?: number; readonly limits?: RunLimits } = { maxSteps: 2 }) {
  const agent = defineAgent({
    name: 'two lines',
    version: 1,
    ...limits,
    state,
    start: 'go',
    nodes: {
      go: (_state, { parallel }) => parallel(['works', 'again']),
      works: async (_state, context) => context.end({ said: [String(await work(context).catch(({ code }) => code))] }),
      again: async (_state, { waitFor, model, goto, end }) => {
        if ((await waitFor('go on')) === 'end') return end();
        for (const question of ['More?', 'Sure?']) await model.text(question);
        return goto('again');
      },
    },
  });
  return new Scene({ agent, model: new ScriptedModel(() => 'yes') });
}

/** The thread, where its run has reached its limit. */
async function stopped(scene: Scene, as = 'failed'): Promise<EngineThread> {
  const thread = await scene.begun();
  await thread.run();
  await thread.signal('go on', null);
  expect(await thread.run()).toMatchObject({ end: as });
  return thread;
}

/** The limit is raised, and the other line ends. */
async function goesOn(scene: Scene) {
  const thread = await scene.open();
  await thread.extend({ steps: 10, tokens: 100, runMs: 86_400_000 });
  await thread.signal('go on', 'end');
  return thread.run();
}

const said = async (scene: Scene) => (await plainState(await scene.open())).said;
const asks: Work = ({ ask }) => ask('Well?');
const question = async (scene: Scene) => {
  return only((await (await scene.open()).waits()).filter(({ kind }) => kind === 'question'));
};
const reply = { decision: 'reply', value: 'fine' } as const;

const budget = { limits: { tokens: 1 } };
const stops: [string, string, Parameters<typeof twoLines>[1]][] = [
  ['its limit of steps', 'failed', { maxSteps: 2 }],
  ['its budget', 'out_of_budget', budget],
];

describe.each(stops)('a run that stands at %s', (_, end, limits) => {
  const stand = async (work: Work) => {
    const scene = twoLines(work, limits);
    return { scene, thread: await stopped(scene, end) };
  };

  test('[B9f, B7e] keeps the questions of its lines open; an answer meanwhile starts nothing, and is used after it', async () => {
    const { scene, thread } = await stand(asks);
    const before = await thread.checkpoints();
    await answer(thread, await question(scene), reply);

    expect(await (await scene.open()).run()).toMatchObject({ end });
    expect(await (await scene.open()).checkpoints()).toEqual(before);
    expect(await goesOn(scene)).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['fine']);
  });

  test('[B9f, B7e] is extended, and the question of a line is answered then', async () => {
    const { scene } = await stand(asks);
    expect(await goesOn(scene)).toEqual({ end: 'waiting' });
    await answer(await scene.open(), await question(scene), reply);

    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['fine']);
  });

  test('[B9g, B7e] whose time to wait passes meanwhile, goes on at once when it is extended', async () => {
    const { scene } = await stand(async ({ sleep }) => sleep(60_000).then(() => 'awake'));
    scene.clock.advance(60_000);

    expect(await goesOn(scene)).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['awake']);
  });

  test('[B9f, B7e] that is extended in time, is woken when a wait of it is over', async () => {
    const { scene } = await stand(({ ask }) => ask('Well?', { expiresMs: 60_000 }));
    const { expiresAtMs } = await question(scene);
    expect(await goesOn(scene)).toEqual({ end: 'waiting' });
    expect((await (await scene.open()).row())?.wakeUpAtMs).toBe(expiresAtMs);
    scene.clock.advance(60_000);

    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['wait_expired']);
  });

  test('[B9f, B10c] and is given up, closes them', async () => {
    const { scene, thread } = await stand(asks);
    const asked = await question(scene);
    await thread.cancel();

    expect(await thread.run()).toEqual({ end: 'cancelled' });
    expect(await thread.waits()).toEqual([]);
    await expect(answer(thread, asked, reply)).rejects.toMatchObject({ code: 'wait_closed' });
    await thread.extend({ steps: 10, tokens: 100 });
    expect(await thread.run()).toEqual({ end: 'cancelled' });
  });

  test('[B9f, B11c] and is replaced by another input, closes those of before', async () => {
    const { scene, thread } = await stand(asks);
    const asked = await question(scene);
    await thread.send({ said: ['new'] }, 'in2', 'interrupt');
    await thread.run();

    await expect(answer(thread, asked, reply)).rejects.toMatchObject({ code: 'wait_closed' });
    expect((await question(scene)).id).not.toBe(asked.id);
  });

  test('[B9f, B12c] and is taken back, closes them', async () => {
    const { scene, thread } = await stand(asks);
    const asked = await question(scene);
    const effects = Object.fromEntries((await thread.effects()).map(({ key }) => [key, 'reuse'] as const));
    await thread.rollBack(nth(await thread.checkpoints(), -1).id, { effects });

    await expect(answer(thread, asked, reply)).rejects.toMatchObject({ code: 'wait_closed' });
  });
});

test('[B9f, B11b] an input that waits behind a run which reaches its limit of steps takes its place, and closes its waits', async () => {
  const scene = twoLines(asks);
  const thread = await scene.begun();
  await thread.run();
  const asked = await question(scene);
  await thread.send({ said: ['new'] });
  await thread.signal('go on', null);

  expect(await thread.run()).toEqual({ end: 'waiting' });
  await expect(answer(thread, asked, reply)).rejects.toMatchObject({ code: 'wait_closed' });
});

test('[B7e, B10c] a run without lines that stands at its limit of steps can be given up', async () => {
  const agent = defineAgent({
    name: 'loop',
    version: 1,
    maxSteps: 1,
    state,
    start: 'go',
    nodes: { go: (_state, { goto }) => goto('go') },
  });
  const thread = await new Scene({ agent }).begun();
  expect(await thread.run()).toMatchObject({ end: 'failed' });
  await thread.cancel();
  expect(await thread.run()).toEqual({ end: 'cancelled' });
  await thread.extend({ steps: 10 });
  expect(await thread.run()).toEqual({ end: 'cancelled' });
});

test('[B5a, B7e] a call that is cut off as the run reaches its limit of steps counts as no failed attempt', async () => {
  let attempts = 0;
  const begun = deferred<void>();
  const look = tool({
    name: 'look',
    description: 'Looks',
    input: z.object({}),
    effect: 'idempotent',
    retry: { attempts: 1 },
    run: (_input, { abortSignal }) => {
      attempts += 1;
      begun.resolve();
      if (attempts > 1) return 'seen';
      return new Promise((_resolve, reject) => abortSignal.addEventListener('abort', () => reject(abortSignal.reason)));
    },
  });
  const agent = defineAgent({
    name: 'two lines',
    version: 1,
    maxSteps: 2,
    state,
    tools: { look },
    start: 'go',
    nodes: {
      go: (_state, { parallel }) => parallel(['looks', 'again']),
      looks: {
        retry: { attempts: 1 },
        run: async (_state, { call, end }) => end({ said: [String(await call('look', {}))] }),
      },
      again: async ({ said: before }, { goto, end }) => {
        await begun.promise;
        return before.length > 0 ? end() : goto('last', { said: ['once'] });
      },
      last: (_state, { end }) => end(),
    },
  });
  const scene = new Scene({ agent });
  const thread = await scene.begun();
  expect(await thread.run()).toMatchObject({ end: 'failed' });
  await thread.extend({ steps: 10 });

  expect(await thread.run()).toEqual({ end: 'done' });
  expect(await said(scene)).toEqual(['seen', 'once']);
});

describe('a child of a run that stands at its limit of steps', () => {
  /** A parent of two lines, whose child asks a person; the other line goes on until the limit. */
  async function family({ steps = 2, childSteps = 50 } = {}) {
    const child = defineAgent({
      name: 'child',
      version: 1,
      maxSteps: childSteps,
      state: { said: value(z.string(), '') },
      start: 'go',
      nodes: {
        go: (_state, { parallel }) => parallel(['asks', 'again']),
        asks: async (_state, { ask, end }) => end({ said: String(await ask('Well?')) }),
        again: async (_state, { goto }) => goto('last'),
        last: (_state, { end }) => end(),
      },
    });
    const agent = defineAgent({
      name: 'parent',
      version: 1,
      maxSteps: steps,
      state,
      agents: [child],
      start: 'go',
      nodes: {
        go: (_state, { parallel }) => parallel(['has', 'again']),
        has: async (_state, { child: start, end }) => {
          const { status, state: made } = await start(child, {});
          return end({ said: [`${status} ${made?.said}`] });
        },
        again: async (_state, { waitFor, goto, end }) => ((await waitFor('go on')) === 'end' ? end() : goto('again')),
      },
    });
    const scene = new Scene({ agent });
    const parent = await scene.begun();
    await parent.run();
    const engine = await scene.world.engine({ agent });
    const all = await engine.threads(9, { children: true });
    const own = engine.thread(only(all.filter(({ row }) => row.agent === 'child')).id ?? '');
    await own.run();
    return { scene, parent, own };
  }

  test('[B2a, B7e] goes on; its end is kept, starts nothing, and is used once the run is extended', async () => {
    const { scene, parent, own } = await family();
    await parent.signal('go on', null);
    expect(await parent.run()).toMatchObject({ end: 'failed' });
    await answer(own, only(await own.waits()), reply);
    expect(await own.run()).toEqual({ end: 'done' });
    const before = (await head(parent)).id;
    expect(await parent.run()).toMatchObject({ end: 'failed' });
    expect((await head(parent)).id).toBe(before);

    expect(await goesOn(scene)).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['done fine']);
  });

  test('[B2a, B10c] is stopped once the run is given up', async () => {
    const { parent, own } = await family();
    await parent.signal('go on', null);
    await parent.run();
    await parent.cancel();
    expect(await parent.run()).toEqual({ end: 'cancelled' });

    expect(await own.run()).toEqual({ end: 'cancelled' });
  });

  test('[B2b, B7e] that reaches its own limit has ended: its parent hears of it, and nobody is asked any more', async () => {
    const { scene, parent, own } = await family({ steps: 50, childSteps: 2 });
    expect((await own.row())?.status).toBe('failed');
    expect(await own.waits()).toEqual([]);
    await parent.signal('go on', 'end');
    expect(await parent.run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['failed undefined']);
  });
});
