import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { CommitGroup } from '../../src/model/commit.ts';
import type { PlainFields, ThreadRow } from '../../src/model/records.ts';
import { openIndexedDb } from '../../src/stores/indexeddb/connection.ts';
import { IndexedDbKeyStore } from '../../src/stores/indexeddb/indexeddb-key-store.ts';
import { IndexedDbStore } from '../../src/stores/indexeddb/indexeddb-store.ts';
import {
  commitId,
  commitOne,
  givenThread,
  groupFor,
  recordWrite,
  rowFor,
  thread,
} from '../conformance/store-givens.ts';
import { deleteDatabases, freshName, lockAll } from './support/databases.ts';
import { ManualTimer } from './support/manual-timer.ts';

afterAll(deleteDatabases);

describe('transactions of the IndexedDB store', () => {
  let store: IndexedDbStore;
  let row: ThreadRow;

  beforeEach(async () => {
    store = new IndexedDbStore(await openIndexedDb(freshName()));
    row = await givenThread(store);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await store.close();
  });

  /** A group that IndexedDB refuses in mid-burst: functions cannot be stored. */
  function unstorable(name: string): CommitGroup {
    const plain = { broken: () => undefined } as unknown as PlainFields;
    return groupFor(row, name, {
      records: [recordWrite('events', `event-${name}`), recordWrite('blobs', 'broken', { plain })],
      row: { status: 'failed' },
    });
  }

  /** Aborts the transactions that put a record under this key as a full disk does: after all requests have succeeded. */
  function fillDiskAt(key: string): void {
    const full = new WeakSet<IDBTransaction>();
    const { add } = IDBObjectStore.prototype;
    vi.spyOn(IDBObjectStore.prototype, 'add').mockImplementation(function (this: IDBObjectStore, value, place) {
      if (Array.isArray(place) && place[1] === key) full.add(this.transaction);
      return add.call(this, value, place);
    });
    const { commit } = IDBTransaction.prototype;
    vi.spyOn(IDBTransaction.prototype, 'commit').mockImplementation(function (this: IDBTransaction) {
      if (!full.has(this)) return commit.call(this);
      // Newer browsers throw a class of its own here, so that only the name can be relied on.
      Object.defineProperty(this, 'error', { value: { name: 'QuotaExceededError', message: 'full' } });
      return this.abort();
    });
  }

  test('[I2][I3] a throw between two writes takes the earlier ones back', async () => {
    await expect(commitOne(store, unstorable('a'))).rejects.toMatchObject({
      code: 'store_failed',
      cause: { name: 'DataCloneError' },
    });

    expect(await store.get('events', row.thread, 'event-a')).toBeUndefined();
    expect(await store.readThread(row.thread)).toEqual(row);
  });

  test('[I2][I3] a throw while a thread is made leaves nothing of it', async () => {
    const plain = { broken: () => undefined } as unknown as PlainFields;
    const records = [recordWrite('wraps', 'data:1'), recordWrite('blobs', 'broken', { plain })];

    const made = store.createThread(rowFor(thread('2')), commitId('root'), records);

    await expect(made).rejects.toMatchObject({ code: 'store_failed' });
    expect(await store.get('wraps', thread('2'), 'data:1')).toBeUndefined();
    expect(await store.readThread(thread('2'))).toBeUndefined();
  });

  test('[I2] a commit that fails does not make those fail that shared its transaction', async () => {
    const two = await givenThread(store, '2');

    const [broken, whole] = await Promise.allSettled([
      commitOne(store, unstorable('a')),
      commitOne(store, groupFor(two, 'b')),
    ]);

    expect(broken.status).toBe('rejected');
    expect(whole).toEqual({ status: 'fulfilled', value: { status: 'applied' } });
    expect(await store.get('events', two.thread, 'event-b')).toMatchObject({ key: 'event-b' });
    expect(await store.get('events', row.thread, 'event-a')).toBeUndefined();
  });

  test('[C6a][C6a] a full disk is `quota_exceeded`, though every request had succeeded, and nothing is written', async () => {
    fillDiskAt('event-a');

    await expect(commitOne(store, groupFor(row, 'a', { row: { status: 'done' } }))).rejects.toMatchObject({
      code: 'quota_exceeded',
    });
    vi.restoreAllMocks();

    expect(await store.readThread(row.thread)).toEqual(row);
    expect(await store.get('events', row.thread, 'event-a')).toBeUndefined();
    expect(await commitOne(store, groupFor(row, 'a'))).toEqual({ status: 'applied' });
  });

  test('[C6a][C6a] a disk too full for one commit takes the smaller ones that came with it', async () => {
    fillDiskAt('event-large');

    const [large, small] = await Promise.allSettled([
      commitOne(store, groupFor(row, 'large')),
      commitOne(store, groupFor(row, 'small')),
    ]);

    expect(large).toMatchObject({ status: 'rejected', reason: { code: 'quota_exceeded' } });
    expect(small).toEqual({ status: 'fulfilled', value: { status: 'applied' } });
  });

  test('[I1] a commit resolves after `complete` has arrived', async () => {
    const order: string[] = [];
    const { transaction } = IDBDatabase.prototype;
    vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (this: IDBDatabase, ...given) {
      order.push('begun');
      const begun = transaction.apply(this, given);
      begun.addEventListener('complete', () => order.push('complete'));
      return begun;
    });

    await commitOne(store, groupFor(row, 'a'));
    order.push('resolved');

    expect(order).toEqual(['begun', 'complete', 'resolved']);
  });

  describe('as the browser sees them', () => {
    /** Mode and durability of the transactions that are begun from now on. */
    function watchTransactions(): string[] {
      const seen: string[] = [];
      const { transaction } = IDBDatabase.prototype;
      vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (this: IDBDatabase, ...given) {
        const begun = transaction.apply(this, given);
        seen.push(begun.mode === 'readonly' ? 'reads' : begun.durability);
        return begun;
      });
      return seen;
    }

    test.each(['strict', 'relaxed'] as const)('[I1] a %s commit asks for that durability', async (durability) => {
      const seen = watchTransactions();

      await commitOne(store, groupFor(row, 'a', { durability }));

      expect(seen).toEqual([durability]);
    });

    test('[I1] the strictest of the commits that share a transaction decides', async () => {
      const seen = watchTransactions();

      await Promise.all([
        commitOne(store, groupFor(row, 'a', { durability: 'relaxed' })),
        commitOne(store, groupFor(row, 'b', { durability: 'strict' })),
        commitOne(store, groupFor(row, 'c', { durability: 'relaxed' })),
      ]);

      expect(seen).toEqual(['strict']);
    });

    test('[I1] everything but commits is strict', async () => {
      const keys = new IndexedDbKeyStore<string>(await openIndexedDb(freshName()));
      const seen = watchTransactions();

      await store.createThread(rowFor(thread('2')), commitId('root'), []);
      await store.takeLease(row.thread, row.incarnation);
      await store.createRecords(thread('ring'), commitId('a'), [recordWrite('wraps', 'ring')]);
      await store.deleteRecords(row.thread, row.incarnation, row.epoch, []);
      await store.deleteThread(row.thread, row.incarnation, 1);
      await keys.create('root', 'key');

      expect(seen).toEqual(Array.from({ length: 6 }, () => 'strict'));
    });

    test('[P7] sixteen commits of one turn share one transaction', async () => {
      const rows = await Promise.all(Array.from({ length: 16 }, (_, index) => givenThread(store, `many-${index}`)));
      const seen = watchTransactions();

      const results = await Promise.all(rows.map((one, index) => commitOne(store, groupFor(one, `c${index}`))));

      expect(results.every((result) => result.status === 'applied')).toBe(true);
      expect(seen).toEqual(['strict']);
    });

    test('[P7] commits that come while one is under way share the next transaction', async () => {
      const seen = watchTransactions();
      const late: Promise<unknown>[] = [];
      const { commit } = IDBTransaction.prototype;
      vi.spyOn(IDBTransaction.prototype, 'commit').mockImplementationOnce(function (this: IDBTransaction) {
        for (let index = 0; index < 15; index += 1) late.push(commitOne(store, groupFor(row, `late${index}`)));
        return commit.call(this);
      });

      await commitOne(store, groupFor(row, 'first'));
      await Promise.all(late);

      expect(late).toHaveLength(15);
      expect(seen).toEqual(['strict', 'strict']);
    });

    test('[P1] a commit reads the row and its witness, however many records it creates', async () => {
      const reads = vi.spyOn(IDBObjectStore.prototype, 'get');
      const records = Array.from({ length: 8 }, (_, index) => recordWrite('blobs', `hash.${index}`));

      await commitOne(store, groupFor(row, 'a', { records, row: { status: 'running' } }));

      expect(reads).toHaveBeenCalledTimes(2);
    });
  });

  test('[C6a][C6a] a transaction that does not end in time is given up, and the store goes on afterwards', async () => {
    const timer = new ManualTimer();
    const impatient = new IndexedDbStore(
      await openIndexedDb(store.name, { timeoutMs: 5_000, startTimer: timer.startTimer }),
    );
    const unlock = await lockAll(store.name);

    const begin = vi.spyOn(IDBDatabase.prototype, 'transaction');
    const committed = commitOne(impatient, groupFor(row, 'a')).catch((error: unknown) => error);
    await timer.runOut();

    expect(await committed).toMatchObject({
      code: 'timed_out',
      details: { operation: 'commit', afterMs: 5_000 },
    });
    await unlock();
    expect(await store.get('events', row.thread, 'event-a')).toBeUndefined(); // it was aborted, not left to itself
    expect(await commitOne(impatient, groupFor(row, 'a'))).toEqual({ status: 'applied' });
    expect(begin.mock.contexts.at(-1)).not.toBe(begin.mock.contexts[0]); // on another connection
    expect(timer.pending).toBe(0);
    await impatient.close();
  });

  test('[C6a][C6a] a read that does not end in time is given up', async () => {
    const timer = new ManualTimer();
    const impatient = new IndexedDbStore(await openIndexedDb(store.name, { startTimer: timer.startTimer }));
    const unlock = await lockAll(store.name);

    const read = impatient.readThread(row.thread).catch((error: unknown) => error);
    await timer.runOut();

    expect(await read).toMatchObject({ code: 'timed_out', details: { operation: 'read a thread', afterMs: 20_000 } });
    await unlock();
    await impatient.close();
  });
});
