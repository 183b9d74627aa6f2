import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { type IndexedDbOptions, openIndexedDb } from '../../src/stores/indexeddb/connection.ts';
import { IndexedDbKeyStore } from '../../src/stores/indexeddb/indexeddb-key-store.ts';
import { IndexedDbStore } from '../../src/stores/indexeddb/indexeddb-store.ts';
import { answer } from '../../src/stores/indexeddb/requests.ts';
import { commitOne, givenThread, groupFor } from '../conformance/store-givens.ts';
import { countAll, deleteDatabases, freshName, knock, makeWithout, openRaw } from './support/databases.ts';
import { ManualTimer } from './support/manual-timer.ts';

describe('the connection of the IndexedDB store', () => {
  const opened: IndexedDbStore[] = [];

  afterEach(async () => {
    vi.restoreAllMocks();
    await Promise.all(opened.splice(0).map((store) => store.close()));
  });
  afterAll(deleteDatabases);

  async function open(name = freshName(), options: IndexedDbOptions = {}): Promise<IndexedDbStore> {
    const store = new IndexedDbStore(await openIndexedDb(name, options));
    opened.push(store);
    return store;
  }

  const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => 'no error',
      (error: { code?: unknown }) => error.code,
    );

  const closing = () => new DOMException('The database connection is closing.', 'InvalidStateError');
  const webkitLoss = () =>
    new DOMException('Connection to Indexed Database server lost. Refresh the page to try again', 'UnknownError');

  test.each([
    ['closing', closing],
    ['lost, in the words of WebKit', webkitLoss],
  ])('[C6e] a connection that is %s is opened again, and the commit tried once more', async (_what, failure) => {
    const store = await open();
    const row = await givenThread(store);
    const begin = vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementationOnce(() => {
      throw failure();
    });

    expect(await commitOne(store, groupFor(row, 'a'))).toEqual({ status: 'applied' });
    expect(begin.mock.contexts[1]).not.toBe(begin.mock.contexts[0]);
  });

  test.each([
    ['closing', closing],
    ['lost, in the words of WebKit', webkitLoss],
  ])('[C6e] a connection that is %s again at once is `store_closed`, not an endless loop', async (_what, failure) => {
    const store = await open();
    const row = await givenThread(store);
    const begin = vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(() => {
      throw failure();
    });

    expect(await codeOf(commitOne(store, groupFor(row, 'a')))).toBe('store_closed');
    expect(begin).toHaveBeenCalledTimes(2);
    vi.restoreAllMocks();
    expect(await commitOne(store, groupFor(row, 'a'))).toEqual({ status: 'applied' });
  });

  test('[C6e] a connection that the browser closes in mid-transaction is opened again', async () => {
    const store = await open();
    const row = await givenThread(store);
    vi.spyOn(IDBTransaction.prototype, 'commit').mockImplementationOnce(function (this: IDBTransaction) {
      this.db.dispatchEvent(new Event('close'));
      this.abort();
    });

    expect(await commitOne(store, groupFor(row, 'a'))).toEqual({ status: 'applied' });
    expect(await store.get('events', row.thread, 'event-a')).toMatchObject({ key: 'event-a' });
  });

  test('[C6d] it makes way at once for a tab that wants to change the database', async () => {
    const store = await open();
    await givenThread(store);
    const request = indexedDB.open(store.name, 2);
    const onBlocked = vi.fn();
    request.onblocked = onBlocked;

    (await answer(request)).close();

    expect(onBlocked).not.toHaveBeenCalled();
  });

  test('[C6d] having made way, it is opened again for the next operation', async () => {
    const store = await open();
    const row = await givenThread(store);

    await knock(store.name);

    expect(await store.readThread(row.thread)).toEqual(row);
  });

  test('[C6d] a database that newer code has changed meanwhile is `store_too_new`, and stays as it is', async () => {
    const store = await open();
    const row = await givenThread(store);
    await answer(indexedDB.open(store.name, 2)).then((db) => db.close());
    const before = await countAll(store.name);

    expect(await codeOf(commitOne(store, groupFor(row, 'a')))).toBe('store_too_new');
    expect(await codeOf(open(store.name))).toBe('store_too_new');
    expect(await countAll(store.name)).toEqual(before);
  });

  test('[C6d] an open that waits behind another tab gives up in time, and keeps no one waiting itself', async () => {
    const name = freshName();
    const deaf = await openRaw(name, 1, () => undefined);
    const upgrade = indexedDB.open(name, 2);
    const isBlocked = new Promise((resolve) => {
      upgrade.onblocked = resolve;
    });
    await isBlocked;
    const timer = new ManualTimer();

    const failed = openIndexedDb(name, { timeoutMs: 5_000, startTimer: timer.startTimer }).catch(
      (error: unknown) => error,
    );
    await timer.runOut();

    expect(await failed).toMatchObject({ code: 'store_blocked', details: { name, afterMs: 5_000 } });
    deaf.close();
    (await answer(upgrade)).close();
  });

  test('[C6d] a connection that opens after its time limit is closed again', async () => {
    const name = freshName();
    await (await open(name)).close();
    const timer = new ManualTimer();
    const close = vi.spyOn(IDBDatabase.prototype, 'close');

    const failed = codeOf(openIndexedDb(name, { startTimer: timer.startTimer }));
    await timer.runOut();
    expect(await failed).toBe('store_blocked');

    // Opens are answered in order: by the time this one is, the late one was.
    const db = await openRaw(name, 1, () => undefined);
    expect(close).toHaveBeenCalledOnce();
    db.close();
  });

  test.each(['events', 'threads', 'keys'])(
    '[C6d] a database that has lost its table %s is `store_damaged`, and keeps the others',
    async (missing) => {
      const name = freshName();
      await makeWithout(name, missing);
      const before = await countAll(name);

      await expect(openIndexedDb(name)).rejects.toMatchObject({ code: 'store_damaged', details: { name, missing } });
      expect(await countAll(name)).toEqual(before);
    },
  );

  test('[C6b][C6b] a database deleted under a running page is loss, and no empty one takes its place', async () => {
    const store = await open();
    const row = await givenThread(store);
    await answer(indexedDB.deleteDatabase(store.name));

    expect(await codeOf(store.readThread(row.thread))).toBe('store_damaged');
    expect((await indexedDB.databases()).map((database) => database.name)).not.toContain(store.name);
  });

  test('[C6d] an open that fails for an unknown reason is tried three times, then fails aloud', async () => {
    const failing = (times: number) => {
      const { open: begin } = IDBFactory.prototype;
      let failures = 0;
      return vi.spyOn(IDBFactory.prototype, 'open').mockImplementation(function (this: IDBFactory, ...given) {
        failures += 1;
        if (failures > times) return begin.apply(this, given);
        throw new DOMException('Internal error opening backing store', 'UnknownError');
      });
    };

    const twice = failing(2);
    await open();
    expect(twice).toHaveBeenCalledTimes(3);
    vi.restoreAllMocks();

    const always = failing(9);
    expect(await codeOf(open())).toBe('store_failed');
    expect(always).toHaveBeenCalledTimes(3);
  });

  test('[I10] no failure deletes a database', async () => {
    const deletions = vi.spyOn(IDBFactory.prototype, 'deleteDatabase');
    const name = freshName();
    await makeWithout(name, 'blobs');
    await codeOf(openIndexedDb(name));
    vi.spyOn(IDBFactory.prototype, 'open').mockImplementation(() => {
      throw new DOMException('Internal error', 'UnknownError');
    });
    await codeOf(openIndexedDb(name));

    expect(deletions).not.toHaveBeenCalled();
  });

  test('[D2a] the key store shares the database of the records, and ends with it', async () => {
    const connection = await openIndexedDb(freshName());
    const store = new IndexedDbStore(connection);
    const keys = new IndexedDbKeyStore<string>(connection);
    await keys.create('root', 'key');
    expect((await countAll(store.name)).keys).toBe(1);
    expect(await store.isEmpty()).toBe(true); // a key alone is no loss of records

    await store.close();

    expect(await codeOf(keys.get('root'))).toBe('store_closed');
  });
});
