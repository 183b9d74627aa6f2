import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type Deferred, deferred } from '../../src/base/deferred.ts';
import type { EffectClass } from '../../src/model/effect.ts';
import { value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { done, notDone, type ToolCall, tool, type Verdict } from '../../src/program/tool.ts';
import { storeErrors } from '../../src/store/errors.ts';
import { answer, nth, only, quiet, Scene, withMethods } from './support.ts';

/** A node with one call whose answers the test gives, call by call. */
function heldCalls(effect: EffectClass, verify?: () => Verdict<string> | Promise<Verdict<string>>, node: object = {}) {
  const calls: (ToolCall & { readonly answer: Deferred<string> })[] = [];
  const act = tool({
    name: 'act',
    description: 'Acts',
    input: z.object({}),
    effect,
    timeLimitMs: 7_000,
    run: (_input, call) => {
      const answered = deferred<string>();
      calls.push({ ...call, answer: answered });
      return answered.promise;
    },
    ...(verify && { verify }),
  });
  const agent = defineAgent({
    name: 'holder',
    version: 1,
    state: { result: value(z.string(), '') },
    tools: { act },
    start: 'go',
    nodes: { go: { ...node, run: async (_state, { call, end }) => end({ result: await call('act', {}) }) } },
  });
  return { scene: new Scene({ agent }), calls };
}

/** Lets the call time out that is under way. */
async function timeOut(scene: Scene) {
  await scene.passes(7_000, 7_000);
}

async function parts(scene: Scene): Promise<string[]> {
  const records = (await scene.stored('ledger')).filter(({ key }) => !key.endsWith('.r'));
  return records.map(({ key }) => key.replace(/^0+/, '').slice(0, 3));
}

describe('a call that takes too long', () => {
  test('[B5c, B4b] is aborted; an idempotent one is made again with the same key, and counts as failed once that was answered', async () => {
    const { scene, calls } = heldCalls('idempotent');
    const running = (await scene.begun()).run();
    await timeOut(scene);
    await scene.passes(900, 1_100);
    await scene.clock.whenAsleep((ms) => ms === 7_000);
    nth(calls, 1).answer.resolve('second');

    expect(await running).toEqual({ end: 'done' });
    expect(nth(calls, 0).abortSignal.aborted).toBe(true);
    expect(nth(calls, 1).effectKey).toBe(nth(calls, 0).effectKey);
    expect((await (await scene.open()).effects()).map(({ status, error }) => [status, error?.code])).toEqual([
      ['failed', 'effect_timed_out'],
      ['succeeded', undefined],
    ]);
  });

  test('[B4c] of class once is in doubt and left to a person', async () => {
    const { scene, calls } = heldCalls('once');
    const running = (await scene.begun()).run();
    await timeOut(scene);

    expect(await running).toEqual({ end: 'waiting' });
    expect(calls).toHaveLength(1);
  });
});

describe('evidence is never refused', () => {
  test('[B3b, I5] an answer that comes during the backoff is recorded, and the call is not made again', async () => {
    const { scene, calls } = heldCalls('idempotent');
    const thread = await scene.begun();
    const running = thread.run();
    await timeOut(scene);
    const backoffMs = await scene.clock.whenAsleep((ms) => ms >= 900 && ms <= 1_100);
    nth(calls, 0).answer.resolve('late');
    await quiet();
    expect(await parts(scene)).toContain('1.o');
    scene.clock.advance(backoffMs);

    expect(await running).toEqual({ end: 'done' });
    expect((await thread.state()).result).toBe('late');
    expect(calls).toHaveLength(1);
  });

  test('[B3b, I6] while an answer is being recorded the call is not made again; nor after that has failed', async () => {
    const { scene, calls } = heldCalls('idempotent');
    await scene.begun();
    const store = scene.world.store();
    const thread = await scene.open({
      store: withMethods(store, {
        commit: async (groups) => {
          const results = await store.commit(groups);
          const isAnswer = groups.some(({ records }) => records.some(({ key }) => key.endsWith('1.o')));
          if (!isAnswer) return results;
          throw storeErrors.make('timed_out', { operation: 'commit', afterMs: 1_000 });
        },
      }),
    });
    const running = thread.run();
    await timeOut(scene);
    await scene.clock.whenAsleep((ms) => ms >= 900 && ms <= 1_100); // the backoff
    nth(calls, 0).answer.resolve('late');
    await scene.passes(50, 50);
    await scene.passes(250, 250);
    await scene.passes(1_000, 1_000); // of the backoff, and of the last try

    expect(await running).toMatchObject({ end: 'blocked', error: { code: 'timed_out' } });
    expect(calls).toHaveLength(1);
    const again = await scene.open();
    expect(await again.run()).toEqual({ end: 'done' });
    expect((await again.state()).result).toBe('late');
    expect(calls).toHaveLength(1);
  });

  test('[B3c] a result that came after its time limit, and beside a further attempt, is enough after a crash', async () => {
    const { scene, calls } = heldCalls('idempotent');
    await scene.begun();
    const { thread, life } = await scene.mortal();
    void thread.run();
    await timeOut(scene);
    await scene.passes(900, 1_100);
    await scene.clock.whenAsleep((ms) => ms === 7_000);
    nth(calls, 0).answer.resolve('late');
    await quiet();
    expect(await parts(scene)).toEqual(['1.d', '1.i', '1.o', '2.i']);
    life.end();
    const again = await scene.open();

    expect(await again.run()).toEqual({ end: 'done' });
    expect((await again.state()).result).toBe('late');
    expect(calls).toHaveLength(2);
  });

  test('[B3b, B3c] an answer that an earlier runner recorded since is found before the call is made once more', async () => {
    const { scene, calls } = heldCalls('idempotent');
    const old = (await scene.begun()).run();
    await scene.clock.whenAsleep((ms) => ms === 7_000);
    const thread = await scene.open();
    const running = thread.run();
    while (calls.length < 2) await quiet();
    await timeOut(scene); // of both
    await quiet();
    nth(calls, 0).answer.resolve('it happened');
    await quiet();
    scene.clock.advance(1_100); // the backoff of both

    expect(await running).toEqual({ end: 'done' });
    expect(await old).toEqual({ end: 'lost' });
    expect((await thread.state()).result).toBe('it happened');
    expect(calls).toHaveLength(2);
  });

  test('[B3b, B3c, B5a] an answer that came between two runs of the node is found, and the call is not made again', async () => {
    const node = { timeLimitMs: 5_000, retry: { attempts: 3, backoffMs: [20_000], jitter: 0 } };
    const { scene, calls } = heldCalls('idempotent', undefined, node);
    const running = (await scene.begun()).run();
    while (calls.length === 0) await quiet();
    await scene.passes(5_000, 5_000); // of the node
    await quiet();
    scene.clock.advance(2_000); // that it is given to end
    await scene.clock.whenAsleep((ms) => ms > 15_000 && ms <= 20_000);
    nth(calls, 0).answer.resolve('first');
    await quiet();
    scene.clock.advance(20_000);

    expect(await running).toEqual({ end: 'done' });
    expect((await (await scene.open()).state()).result).toBe('first');
    expect(calls).toHaveLength(1);
  });

  test('[B5a, B5d] a failure that an earlier runner recorded since counts: there is no attempt too many', async () => {
    const { scene, calls } = heldCalls('idempotent');
    const old = (await scene.begun()).run();
    await scene.clock.whenAsleep((ms) => ms === 7_000);
    const running = (await scene.open()).run();
    while (calls.length < 2) await quiet();
    await timeOut(scene); // of both
    await quiet();
    scene.clock.advance(1_100); // the backoff of both
    await quiet();
    scene.clock.advance(5_500); // that behind two failures
    while (calls.length < 3) await quiet();
    await timeOut(scene);

    const failure = { code: 'effect_failed', details: { attempts: 3 } };
    expect(await running).toMatchObject({ end: 'failed', failure });
    expect(await old).toEqual({ end: 'lost' });
    expect(calls).toHaveLength(3);
  });

  test('[B14c, B3b] a runner that lost its lease still records what became of its call', async () => {
    const { scene, calls } = heldCalls('once');
    const old = (await scene.begun()).run();
    await scene.clock.whenAsleep((ms) => ms === 7_000);
    const thread = await scene.open();
    expect(await thread.run()).toEqual({ end: 'waiting' });
    nth(calls, 0).answer.resolve('it happened');

    expect(await old).toEqual({ end: 'lost' });
    expect((await thread.effects()).map(({ status }) => status)).toEqual(['succeeded']);
  });

  test('[B4f, B3b] what the call itself said wins over a later word of a person, which is kept beside it', async () => {
    const { scene, calls } = heldCalls('once');
    const old = (await scene.begun()).run();
    await scene.clock.whenAsleep((ms) => ms === 7_000);
    const thread = await scene.open();
    await thread.run();
    nth(calls, 0).answer.resolve('it happened');
    await old;
    await answer(thread, only(await thread.waits()), { decision: 'not_done' });

    expect(await thread.run()).toEqual({ end: 'done' });
    expect((await thread.state()).result).toBe('it happened');
    expect(calls).toHaveLength(1);
  });

  test('[B4d, B3b] an outcome that arrives while verify asks is not lost: the first on record stands, the other is beside it', async () => {
    const asked = deferred<void>();
    const verdict = deferred<Verdict<string>>();
    const { scene, calls } = heldCalls('once', () => {
      asked.resolve();
      return verdict.promise;
    });
    const old = (await scene.begun()).run();
    await scene.clock.whenAsleep((ms) => ms === 7_000);
    const thread = await scene.open();
    const running = thread.run();
    await asked.promise;
    nth(calls, 0).answer.resolve('it happened');
    expect(await old).toEqual({ end: 'lost' });
    verdict.resolve(notDone({ closed: true }));

    expect(await running).toEqual({ end: 'done' });
    expect((await thread.state()).result).toBe('it happened');
    expect(calls).toHaveLength(1);
    expect(await parts(scene)).toEqual(['1.i', '1.o', '1.x', '2.i', '2.o']);
  });

  test('[B3b] a second outcome that says the same is not kept twice', async () => {
    const asked = deferred<void>();
    const verdict = deferred<Verdict<string>>();
    const { scene, calls } = heldCalls('once', () => {
      asked.resolve();
      return verdict.promise;
    });
    const old = (await scene.begun()).run();
    await scene.clock.whenAsleep((ms) => ms === 7_000);
    const thread = await scene.open();
    const running = thread.run();
    await asked.promise;
    nth(calls, 0).answer.resolve('it happened');
    await old;
    verdict.resolve(done('it happened'));

    expect(await running).toEqual({ end: 'done' });
    expect(await parts(scene)).toEqual(['1.i', '1.o', '2.i', '2.o']);
  });

  test('[B4d, B4c] a late answer of an attempt that was declared not done is kept beside it', async () => {
    const { scene, calls } = heldCalls('once', () => notDone({ closed: true }));
    const thread = await scene.begun();
    const running = thread.run();
    await timeOut(scene);
    await scene.passes(900, 1_100);
    await scene.clock.whenAsleep((ms) => ms === 7_000);
    nth(calls, 0).answer.resolve('so it did arrive');
    await quiet();
    expect(await parts(scene)).toContain('1.x');
    expect(scene.frames('alert')).toMatchObject([{ reason: 'outcomes_differ', error: { details: { entry: 1 } } }]);
    nth(calls, 1).answer.resolve('second');

    expect(await running).toEqual({ end: 'done' });
    expect((await thread.state()).result).toBe('second');
  });

  test('[B3b] a late answer that the store cannot take any more disturbs nobody', async () => {
    const { scene, calls } = heldCalls('once');
    await scene.begun();
    const store = scene.world.store();
    const thread = await scene.open({ store: withMethods(store, {}) });
    const running = thread.run();
    await timeOut(scene);
    expect(await running).toEqual({ end: 'waiting' });
    await store.close();
    nth(calls, 0).answer.resolve('late');
    await quiet();

    expect(await parts(scene)).toEqual(['1.d', '1.i']);
  });
});

test('[B12c, B4e] a call that answered while it was undone counts as undone, also for a run that reuses its result', async () => {
  const [isCalled, answered] = [deferred<void>(), deferred<string>()];
  let undone = 0;
  const book = tool({
    name: 'book',
    description: 'Books',
    input: z.object({}),
    effect: 'once',
    run: () => {
      isCalled.resolve();
      return answered.promise;
    },
    compensate: async () => {
      undone += 1;
      answered.resolve('booked');
      while (!(await scene.stored('ledger')).some(({ key }) => key.endsWith('1.o'))) await quiet();
    },
  });
  const agent = defineAgent({
    name: 'booker',
    version: 1,
    state: { result: value(z.string(), '') },
    tools: { book },
    start: 'go',
    nodes: {
      go: async (_state, { call, end }) =>
        end({ result: await call('book', {}).catch(({ code }: { code: string }) => code) }),
    },
  });
  const scene: Scene = new Scene({ agent });
  void (await scene.begun()).run();
  await isCalled.promise;
  const second = await scene.open();
  expect(await second.run()).toEqual({ end: 'done' });
  expect(await second.state()).toEqual({ result: 'effect_compensated' });
  const [call] = await second.effects();
  expect(call).toMatchObject({ name: 'book', status: 'compensated' });

  const [, began] = await second.checkpoints();
  if (began === undefined || call === undefined) throw new Error('nothing to go back to');
  await second.rollBack(began.id, { effects: { [call.key]: 'reuse' } });
  expect(await second.run()).toEqual({ end: 'done' });
  expect(await second.state()).toEqual({ result: 'effect_compensated' });
  expect(undone).toBe(1);
});
