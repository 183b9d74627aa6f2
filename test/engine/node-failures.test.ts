import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import { log, value } from '../../src/model/fields.ts';
import type { Frame } from '../../src/model/frame.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { NodeContext } from '../../src/program/node-context.ts';
import { tool } from '../../src/program/tool.ts';
import { storeErrors } from '../../src/store/errors.ts';
import { Life } from '../../src/testing/cutting-store.ts';
import { head, never, only, plainState, quiet, Scene, withMethods } from './support.ts';

const ping = tool({ name: 'ping', description: 'Pings', input: z.object({}), effect: 'once', run: () => 'pong' });
const state = { notes: log(z.string()), count: value(z.number().max(9), 0) };
type Context = NodeContext<typeof state, { ping: typeof ping }, 'go' | 'bad'>;

/** A step that ends well, then one that does `bad`. */
function twoSteps(bad: (context: Context) => unknown, timeLimitMs?: number) {
  const agent = defineAgent({
    name: 'bad',
    version: 1,
    state,
    tools: { ping },
    start: 'go',
    nodes: {
      go: (_state, { goto }) => goto('bad', { notes: ['good'] }),
      bad: {
        ...(timeLimitMs !== undefined && { timeLimitMs }),
        retry: { attempts: 2, backoffMs: [10], jitter: 0 },
        run: (_state, context) => bad(context as unknown as Context) as never,
      },
    },
  });
  return new Scene({ agent });
}

