/** Faults that the simulator found, each as the smallest story that shows it. The others are scenarios in test/simulation. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import { KeyRing } from '../../src/codec/key-ring.ts';
import { webCryptography } from '../../src/codec/webcrypto-cipher.ts';
import { log, value } from '../../src/model/fields.ts';
import type { ThreadId } from '../../src/model/ids.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { storeErrors } from '../../src/store/errors.ts';
import { MemoryKeyStore } from '../../src/stores/memory/memory-key-store.ts';
import { MemoryStore } from '../../src/stores/memory/memory-store.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { answer, head, never, only, plainState, quiet, Scene, ScriptedModel, withMethods } from './support.ts';

test('[C4a, D2a] two tabs that start on an empty database at once both open it', async () => {
  const world = new TestWorld();
  const store = world.store();
  const overtaken = withMethods(store, {
    isEmpty: async () => {
      await world.ports(); // the other tab makes the keys in between
      return store.isEmpty();
    },
  });

  await expect(world.ports(overtaken)).resolves.toMatchObject({ store: overtaken });
});

test('[B5e, B11a] an input behind one that takes its worker away each time is taken once that one has failed', async () => {
  const agent = defineAgent({
    name: 'patient',
    version: 1,
    state: { what: value(z.string(), '') },
    start: 'work',
    nodes: { work: ({ what }, { end }) => (what === 'poison' ? never() : end()) },
  });
  const scene = new Scene({ agent, maxResumes: 2 });
  const { thread, life } = await scene.mortal();
  await thread.send({ what: 'poison' });
  void thread.run();
  await quiet();
  life.end();
  const heir = await scene.open();
  await heir.send({ what: 'food' });
  const row = await heir.row();
  for (let lease = 0; row !== undefined && lease < 3; lease += 1) {
    await scene.world.store().takeLease(row.thread, row.incarnation);
  }

  expect(await heir.run()).toEqual({ end: 'done' });
  expect(await plainState(heir)).toEqual({ what: 'food' });
});

test('[B3b] a store that cannot be read does not keep a large result from being recorded, nor make it an invalid one', async () => {
  const fetchText = tool({
    name: 'fetch_text',
    description: 'Fetches a text',
    input: z.object({}),
    effect: 'idempotent',
    run: () => 'x'.repeat(10_000),
  });
  const agent = defineAgent({
    name: 'reader',
    version: 1,
    state: { lengths: log(z.number()) },
    tools: { fetch_text: fetchText },
    start: 'work',
    nodes: { work: async (_, { call, end }) => end({ lengths: [(await call('fetch_text', {})).length] }) },
  });
  const scene = new Scene({ agent });
  await scene.begun();
  const store = scene.world.store();
  const failing = withMethods(store, {
    get: (table, ...place) => {
      if (table === 'blobs') throw storeErrors.make('store_failed', { operation: 'get', reason: 'the disk' });
      return store.get(table, ...place);
    },
  });

  await (await scene.open({ store: failing })).run();
  const healed = await scene.open();
  await healed.run();
  expect(await plainState(healed)).toEqual({ lengths: [10_000] });
  expect((await healed.effects()).map(({ status }) => status)).toEqual(['succeeded']);
});

test('[B9f, B11a] an event that nobody waits for, with an input behind it, does not leave a finished thread busy', async () => {
  const agent = defineAgent({
    name: 'asking',
    version: 1,
    state: { said: log(z.string()) },
    start: 'ask',
    nodes: { ask: async (_, { ask, end }) => end({ said: [await ask<string>('what?')] }) },
  });
  const scene = new Scene({ agent });
  const thread = await scene.begun();
  const reply = async (open: typeof thread) => {
    await open.run();
    await answer(open, only(await open.waits()), { decision: 'reply', value: 'this' });
  };
  await reply(thread);
  await thread.run();
  await thread.signal('news');
  await thread.send({});
  await reply(thread);
  const heir = await scene.open();

  expect(await heir.run()).toEqual({ end: 'done' });
  const row = await heir.row();
  expect(row?.inboxTaken).toBe(row?.inbox);
  await heir.send({}, 'another', 'reject');
});

test('[I4, B3b] an entry that was written while all answers of the store were lost is known to the step beside it', async () => {
  const isLost = deferred<void>();
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: z.object({}),
    effect: 'idempotent',
    run: () => 'paid',
  });
  const agent = defineAgent({
    name: 'payer',
    version: 1,
    state: { notes: log(z.string()) },
    tools: { pay },
    start: 'begin',
    nodes: {
      begin: (_, { parallel }) => parallel(['left', 'right']),
      left: async (_, { call, end }) => end({ notes: [await call('pay', {})] }),
      right: async (_, { end }) => {
        await isLost.promise;
        return end({ notes: ['right'] });
      },
    },
  });
  const scene = new Scene({ agent });
  await scene.begun();
  const store = scene.world.store();
  let answersLost = 0;
  const failing = withMethods(store, {
    commit: async (groups) => {
      const results = await store.commit(groups);
      if (answersLost === 4 || !groups.some(({ records: [first] }) => first?.key.endsWith('.i'))) return results;
      answersLost += 1;
      isLost.resolve();
      throw storeErrors.make('timed_out', { operation: 'commit', afterMs: 1_000 });
    },
  });

  const running = (await scene.open({ store: failing })).run();
  for (const waitMs of [50, 250, 1_000]) await scene.passes(waitMs, waitMs);

  expect(await running).toMatchObject({ end: 'blocked', error: { code: 'timed_out' } });
  const healed = await scene.open();
  expect(await healed.run()).toEqual({ end: 'done' });
  expect(await plainState(healed)).toEqual({ notes: ['paid', 'right'] });
});

test('[B11a] an input that interrupts, and is seen just as it is taken up, does not interrupt its own run', async () => {
  const agent = defineAgent({
    name: 'worker',
    version: 1,
    state: { what: value(z.string(), '') },
    start: 'work',
    nodes: { work: (_, { end }) => end() },
  });
  const scene = new Scene({ agent });
  await (await scene.open()).send({ what: 'this' }, 'urgent', 'interrupt');
  const store = scene.world.store();
  let looks = 0;
  const hinting = withMethods(store, {
    commit: async (groups) => {
      if (groups.some(({ row }) => row?.status === 'running')) await thread.look();
      return store.commit(groups);
    },
    range: (...given) => {
      looks += 1;
      if (looks > 100) throw storeErrors.make('store_failed', { operation: 'range', reason: 'asked again and again' });
      return store.range(...given);
    },
  });
  const thread = await scene.open({ store: hinting });

  expect(await thread.run()).toEqual({ end: 'done' });
  expect(await plainState(thread)).toEqual({ what: 'this' });
});

test('[I4] a thread that is deleted just as a cancel stops its step is lost to its runner, and not run again and again', async () => {
  const wait = tool({
    name: 'wait',
    description: 'Waits',
    input: z.object({}),
    effect: 'read',
    run: (_, { abortSignal }) =>
      new Promise<string>((_, reject) => abortSignal.addEventListener('abort', () => reject(abortSignal.reason))),
  });
  const agent = defineAgent({
    name: 'worker',
    version: 1,
    state: { what: value(z.string(), '') },
    start: 'work',
    tools: { wait },
    nodes: { work: async (_, { call, end }) => end({ what: await call('wait', {}) }) },
  });
  const scene = new Scene({ agent });
  await scene.begun();
  const store = scene.world.store();
  let looks = 0;
  const counting = withMethods(store, {
    range: (...given) => {
      looks += 1;
      if (looks > 100) throw storeErrors.make('store_failed', { operation: 'range', reason: 'asked again and again' });
      return store.range(...given);
    },
  });
  const thread = await scene.open({ store: counting });
  const running = thread.run();
  await quiet();
  await (await scene.open()).cancel();
  await thread.look();
  for (const { thread: hash, incarnation } of [...scene.world.data.threads.values()]) {
    await store.deleteThread(hash, incarnation, scene.clock.nowMs());
  }

  expect(await running).toEqual({ end: 'lost' });
});

test('[B7c] what a failed step used of its model is counted by the process that ends its run after a crash', async () => {
  const agent = defineAgent({
    name: 'asking',
    version: 1,
    state: { said: log(z.string()) },
    start: 'ask',
    nodes: {
      ask: {
        retry: { attempts: 1 },
        run: async (_, { model }) => {
          await model.text('word');
          throw new Error('It is hopeless.');
        },
      },
    },
  });
  const model = Object.assign(new ScriptedModel(() => 'word'), {
    price: { inputPerMillion: 1_000_000, outputPerMillion: 2_000_000 },
  });
  const scene = new Scene({ agent, model });
  const { thread, life } = await scene.mortal();
  await thread.send({});
  const store = scene.world.store();
  const dying = withMethods(store, {
    commit: (groups) => {
      if (groups.some(({ row }) => row?.status === 'failed')) life.end();
      return life.isOver ? never() : store.commit(groups);
    },
  });
  void (await scene.open({ store: dying })).run();
  await life.death;
  const heir = await scene.open();

  expect(await heir.run()).toMatchObject({ end: 'failed' });
  expect((await head(heir)).control.usage).toEqual({ inputTokens: 4, outputTokens: 3, cost: 10 });
});

test('[I10] a tab that reads the key before another makes it, and the ring after, is not told that the key is missing', async () => {
  const [store, keys] = [new MemoryStore(), new MemoryKeyStore<CryptoKey>()];
  const isRead = deferred<void>();
  const isMade = deferred<void>();
  const early = {
    get: async (name: string) => {
      const found = await keys.get(name);
      isRead.resolve();
      return found;
    },
    create: (name: string, key: CryptoKey) => keys.create(name, key),
  };
  const late = withMethods(store, {
    get: async (...place) => {
      await isMade.promise;
      return store.get(...place);
    },
  });
  const second = KeyRing.open(late, early, webCryptography, seededRandom(2));
  await isRead.promise;
  const first = await KeyRing.open(store, keys, webCryptography, seededRandom(1));
  isMade.resolve();

  const hashes = [await first, await second].map((ring) => ring.threadHash('default', 't' as ThreadId));
  expect(new Set(await Promise.all(hashes)).size).toBe(1);
});
