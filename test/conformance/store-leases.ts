import { describe, expect, test } from 'vitest';
import type { CommitId } from '../../src/model/ids.ts';
import type { Epoch } from '../../src/model/records.ts';
import type { DoomedRecord, Store } from '../../src/store/store.ts';
import {
  commitOne,
  conditioned,
  type GiveStore,
  givenThread,
  groupFor,
  incarnation,
  keysOf,
  recordWrite,
  thread,
} from './store-givens.ts';

export function testLeases(giveStore: GiveStore): void {
  describe('lease', () => {
    test('[B14b] taking it raises the local epoch and the resume count by one, and nothing else', async () => {
      const store = await giveStore();
      const row = await givenThread(store, '1', { epoch: { home: 2, local: 5 }, resumes: 1 });

      const leased = await store.takeLease(row.thread, row.incarnation);

      expect(leased).toEqual({ ...row, epoch: { home: 2, local: 6 }, resumes: 2 });
      expect(await store.readThread(row.thread)).toEqual(leased);
    });

    test('[B14b] one that is stolen is remembered, also when the next one is not', async () => {
      const store = await giveStore();
      const row = await givenThread(store, '1', { epoch: { home: 0, local: 5 } });

      const stolen = await store.takeLease(row.thread, row.incarnation, 'stolen');
      const next = await store.takeLease(row.thread, row.incarnation, 'free');

      expect(stolen).toMatchObject({ epoch: { local: 6 }, stolen: 6 });
      expect(next).toMatchObject({ epoch: { local: 7 }, stolen: 6 });
      expect(await store.readThread(row.thread)).toEqual(next);
    });

    test('[B14b][I4] whoever held it before cannot commit any more', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const frozen = await store.takeLease(row.thread, row.incarnation);
      const next = await store.takeLease(row.thread, row.incarnation);
      if (frozen === undefined || next === undefined) throw new Error('no lease');

      const late = await commitOne(store, conditioned(row, 'late', { kind: 'epoch', is: frozen.epoch }));
      const mine = await commitOne(store, conditioned(row, 'mine', { kind: 'epoch', is: next.epoch }));

      expect(late).toEqual({ status: 'epoch_stale', expected: frozen.epoch, actual: next.epoch });
      expect(mine).toEqual({ status: 'applied' });
      expect(await store.get('events', row.thread, 'event-late')).toBeUndefined();
    });

    test('[B14b] takers that race get epochs of their own', async () => {
      const store = await giveStore();
      const row = await givenThread(store);

      const leased = await Promise.all([1, 2, 3, 4].map(() => store.takeLease(row.thread, row.incarnation)));

      expect(leased.map((taken) => taken?.epoch.local).sort()).toEqual([1, 2, 3, 4]);
      expect((await store.readThread(row.thread))?.resumes).toBe(4);
    });

    test('[B14b] there is none of a thread or an incarnation that is not there', async () => {
      const store = await giveStore();
      const row = await givenThread(store);

      expect(await store.takeLease(thread('none'), row.incarnation)).toBeUndefined();
      expect(await store.takeLease(row.thread, incarnation('2'))).toBeUndefined();
      expect(await store.readThread(row.thread)).toEqual(row);
      expect(await store.readThread(thread('none'))).toBeUndefined();
    });

    test('[B5e] giving it back takes back the resume that it counted', async () => {
      const store = await giveStore();
      const row = await givenThread(store, '1', { resumes: 3 });
      const leased = await store.takeLease(row.thread, row.incarnation);
      if (leased === undefined) throw new Error('no lease');

      await store.releaseLease(row.thread, row.incarnation, leased.epoch);

      expect(await store.readThread(row.thread)).toEqual({ ...leased, resumes: 3 });
    });

    test('[B5e] giving it back after a step that cleared the count leaves it at 0', async () => {
      const store = await giveStore();
      const row = await givenThread(store, '1', { resumes: 3 });
      const leased = await store.takeLease(row.thread, row.incarnation);
      if (leased === undefined) throw new Error('no lease');
      await commitOne(store, groupFor(row, 'step', { row: { resumes: 0 } }));

      await store.releaseLease(row.thread, row.incarnation, leased.epoch);

      expect((await store.readThread(row.thread))?.resumes).toBe(0);
    });

    test('[B5e] giving back one that another has taken over does nothing', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const old = await store.takeLease(row.thread, row.incarnation);
      const current = await store.takeLease(row.thread, row.incarnation);
      if (old === undefined) throw new Error('no lease');

      await store.releaseLease(row.thread, row.incarnation, old.epoch);
      await store.releaseLease(row.thread, incarnation('2'), { home: 1, local: 2 });
      await store.releaseLease(thread('none'), row.incarnation, old.epoch);

      expect(await store.readThread(row.thread)).toEqual(current);
    });
  });

  describe('deleteRecords', () => {
    const doomed = [
      { table: 'blobs', key: 'a' },
      { table: 'events', key: 'b' },
      { table: 'segments', key: 'not-there' },
    ] as const;

    test('[A1c] deletes the records that are named, and no others', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const records = ['a', 'b', 'c'].flatMap((key) => [recordWrite('blobs', key), recordWrite('events', key)]);
      await commitOne(store, groupFor(row, 'a', { records }));

      const result = await store.deleteRecords(row.thread, row.incarnation, row.epoch, doomed);

      expect(result).toEqual({ status: 'applied' });
      expect(keysOf(await store.range('blobs', row.thread, {}))).toEqual(['b', 'c']);
      expect(keysOf(await store.range('events', row.thread, {}))).toEqual(['a', 'c']);
      expect(await store.readThread(row.thread)).toEqual(row);
    });

    describe('with other records under them, as a pin lies under its checkpoint', () => {
      const of = (key: string) => ({ table: 'checkpoints' as const, key });

      async function givenPinned(store: Store) {
        const row = await givenThread(store);
        const records = ['a', 'a.base', 'a.pin.f', 'ab', 'b'].map((key) => recordWrite('checkpoints', key));
        await commitOne(store, groupFor(row, 'a', { records }));
        const remove = (...records: DoomedRecord[]) =>
          store.deleteRecords(row.thread, row.incarnation, row.epoch, records);
        const keys = async () => keysOf(await store.range('checkpoints', row.thread, {}));
        return { row, remove, keys };
      }

      test('[A12e] deletes nothing, and names the record that stays', async () => {
        const { remove, keys } = await givenPinned(await giveStore());

        const held = { status: 'held', table: 'checkpoints', key: 'a.pin.f' };
        expect(await remove(of('b'), of('a'), of('a.base'))).toEqual(held);
        expect(await keys()).toEqual(['a', 'a.base', 'a.pin.f', 'ab', 'b']);
      });

      test('[A12e] deletes them together', async () => {
        const { remove, keys } = await givenPinned(await giveStore());

        expect(await remove(of('a.pin.f'), of('a'), of('a.base'))).toEqual({ status: 'applied' });
        expect(await keys()).toEqual(['ab', 'b']);
      });

      test('[A12e] deletes what lies under one, without it', async () => {
        const { remove, keys } = await givenPinned(await giveStore());

        expect(await remove(of('a.base'))).toEqual({ status: 'applied' });
        expect(await keys()).toEqual(['a', 'a.pin.f', 'ab', 'b']);
      });
    });

    test('[A12e] a record that is named as one commit wrote it stays where another wrote it since, and all others', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const pin = recordWrite('checkpoints', 'a.pin.f');
      await commitOne(store, groupFor(row, 'a', { records: [recordWrite('checkpoints', 'a'), pin] }));
      const [a, first] = await store.range('checkpoints', row.thread, {});
      await commitOne(store, groupFor(row, 'b', { records: [{ ...pin, mode: 'replace' }] }));
      const remove = (commit: CommitId | undefined) =>
        store.deleteRecords(row.thread, row.incarnation, row.epoch, [
          { table: 'checkpoints', key: 'a' },
          { table: 'checkpoints', key: 'a.pin.f', ...(commit !== undefined && { commit }) },
        ]);

      expect(await remove(first?.commit)).toEqual({ status: 'held', table: 'checkpoints', key: 'a.pin.f' });
      expect(await store.get('checkpoints', row.thread, 'a')).toEqual(a);
      const second = await store.get('checkpoints', row.thread, 'a.pin.f');
      expect(await remove(second?.commit)).toEqual({ status: 'applied' });
      expect(await store.range('checkpoints', row.thread, {})).toEqual([]);
    });

    test.each<[string, Epoch]>([
      ['local', { home: 1, local: 1 }],
      ['home', { home: 0, local: 2 }],
    ])('[A1c][B14b] deletes nothing under another epoch (%s)', async (_which, stated) => {
      const store = await giveStore();
      const row = await givenThread(store, '1', { epoch: { home: 1, local: 2 } });
      await commitOne(store, groupFor(row, 'a', { records: [recordWrite('blobs', 'a')] }));

      expect(await store.deleteRecords(row.thread, row.incarnation, stated, doomed)).toEqual({
        status: 'epoch_stale',
        expected: stated,
        actual: row.epoch,
      });
      expect(await store.get('blobs', row.thread, 'a')).toMatchObject({ key: 'a' });
    });

    test('[A1c] deletes nothing of another incarnation, or of no thread', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      await commitOne(store, groupFor(row, 'a', { records: [recordWrite('blobs', 'a')] }));

      const gone = { status: 'gone', incarnation: incarnation('2') };
      expect(await store.deleteRecords(row.thread, incarnation('2'), row.epoch, doomed)).toEqual(gone);
      expect((await store.deleteRecords(thread('none'), incarnation('2'), row.epoch, doomed)).status).toBe('gone');
      expect(await store.get('blobs', row.thread, 'a')).toMatchObject({ key: 'a' });
    });
  });
}
