import { describe, expect, test } from 'vitest';
import { tables } from '../../src/model/records.ts';
import {
  bytes,
  commitId,
  commitOne,
  type GiveStore,
  givenThread,
  groupFor,
  incarnation,
  recordWrite,
  rowFor,
  thread,
} from './store-givens.ts';

export function testThreads(giveStore: GiveStore): void {
  describe('createThread', () => {
    test('[A1a] makes the row together with the first records', async () => {
      const store = await giveStore();
      const row = rowFor(thread('1'), { epoch: { home: 3, local: 4 }, wakeUpAtMs: 12 });

      const result = await store.createThread(row, commitId('root'), [recordWrite('wraps', 'data:1')]);

      expect(result).toEqual({ status: 'created', row });
      expect(await store.readThread(row.thread)).toEqual(row);
      expect((await store.get('wraps', row.thread, 'data:1'))?.commit).toBe(commitId('root'));
    });

    test('[I4] a thread that is there is handed out untouched', async () => {
      const store = await giveStore();
      const first = await givenThread(store);
      const second = rowFor(first.thread, { incarnation: incarnation('2'), owner: 'owner-2' });

      const result = await store.createThread(second, commitId('b'), [recordWrite('wraps', 'data:2')]);

      expect(result).toEqual({ status: 'exists', row: first });
      expect(await store.readThread(first.thread)).toEqual(first);
      expect(await store.get('wraps', first.thread, 'data:2')).toBeUndefined();
    });

    test('[I4] of two racing for one thread, exactly one makes it', async () => {
      const store = await giveStore();

      const results = await Promise.all(
        ['1', '2'].map((name) =>
          store.createThread(rowFor(thread('1'), { incarnation: incarnation(name) }), commitId(name), []),
        ),
      );

      expect(results.map((result) => result.status).sort()).toEqual(['created', 'exists']);
      const row = await store.readThread(thread('1'));
      expect(results.map((result) => result.status !== 'missing' && result.row)).toEqual([row, row]);
    });

    test('[D2a][I4] a condition that fails makes nothing and is named', async () => {
      const store = await giveStore();
      const ring = thread('key-ring');
      await store.createRecords(ring, commitId('ring-2'), [recordWrite('wraps', 'ring')]);
      const present = { kind: 'present', table: 'wraps', key: 'ring', thread: ring } as const;
      const create = (commit: string) =>
        store.createThread(
          rowFor(thread('1')),
          commitId('root'),
          [recordWrite('wraps', 'data:1')],
          [{ ...present, commit: commitId(commit) }],
        );

      expect(await create('ring-1')).toEqual({ status: 'missing', table: 'wraps', key: 'ring' });
      expect(await store.readThread(thread('1'))).toBeUndefined();
      expect(await store.get('wraps', thread('1'), 'data:1')).toBeUndefined();
      expect((await create('ring-2')).status).toBe('created');
    });

    test('[I10] the key of a thread whose row was lost is not written over', async () => {
      const store = await giveStore();
      const orphan = recordWrite('wraps', 'data:1', { body: bytes(1) });
      await store.createRecords(thread('1'), commitId('lost'), [orphan]);

      const records = [recordWrite('wraps', 'data:1', { body: bytes(2) })];
      const creation = store.createThread(rowFor(thread('1')), commitId('root'), records);

      await expect(creation).rejects.toMatchObject({ code: 'store_failed' });
      expect((await store.get('wraps', thread('1'), 'data:1'))?.body).toEqual(bytes(1));
      expect(await store.readThread(thread('1'))).toBeUndefined();
    });
  });

  describe('deleteThread', () => {
    test('[A1c] leaves no record of the thread in any table, and those of its neighbours', async () => {
      const store = await giveStore();
      const doomed = await givenThread(store, 'b');
      const neighbours = [await givenThread(store, 'a'), await givenThread(store, 'b2'), await givenThread(store, 'c')];
      const records = tables.map((table) => recordWrite(table, 'key'));
      for (const row of [doomed, ...neighbours]) await commitOne(store, groupFor(row, row.thread, { records }));

      await store.deleteThread(doomed.thread, doomed.incarnation, 5_000);

      expect(await store.readThread(doomed.thread)).toBeUndefined();
      for (const table of tables) {
        expect(await store.range(table, doomed.thread, {})).toEqual([]);
        for (const row of neighbours) expect(await store.range(table, row.thread, {})).toHaveLength(1);
      }
    });

    test('[A12e, A15d] does nothing to a thread that has a newer input or lease than its caller knows of', async () => {
      const store = await giveStore();
      const row = await givenThread(store, '1');
      await store.deleteThread(row.thread, row.incarnation, 5_000, { ...row, inbox: row.inbox + 1 });
      await store.deleteThread(row.thread, row.incarnation, 5_000, { ...row, epoch: { home: 0, local: 99 } });
      expect(await store.readThread(row.thread)).toEqual(row);

      await store.deleteThread(row.thread, row.incarnation, 5_000, row);
      expect(await store.readThread(row.thread)).toBeUndefined();
    });

    test('[A1c] leaves a tombstone that carries the epoch on', async () => {
      const store = await giveStore();
      const row = await givenThread(store, '1', { epoch: { home: 2, local: 6 } });
      expect(await store.readTombstone(row.thread)).toBeUndefined();

      await store.deleteThread(row.thread, row.incarnation, 5_000);

      const { thread: hash, epoch } = row;
      expect(await store.readTombstone(hash)).toEqual({
        thread: hash,
        incarnation: row.incarnation,
        epoch,
        deletedAtMs: 5_000,
      });
    });

    test('[B14b] a thread made again begins one epoch above its tombstone, whatever its row says', async () => {
      const store = await giveStore();
      const first = await givenThread(store, '1', { epoch: { home: 1, local: 6 } });
      await store.deleteThread(first.thread, first.incarnation, 5_000);

      const again = rowFor(first.thread, { incarnation: incarnation('2'), epoch: { home: 1, local: 0 } });
      const result = await store.createThread(again, commitId('again'), []);

      const made = { ...again, epoch: { home: 1, local: 7 } };
      expect(result).toEqual({ status: 'created', row: made });
      expect(await store.readThread(first.thread)).toEqual(made);
    });

    test('[B14b] epochs go on over several deletions', async () => {
      const store = await giveStore();
      const locals: (number | undefined)[] = [];
      for (const name of ['1', '2', '3']) {
        const row = await givenThread(store, '1', { incarnation: incarnation(name) });
        locals.push(row.epoch.local);
        await store.deleteThread(row.thread, row.incarnation, 1);
      }

      expect(locals).toEqual([0, 1, 2]);
    });

    test('[I10] does nothing to another incarnation', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      await commitOne(store, groupFor(row, 'a'));

      await store.deleteThread(row.thread, incarnation('2'), 5_000);

      expect(await store.readThread(row.thread)).toEqual(row);
      expect(await store.range('events', row.thread, {})).toHaveLength(1);
      expect(await store.readTombstone(row.thread)).toBeUndefined();
    });

    test('[I4] a commit to the deleted incarnation is `gone`, also one that was applied before', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      await commitOne(store, groupFor(row, 'a'));
      await store.deleteThread(row.thread, row.incarnation, 5_000);

      expect((await commitOne(store, groupFor(row, 'a'))).status).toBe('gone');
      await givenThread(store, '1', { incarnation: incarnation('2') });
      expect((await commitOne(store, groupFor(row, 'a'))).status).toBe('gone');
      expect(await store.range('events', row.thread, {})).toEqual([]);
    });

    test('[I2] given again does nothing', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      await store.deleteThread(row.thread, row.incarnation, 5_000);

      await store.deleteThread(row.thread, row.incarnation, 6_000);

      expect((await store.readTombstone(row.thread))?.deletedAtMs).toBe(5_000);
    });
  });

  describe('listThreads', () => {
    const query = { namespace: 'namespace-1', owner: 'owner-1', limit: 100 };

    test('[A14a] lists the rows of one owner in one namespace, in the order of their hashes', async () => {
      const store = await giveStore();
      for (const name of ['c', 'a', 'B', 'b']) await givenThread(store, name);
      await givenThread(store, 'a2', { owner: 'owner-2' });
      await givenThread(store, 'b2', { namespace: 'namespace-2' });

      const rows = await store.listThreads(query);

      expect(rows.map((row) => row.thread)).toEqual(['B', 'a', 'b', 'c'].map(thread));
      expect(rows[0]).toEqual(await store.readThread(thread('B')));
    });

    test('[A14a] can be paged', async () => {
      const store = await giveStore();
      const names = Array.from({ length: 600 }, (_, index) => String(index).padStart(4, '0'));
      await Promise.all(names.map((name, index) => givenThread(store, name, { owner: `owner-${(index % 2) + 1}` })));

      const pages: string[][] = [];
      for (let page = await store.listThreads({ ...query, limit: 120 }); ; ) {
        pages.push(page.map((row) => row.thread));
        const after = page.at(-1)?.thread;
        if (after === undefined) break;
        page = await store.listThreads({ ...query, limit: 120, after });
      }

      expect(pages.map((page) => page.length)).toEqual([120, 120, 60, 0]);
      expect(pages.flat()).toEqual(names.filter((_, index) => index % 2 === 0).map(thread));
    });

    test('[A14a] lists nothing for a limit of 0, an unknown owner, or after the last', async () => {
      const store = await giveStore();
      await givenThread(store, 'a');

      expect(await store.listThreads({ ...query, limit: 0 })).toEqual([]);
      expect(await store.listThreads({ ...query, owner: 'owner-9' })).toEqual([]);
      expect(await store.listThreads({ ...query, after: thread('a') })).toEqual([]);
    });
  });

  describe('isEmpty', () => {
    test('[D2a] only a store that holds nothing at all is empty', async () => {
      const store = await giveStore();
      expect(await store.isEmpty()).toBe(true);

      const row = await givenThread(store);
      expect(await store.isEmpty()).toBe(false);

      await store.deleteThread(row.thread, row.incarnation, 1);
      expect(await store.readThread(row.thread)).toBeUndefined();
      expect(await store.isEmpty()).toBe(false); // the tombstone
    });

    test.each(tables)('[D2a] a record in %s that belongs to no thread counts', async (table) => {
      const store = await giveStore();

      await store.createRecords(thread('key-ring'), commitId('a'), [recordWrite(table, 'ring')]);

      expect(await store.isEmpty()).toBe(false);
    });
  });
}
