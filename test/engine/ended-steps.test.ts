/** What a node began and did not wait for: once its step has ended, it changes nothing of the thread any more. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { NodeContext } from '../../src/program/node-context.ts';
import type { PolicyTable } from '../../src/program/policy.ts';
import { tool } from '../../src/program/tool.ts';
import { answer, head, only, plainState, quiet, Scene, withMethods } from './support.ts';

const state = { said: log(z.string()) };
const retry = { attempts: 2, backoffMs: [10], jitter: 0 };

/** Answers anew each time, and only when it is told to. */
function slowReader() {
  const answers = [deferred<string>(), deferred<string>()];
  const begun = deferred<void>();
  let reads = 0;
  const look = tool({
    name: 'look',
    description: 'Looks',
    input: z.object({}),
    effect: 'read',
    run: async () => {
      reads += 1;
      begun.resolve();
      return (await answers[reads - 1]?.promise) ?? 'nothing';
    },
  });
  return { look, answers, begun: begun.promise };
}

type Context = NodeContext<typeof state, { look: ReturnType<typeof slowReader>['look'] }, 'first' | 'next'>;

function givenNode(first: (context: Context) => unknown, policy?: PolicyTable, { look } = slowReader()): Scene {
  const agent = defineAgent({
    name: 'hasty',
    version: 1,
    state,
    tools: { look },
    start: 'first',
    nodes: {
      first: { retry, run: (_state, context) => first(context as unknown as Context) as never },
      next: (_state, { end }) => end({ said: ['next'] }),
    },
    edges: { first: 'next' },
    ...(policy && { policy }),
  });
  return new Scene({ agent });
}

const askAndThrow = ({ ask, call, end }: Context) =>
  Promise.all([ask('Which day?', { key: 'day' }), call('look', 5 as never, { key: 'odd' })]).then(() => end());

test('[B9a] a question that nobody waits for does not make a failed run wait', async () => {
  const scene = givenNode(({ ask, end }) => {
    void ask('Which day?');
    return end();
  });
  const thread = await scene.begun();
  expect(await thread.run()).toMatchObject({ end: 'failed' });
  await quiet();
  expect((await thread.row())?.status).toBe('failed');
  expect(await thread.waits()).toEqual([]);
});

/** A store whose reads of waits are held up. */
function holding(scene: Scene) {
  const [asking, held] = [deferred<void>(), deferred<void>()];
  const store = scene.world.store();
  const get: typeof store.get = async (...given) => {
    if (given[0] === 'waits') {
      asking.resolve();
      await held.promise;
    }
    return store.get(...given);
  };
  return { store: withMethods(store, { get }), asking: asking.promise, release: held.resolve };
}

test('[B9a, B6d] a question beside a call that failed does not hold up the run that the policy went on with', async () => {
  const scene = givenNode(askAndThrow, [{ action: 'skip' }]);
  await scene.begun();
  const { store, release } = holding(scene);
  const thread = await scene.open({ store });
  expect(await thread.run()).toEqual({ end: 'done' });
  release();
  await quiet();
  expect((await thread.row())?.status).toBe('done');
  expect(await plainState(thread)).toEqual({ said: ['next'] });
});

test('[B9a, B10a] a question that comes to be stored only after its run was cancelled is not asked', async () => {
  const scene = givenNode(({ ask, end }) => ask('Which day?').then(() => end()));
  await scene.begun();
  const { store, asking, release } = holding(scene);
  const thread = await scene.open({ store });
  const running = thread.run();
  await asking;
  await thread.cancel();
  await thread.look();
  await scene.passes(2_000, 2_000);
  expect(await running).toEqual({ end: 'cancelled' });

  release();
  await quiet();
  const after = await scene.open();
  expect(await head(after)).toMatchObject({ cause: 'cancelled', control: { status: 'cancelled', waits: [] } });
  expect(await after.run()).toEqual({ end: 'cancelled' });
});

test('[B9b, B10a] a question that is being stored while its run is cancelled is closed with it', async () => {
  const scene = givenNode(({ ask, end }) => ask('Which day?').then(() => end()));
  await scene.begun();
  const [storing, held] = [deferred<void>(), deferred<void>()];
  const store = scene.world.store();
  const commit: typeof store.commit = async (groups) => {
    if (groups.some(({ records }) => records.some(({ table, key }) => table === 'waits' && key.startsWith('w:')))) {
      storing.resolve();
      await held.promise;
    }
    return store.commit(groups);
  };
  const thread = await scene.open({ store: withMethods(store, { commit }) });
  const running = thread.run();
  await storing.promise;
  await thread.cancel();
  await thread.look();
  await scene.passes(2_000, 2_000);
  await quiet();
  held.resolve();
  expect(await running).toEqual({ end: 'cancelled' });

  const { wait } = only(scene.frames('wait'));
  const late = answer(await scene.open(), wait, { decision: 'reply', value: 'Tue' });
  await expect(late).rejects.toMatchObject({ code: 'wait_closed', details: { winner: 'cancelled' } });
});

test('[B3c] what a read of an attempt that failed finds later is not what the next attempt was given', async () => {
  const reader = slowReader();
  let attempts = 0;
  const scene = givenNode(
    async ({ call, goto }) => {
      attempts += 1;
      const seen = call('look', {}, { key: 'look' });
      await reader.begun;
      if (attempts === 1) throw new Error('out of order');
      return goto('next', { said: [await seen] });
    },
    undefined,
    reader,
  );
  const thread = await scene.begun();
  const running = thread.run();
  await scene.passes(10, 10);
  await quiet();
  reader.answers[0]?.resolve('of the first');
  await quiet();
  reader.answers[1]?.resolve('of the second');
  expect(await running).toEqual({ end: 'done' });
  expect(await plainState(thread)).toEqual({ said: ['of the second', 'next'] });
  expect((await thread.effects()).map(({ name }) => name)).toEqual(['look']);
});
