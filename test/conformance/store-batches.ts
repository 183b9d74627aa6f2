import { describe, expect, test } from 'vitest';
import {
  checkpointId,
  commitId,
  commitOne,
  conditioned,
  type GiveStore,
  givenThread,
  groupFor,
  keysOf,
  recordWrite,
  stepFor,
  thread,
} from './store-givens.ts';

export function testBatches(giveStore: GiveStore): void {
  describe('several groups in one commit', () => {
    test('[I2] a group that fails takes none of its neighbours with it; results are in the order of the groups', async () => {
      const store = await giveStore();
      const rows = await Promise.all(['1', '2', '3'].map((name) => givenThread(store, name)));
      const [one, two, three] = rows;
      if (one === undefined || two === undefined || three === undefined) throw new Error('unreachable');

      const results = await store.commit([
        conditioned(one, 'a', { kind: 'head', is: null }),
        conditioned(two, 'b', { kind: 'head', is: checkpointId(1) }),
        conditioned(three, 'c', { kind: 'epoch', is: three.epoch }),
      ]);

      expect(results.map((result) => result.status)).toEqual(['applied', 'head_moved', 'applied']);
      const statuses = await Promise.all(rows.map(async (row) => (await store.readThread(row.thread))?.status));
      expect(statuses).toEqual(['done', 'idle', 'done']);
      expect(await store.get('events', two.thread, 'event-b')).toBeUndefined();
    });

    test('[A3c] the second of two groups from one head of one thread is refused', async () => {
      const store = await giveStore();
      const row = await givenThread(store);

      const results = await store.commit([
        stepFor(row, null, checkpointId(1), 'left'),
        stepFor(row, null, checkpointId(2), 'right'),
      ]);

      expect(results).toEqual([
        { status: 'applied' },
        { status: 'head_moved', expected: null, actual: checkpointId(1) },
      ]);
      expect(keysOf(await store.range('checkpoints', row.thread, {}))).toEqual([checkpointId(1)]);
    });

    test('[A3c] a group sees what an earlier one of the same thread did', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const blob = recordWrite('blobs', 'hash.0');

      const results = await store.commit([
        { ...stepFor(row, null, checkpointId(0), 'a'), records: [recordWrite('checkpoints', checkpointId(0)), blob] },
        {
          ...stepFor(row, checkpointId(0), checkpointId(1), 'b'),
          conditions: [
            { kind: 'head', is: checkpointId(0) },
            { kind: 'present', table: 'blobs', key: 'hash.0', commit: commitId('a') },
          ],
        },
        groupFor(row, 'c', { records: [recordWrite('events', 'fresh'), blob] }),
      ]);

      expect(results).toEqual([
        { status: 'applied' },
        { status: 'applied' },
        { status: 'exists', table: 'blobs', key: 'hash.0', commit: commitId('a') },
      ]);
      expect((await store.readThread(row.thread))?.head).toBe(checkpointId(1));
    });

    test('[I1] the same group twice in one commit is applied once', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const group = stepFor(row, null, checkpointId(0), 'a');

      expect(await store.commit([group, group])).toEqual([{ status: 'applied' }, { status: 'applied' }]);
    });

    test('[I2] a taken key in one group does not keep the others from being applied', async () => {
      const store = await giveStore();
      const [one, two] = [await givenThread(store, '1'), await givenThread(store, '2')];
      await commitOne(store, groupFor(one, 'a', { records: [recordWrite('blobs', 'taken')] }));

      const results = await store.commit([
        groupFor(two, 'b', { row: { status: 'done' } }),
        groupFor(one, 'c', { records: [recordWrite('events', 'fresh'), recordWrite('blobs', 'taken')] }),
      ]);

      expect(results.map((result) => result.status)).toEqual(['applied', 'exists']);
      expect((await store.readThread(two.thread))?.status).toBe('done');
      expect(await store.get('events', one.thread, 'fresh')).toBeUndefined();
    });

    test('[P7] many commits at once, each of its own thread, are all applied', async () => {
      const store = await giveStore();
      const rows = await Promise.all(Array.from({ length: 40 }, (_, index) => givenThread(store, String(index))));

      const results = await Promise.all(
        rows.map((row, index) => commitOne(store, stepFor(row, null, checkpointId(index), `c${index}`))),
      );

      expect(results.every((result) => result.status === 'applied')).toBe(true);
      const heads = await Promise.all(rows.map(async (row) => (await store.readThread(row.thread))?.head));
      expect(heads).toEqual(rows.map((_, index) => checkpointId(index)));
    });

    test('[A3c] many commits at once on one thread from one head: one is applied', async () => {
      const store = await giveStore();
      const row = await givenThread(store);

      const results = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          commitOne(store, stepFor(row, null, checkpointId(index), `c${index}`)),
        ),
      );

      expect(results.filter((result) => result.status === 'applied')).toHaveLength(1);
      expect(await store.range('checkpoints', row.thread, {})).toHaveLength(1);
    });

    test('[I2] no groups give no results', async () => {
      const store = await giveStore();

      expect(await store.commit([])).toEqual([]);
      expect(await store.readThread(thread('1'))).toBeUndefined();
    });
  });
}
