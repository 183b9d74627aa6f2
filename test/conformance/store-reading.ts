import { describe, expect, test } from 'vitest';
import { checkpointIdFor } from '../../src/model/ids.ts';
import type { RecordRange, ThreadRow } from '../../src/model/records.ts';
import type { Store } from '../../src/store/store.ts';
import {
  bytes,
  commitId,
  commitOne,
  type GiveStore,
  givenThread,
  groupFor,
  keysOf,
  recordWrite,
  thread,
} from './store-givens.ts';

export function testReading(giveStore: GiveStore): void {
  describe('reading', () => {
    const keys = ['B', 'a', 'b', 'c', 'd', 'e'];

    async function givenRecords(store: Store): Promise<ThreadRow> {
      const row = await givenThread(store, '1');
      const before = await givenThread(store, '0');
      const after = await givenThread(store, '10');
      const shuffled = ['d', 'a', 'e', 'B', 'c', 'b'];
      await commitOne(store, groupFor(row, 'x', { records: shuffled.map((key) => recordWrite('events', key)) }));
      await commitOne(store, groupFor(row, 'y', { records: [recordWrite('ledger', 'b2')] }));
      for (const neighbour of [before, after]) {
        await commitOne(store, groupFor(neighbour, 'x', { records: [recordWrite('events', 'b3')] }));
      }
      return row;
    }

    test('[A1a] `get` finds a record by table, thread and key, else nothing', async () => {
      const store = await giveStore();
      const row = await givenRecords(store);

      const found = await store.get('events', row.thread, 'c');

      expect(found).toEqual({
        key: 'c',
        commit: commitId('x'),
        format: 1,
        plain: { parent: null, size: 3 },
        body: bytes(7, 8, 9),
      });
      expect(await store.get('ledger', row.thread, 'c')).toBeUndefined();
      expect(await store.get('events', thread('10'), 'c')).toBeUndefined();
      expect(await store.get('events', row.thread, 'c2')).toBeUndefined();
    });

    test.each<[RecordRange, readonly string[]]>([
      [{}, keys],
      [{ from: 'b' }, ['b', 'c', 'd', 'e']],
      [{ from: 'b2' }, ['c', 'd', 'e']],
      [{ to: 'c' }, ['B', 'a', 'b']],
      [{ to: 'c2' }, ['B', 'a', 'b', 'c']],
      [{ from: 'b', to: 'd' }, ['b', 'c']],
      [{ from: 'b', to: 'b' }, []],
      [{ from: 'd', to: 'b' }, []],
      [{ from: 'z' }, []],
      [{ to: 'A' }, []],
      [{ from: 'A', to: 'z' }, keys],
      [{ limit: 2 }, ['B', 'a']],
      [{ limit: 0 }, []],
      [{ limit: 100 }, keys],
      [{ from: 'b', limit: 2 }, ['b', 'c']],
      [{ reverse: true }, [...keys].reverse()],
      [{ reverse: true, limit: 0 }, []],
      [{ reverse: true, limit: 1 }, ['e']],
      [{ reverse: true, limit: 3 }, ['e', 'd', 'c']],
      [{ reverse: true, limit: 6 }, [...keys].reverse()],
      [{ reverse: true, limit: 7 }, [...keys].reverse()],
      [{ reverse: true, to: 'd', limit: 1 }, ['c']],
      [{ reverse: true, to: 'd', limit: 2 }, ['c', 'b']],
      [{ reverse: true, from: 'b', to: 'd' }, ['c', 'b']],
      [{ reverse: true, from: 'b', to: 'd', limit: 5 }, ['c', 'b']],
      [{ reverse: true, from: 'd', to: 'b' }, []],
      [{ reverse: true, from: 'd', to: 'b', limit: 2 }, []],
      [{ reverse: true, from: 'z', limit: 1 }, []],
    ])('[A1a] `range` %j gives %j, from this table and thread alone', async (range, expected) => {
      const store = await giveStore();
      const row = await givenRecords(store);

      expect(keysOf(await store.range('events', row.thread, range))).toEqual(expected);
    });

    test('[A1a] `range` gives whole records, and none of an empty table', async () => {
      const store = await giveStore();
      const row = await givenRecords(store);

      expect(await store.range('events', row.thread, { from: 'c', to: 'd' })).toEqual([
        await store.get('events', row.thread, 'c'),
      ]);
      expect(await store.range('segments', row.thread, {})).toEqual([]);
      expect(await store.range('events', thread('none'), { reverse: true })).toEqual([]);
    });

    test('[A3a] checkpoints come in commit order, and the newest is found without reading the others', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      let seed = 0;
      const random = { bytes: (length: number) => new Uint8Array(length).map(() => (seed = (seed * 31 + 97) % 251)) };
      const ids = [0, 9, 15, 16, 255, 256, 65_535, 65_536].map((sequence) => checkpointIdFor(sequence, random));
      for (const id of ids) await commitOne(store, groupFor(row, id, { records: [recordWrite('checkpoints', id)] }));

      expect(keysOf(await store.range('checkpoints', row.thread, {}))).toEqual(ids);
      expect(keysOf(await store.range('checkpoints', row.thread, { reverse: true, limit: 1 }))).toEqual(ids.slice(-1));
    });

    test('[A3a] a few thousand records of one thread are kept in order and read in part', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const all = Array.from({ length: 3_000 }, (_, index) => index.toString(16).padStart(10, '0'));
      for (let from = 0; from < all.length; from += 500) {
        const records = all.slice(from, from + 500).map((key) => recordWrite('events', key));
        await commitOne(store, groupFor(row, `from-${from}`, { records }));
      }

      expect(keysOf(await store.range('events', row.thread, {}))).toEqual(all);
      const tail = await store.range('events', row.thread, { reverse: true, limit: 700 });
      expect(keysOf(tail)).toEqual(all.slice(-700).reverse());
      const middle = await store.range('events', row.thread, { from: all[1_000] ?? '', to: all[1_010] ?? '' });
      expect(keysOf(middle)).toEqual(all.slice(1_000, 1_010));
    });
  });
}