describe('a node', () => {
  const cases: readonly [string, (context: Context) => unknown, object][] = [
    ['that returns nothing', () => undefined, { code: 'node_returned_nothing', details: { node: 'bad' } }],
    ['that returns something else', () => ({ count: 1 }), { code: 'node_returned_nothing' }],
    [
      'that updates an unknown field',
      ({ end }) => end({ nope: 1 } as never),
      { code: 'field_unknown', details: { known: '"notes", "count"' } },
    ],
    [
      'whose update does not fit its schema',
      ({ end }) => end({ count: 10 }),
      { code: 'state_invalid', details: { field: 'count' } },
    ],
    [
      'that goes to something else than a name',
      ({ goto }) => goto(Symbol('bad') as never),
      { code: 'argument_invalid', details: { problem: 'the node is of type symbol, not a text' } },
    ],
    [
      'whose update has a symbol as a key',
      ({ end }) => end({ [Symbol('s')]: 1 } as never),
      { code: 'state_invalid', details: { problem: 'it has the key Symbol(s), which is no name of a field' } },
    ],
    ['whose log update is no list', ({ end }) => end({ notes: 'x' } as never), { code: 'state_invalid' }],
    [
      'that does not await its call',
      ({ call, end }) => {
        void call('ping', {}).catch(() => undefined);
        return end();
      },
      { code: 'call_not_awaited', details: { node: 'bad', call: 'ping' } },
    ],
  ];
  test.each(cases)(
    '[B1a, A2b] %s fails the run at once with a clear error; what was done before is kept',
    async (_name, bad, failure) => {
      const scene = twoSteps(bad);
      const thread = await scene.begun();

      expect(await thread.run()).toMatchObject({ end: 'failed' });
      const again = await scene.open();
      expect((await head(again)).control.failure).toMatchObject(failure);
      expect(await plainState(again)).toEqual({ notes: ['good'], count: 0 });
    },
  );

  test('[B5c] that never returns is given up after its time limit, tried again, and then failed', async () => {
    const signals: AbortSignal[] = [];
    const scene = twoSteps(({ abortSignal }) => {
      signals.push(abortSignal);
      return never();
    }, 5_000);
    const thread = await scene.begun();
    const running = thread.run();
    await scene.passes(5_000, 5_000);
    await scene.passes(2_000, 2_000);
    await scene.passes(10, 10);
    await scene.passes(5_000, 5_000);
    await scene.passes(2_000, 2_000);

    expect(await running).toMatchObject({ end: 'failed' });
    expect((await head(thread)).control.failure).toMatchObject({
      code: 'node_timed_out',
      details: { node: 'bad', afterMs: 5_000 },
    });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  test('[B5c] that goes on after its time limit changes nothing any more', async () => {
    const late = deferred<void>();
    let pings = 0;
    const scene = twoSteps(async ({ call, end }) => {
      pings += 1;
      if (pings > 1) return end({ notes: ['second'] });
      await late.promise;
      await call('ping', {});
      return end({ notes: ['zombie'] });
    }, 5_000);
    const thread = await scene.begun();
    const running = thread.run();
    await scene.passes(5_000, 5_000);
    await scene.passes(2_000, 2_000);
    await scene.passes(10, 10);

    expect(await running).toEqual({ end: 'done' });
    late.resolve();
    await quiet();
    expect((await plainState(thread)).notes).toEqual(['good', 'second']);
    expect((await thread.effects()).map(({ name }) => name)).toEqual([]);
  });

  test('[B5c] its time limit does not count while it waits for a person', async () => {
    const ask = tool({
      name: 'ask',
      description: 'Asks',
      input: z.object({}),
      effect: 'idempotent',
      approval: 'always',
      run: () => 'asked',
    });
    const agent = defineAgent({
      name: 'patient',
      version: 1,
      state: { done: value(z.string(), '') },
      tools: { ask },
      start: 'go',
      nodes: { go: { timeLimitMs: 1_000, run: async (_state, { call, end }) => end({ done: await call('ask', {}) }) } },
    });
    const scene = new Scene({ agent });
    const thread = await scene.begun();
    await thread.run();
    scene.clock.advance(1_000_000);
    const wait = only(await thread.waits());
    await thread.answer(wait.id, wait.digest, { decision: 'allow' });

    expect(await thread.run()).toEqual({ end: 'done' });
  });
});

test('[B5c] a node whose attempts were spent when the process died is not run once more', async () => {
  let runs = 0;
  const agent = defineAgent({
    name: 'spent',
    version: 1,
    state: {},
    start: 'only',
    nodes: {
      only: {
        retry: { attempts: 1 },
        run: () => {
          runs += 1;
          throw new Error('odd');
        },
      },
    },
  });
  const scene = new Scene({ agent });
  const life = new Life();
  const onFrame = (_: unknown, frame: Frame) => {
    if (frame.type === 'effect') life.end(); // its failure is on record, the end of the run is not
  };
  const { thread } = await scene.mortal({ onFrame }, life);
  await thread.send({});
  await Promise.race([thread.run(), life.death]);

  expect(await (await scene.open()).run()).toMatchObject({ end: 'failed' });
  expect(runs).toBe(1);
  expect((await head(await scene.open())).control.failure?.message).toBe('odd');
});

describe('an input', () => {
  test('[A2b] that does not fit is refused before anything is kept', async () => {
    const scene = twoSteps(({ end }) => end());
    const thread = await scene.open();

    await expect(thread.send({ count: 'x' })).rejects.toMatchObject({ code: 'state_invalid' });
    await expect(thread.send({ nope: 1 })).rejects.toMatchObject({ code: 'field_unknown' });
    expect(await thread.row()).toBeUndefined();
  });

  test('[B11a] that only the reducer can refuse fails its run, is kept, and does not come again', async () => {
    const agent = defineAgent({
      name: 'picky',
      version: 1,
      state: { sum: value(z.number().max(10), 8, (sum, more: number) => sum + more) },
      start: 'go',
      nodes: { go: (_state, { end }) => end() },
    });
    const scene = new Scene({ agent });
    const thread = await scene.begun({ sum: 5 });

    expect(await thread.run()).toMatchObject({ end: 'failed' });
    expect((await head(thread)).control.failure).toMatchObject({ code: 'state_invalid', details: { field: 'sum' } });
    expect(await thread.run()).toMatchObject({ end: 'failed' });
    await thread.send({ sum: 1 });
    expect(await thread.run()).toEqual({ end: 'done' });
    expect(await thread.state()).toEqual({ sum: 9 });
  });
});

describe('a store that refuses', () => {
  test('[A15a, A15b] is given the same group again; the finished step is not run again', async () => {
    let runs = 0;
    const scene = twoSteps(({ end }) => {
      runs += 1;
      return end();
    });
    await scene.begun();
    const store = scene.world.store();
    let refusals = 3;
    const thread = await scene.open({
      store: withMethods(store, {
        commit: async (groups) => {
          if (runs === 1 && refusals > 0) {
            refusals -= 1;
            throw storeErrors.make('quota_exceeded', { operation: 'commit' });
          }
          return store.commit(groups);
        },
      }),
    });
    const running = thread.run();
    for (const ms of [50, 250, 1_000]) await scene.passes(ms, ms);

    expect(await running).toEqual({ end: 'done' });
    expect(runs).toBe(1);
  });

  test('[A15a, A15d] a commit whose answer was lost is recognised, and not made twice', async () => {
    const scene = twoSteps(({ call, end }) => call('ping', {}).then((note) => end({ notes: [note] })));
    await scene.begun();
    const store = scene.world.store();
    const lost = new Set<string>();
    const thread = await scene.open({
      store: withMethods(store, {
        commit: async (groups) => {
          const results = await store.commit(groups);
          if (groups.every(({ id }) => lost.has(id))) return results;
          for (const { id } of groups) lost.add(id);
          throw storeErrors.make('timed_out', { operation: 'commit', afterMs: 1 });
        },
      }),
    });
    const running = thread.run();
    for (let commit = 0; commit < 5; commit += 1) await scene.passes(50, 50);

    expect(await running).toEqual({ end: 'done' });
    expect((await plainState(await scene.open())).notes).toEqual(['good', 'pong']);
    expect(await thread.checkpoints()).toHaveLength(3);
    expect(lost.size).toBe(5);
  });

  test('[A15b, B3b] for good blocks the thread even if the node catches the error: it is not taken for a failed tool', async () => {
    const scene = twoSteps(({ call, end }) =>
      call('ping', {}).then(
        (note) => end({ notes: [note] }),
        () => end({ notes: ['fallback'] }),
      ),
    );
    await scene.begun();
    const store = scene.world.store();
    let isFull = true;
    const thread = await scene.open({
      store: withMethods(store, {
        commit: async (groups) => {
          if (isFull && groups.some(({ records }) => records.some(({ key }) => key.endsWith('.o')))) {
            throw storeErrors.make('store_failed', { operation: 'commit', reason: 'no' });
          }
          return store.commit(groups);
        },
      }),
    });
    const running = thread.run();
    for (const ms of [50, 250, 1_000]) await scene.passes(ms, ms);

    expect(await running).toMatchObject({ end: 'blocked', error: { code: 'store_failed' } });
    isFull = false;
    expect((await plainState(thread)).notes).toEqual(['good']);
    expect(only(await (await scene.open()).effects()).status).toBe('in_doubt');
  });

  test('[B14c, B3a] a run that is blocked beside a step stops the step that is under way', async () => {
    const signals: AbortSignal[] = [];
    const agent = defineAgent({
      name: 'beside',
      version: 1,
      state,
      start: 'begin',
      nodes: {
        begin: (_state, { parallel }) => parallel(['slow', 'quick']),
        slow: (_state, { abortSignal }) => {
          signals.push(abortSignal);
          return never();
        },
        quick: (_state, { end }) => end(),
      },
    });
    const scene = new Scene({ agent });
    await scene.begun();
    const store = scene.world.store();
    const thread = await scene.open({
      store: withMethods(store, {
        range: async (table, ...rest) => {
          // The run looks again once the quick line has ended.
          if (table === 'inbox' && signals.length > 0) {
            throw storeErrors.make('store_failed', { operation: 'read', reason: 'no reason' });
          }
          return store.range(table, ...rest);
        },
      }),
    });

    expect(await thread.run()).toMatchObject({ end: 'blocked', error: { code: 'store_failed' } });
    expect(only(signals).aborted).toBe(true);
  });
});

test('[B6d] a run that failed says by which failure, and so does each later call that finds nothing to do', async () => {
  const scene = twoSteps(() => Promise.reject(new Error('no tea')));
  const thread = await scene.begun();
  const run = thread.run();
  await scene.passes(10, 10);

  const failure = { message: 'no tea' };
  expect(await run).toMatchObject({ end: 'failed', failure });
  expect((await run) as object).toEqual({ end: 'failed', failure: (await head(thread)).control.failure });
  expect(await (await scene.open()).run()).toMatchObject({ end: 'failed', failure });
});

test('[B1a, B3d] a call through the context of a node that has ended is refused, and not made', async () => {
  let kept: Context | undefined;
  const scene = twoSteps((context) => {
    kept = context;
    return context.end();
  });
  expect(await (await scene.begun()).run()).toEqual({ end: 'done' });

  const late = { code: 'call_not_awaited', details: { node: 'bad', call: 'ping' } };
  await expect(kept?.call('ping', {})).rejects.toMatchObject(late);
  await expect(kept?.sleep(5)).rejects.toMatchObject({ code: 'call_not_awaited' });
  await expect(kept?.ask('well?')).rejects.toMatchObject({ code: 'call_not_awaited' });
});
