import { describe, expect, test } from 'vitest';
import type { CommitGroup } from '../../src/model/commit.ts';
import { sortable } from '../../src/model/ids.ts';
import type { ThreadRow } from '../../src/model/records.ts';
import {
  bytes,
  checkpointId,
  commitId,
  commitOne,
  type GiveStore,
  givenThread,
  groupFor,
  keysOf,
  recordWrite,
} from './store-givens.ts';

export function testInbox(giveStore: GiveStore): void {
  describe('inbox', () => {
    function appendTo(row: ThreadRow, name: string, change: Partial<CommitGroup> = {}): CommitGroup {
      const inbox = { dedupId: `dedup-${name}`, format: 2, plain: { from: name }, body: bytes(5, 6) };
      return groupFor(row, name, { records: [], inbox, ...change });
    }

    test('[B11a] an item gets the next order, in its key, in the result and in the row', async () => {
      const store = await giveStore();
      const row = await givenThread(store, '1', { inbox: 41 });

      expect(await commitOne(store, appendTo(row, 'a'))).toEqual({ status: 'applied', order: 42 });

      const key = `o:${sortable(42)}`;
      const item = { key, commit: commitId('a'), format: 2, plain: { from: 'a' }, body: bytes(5, 6) };
      expect(await store.get('inbox', row.thread, key)).toEqual(item);
      expect(await store.readThread(row.thread)).toEqual({ ...row, inbox: 42 });
      expect(await store.get('inbox', row.thread, 'id:dedup-a')).toMatchObject({ key: 'id:dedup-a' });
    });

    test('[B11a] items that come at once get orders of their own, without gaps', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const names = Array.from({ length: 12 }, (_, index) => `item${index}`);

      const results = await Promise.all(names.map((name) => commitOne(store, appendTo(row, name))));

      const orders = results.flatMap((result) => (result.status === 'applied' ? (result.order ?? []) : []));
      expect(orders.sort((a, b) => a - b)).toEqual(names.map((_, index) => index + 1));
      const items = await store.range('inbox', row.thread, { from: 'o:', to: 'o;' });
      expect(keysOf(items)).toEqual(orders.map((order) => `o:${sortable(order)}`));
    });

    test('[B11a] a deduplication id that is known writes nothing and gives the order it has, under any commit id', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const first = appendTo(row, 'a');
      await commitOne(store, first);
      await commitOne(store, appendTo(row, 'b'));
      const before = await store.range('inbox', row.thread, {});

      const again = { ...first, id: commitId('other'), records: [recordWrite('events', 'new')] };

      expect(await commitOne(store, again)).toEqual({ status: 'applied', order: 1 });
      expect(await store.range('inbox', row.thread, {})).toEqual(before);
      expect(await store.get('events', row.thread, 'new')).toBeUndefined();
      expect((await store.readThread(row.thread))?.inbox).toBe(2);
    });

    test('[B11a] the same item racing with itself is kept once', async () => {
      const store = await giveStore();
      const row = await givenThread(store);

      const results = await Promise.all([1, 2, 3].map(() => commitOne(store, appendTo(row, 'a'))));

      expect(results).toEqual([1, 2, 3].map(() => ({ status: 'applied', order: 1 })));
      expect(await store.range('inbox', row.thread, { from: 'o:', to: 'o;' })).toHaveLength(1);
    });

    test('[B11a] the same item twice in one commit is kept once', async () => {
      const store = await giveStore();
      const row = await givenThread(store);

      const results = await store.commit([appendTo(row, 'a'), appendTo(row, 'a'), appendTo(row, 'b')]);

      expect(results.map((result) => result.status === 'applied' && result.order)).toEqual([1, 1, 2]);
    });

    test('[B11a] an item consumed and deleted is still recognised by its id', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      await commitOne(store, appendTo(row, 'a'));
      const doomed = [{ table: 'inbox', key: `o:${sortable(1)}` }] as const;
      await store.deleteRecords(row.thread, row.incarnation, row.epoch, doomed);

      expect(await commitOne(store, appendTo(row, 'a'))).toEqual({ status: 'applied', order: 1 });
      expect(await store.get('inbox', row.thread, `o:${sortable(1)}`)).toBeUndefined();
    });

    test('[B11a][I2] an item goes in together with the records and the row of its group', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const group = appendTo(row, 'a', { records: [recordWrite('events', 'e')], row: { status: 'running' } });

      expect(await commitOne(store, group)).toEqual({ status: 'applied', order: 1 });
      expect(await store.readThread(row.thread)).toEqual({ ...row, status: 'running', inbox: 1 });
      expect(await commitOne(store, group)).toEqual({ status: 'applied', order: 1 });
    });

    test('[B11a][I2] an item of a group that is refused is not kept', async () => {
      const store = await giveStore();
      const row = await givenThread(store);

      const group = appendTo(row, 'a', { conditions: [{ kind: 'head', is: checkpointId(1) }] });

      expect((await commitOne(store, group)).status).toBe('head_moved');
      expect(await store.range('inbox', row.thread, {})).toEqual([]);
      expect((await store.readThread(row.thread))?.inbox).toBe(0);
    });

    test('[I10] an item never takes the place of another, though the row has forgotten that one', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const lost = recordWrite('inbox', `o:${sortable(1)}`);
      await commitOne(store, groupFor(row, 'lost', { records: [recordWrite('events', 'e'), lost] }));

      expect(await commitOne(store, appendTo(row, 'a'))).toEqual({ status: 'applied', order: 2 });
      expect((await store.get('inbox', row.thread, lost.key))?.commit).toBe(commitId('lost'));
    });
  });
}
