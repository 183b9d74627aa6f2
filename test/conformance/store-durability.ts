import { describe, expect, test } from 'vitest';
import { tables } from '../../src/model/records.ts';
import type { Store } from '../../src/store/store.ts';
import {
  checkpointId,
  commitId,
  commitOne,
  type GiveStore,
  givenThread,
  groupFor,
  incarnation,
  recordWrite,
  rowFor,
  type StoreSubject,
  stepFor,
  thread,
} from './store-givens.ts';

export function testDurability(giveStore: GiveStore, { reopen, exempt }: StoreSubject): void {
  describe('close', () => {
    test('[I1] waits for what is under way', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      let isCommitted = false;
      const committed = commitOne(store, groupFor(row, 'a')).then((result) => {
        isCommitted = true;
        return result;
      });

      await store.close();

      for (let turn = 0; turn < 10; turn += 1) await undefined; // the order within one turn means nothing
      expect(isCommitted).toBe(true);
      expect((await committed).status).toBe('applied');
    });

    const { thread: hash, incarnation: first, epoch } = rowFor(thread('1'));
    const operations: readonly [string, (store: Store) => Promise<unknown>][] = [
      ['commit', (store) => store.commit([groupFor(rowFor(hash), 'a')])],
      ['createThread', (store) => store.createThread(rowFor(hash), commitId('a'), [])],
      ['readThread', (store) => store.readThread(hash)],
      ['readTombstone', (store) => store.readTombstone(hash)],
      ['listThreads', (store) => store.listThreads({ namespace: 'n', owner: 'o', limit: 1 })],
      ['isEmpty', (store) => store.isEmpty()],
      ['takeLease', (store) => store.takeLease(hash, first)],
      ['releaseLease', (store) => store.releaseLease(hash, first, epoch)],
      ['createRecords', (store) => store.createRecords(hash, commitId('a'), [recordWrite('wraps', 'ring')])],
      ['deleteThread', (store) => store.deleteThread(hash, first, 1)],
      ['deleteRecords', (store) => store.deleteRecords(hash, first, epoch, [])],
      ['get', (store) => store.get('events', hash, 'a')],
      ['range', (store) => store.range('events', hash, {})],
    ];

    test.each(operations)('[I1] after it, %s is refused with a typed error', async (_name, operate) => {
      const store = await giveStore();
      await store.close();

      await expect(operate(store)).rejects.toMatchObject({ name: 'HoldfastError', code: 'store_closed' });
    });

    test('[I1] refuses at once, while what came before is still under way', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const before = commitOne(store, groupFor(row, 'a'));
      const closing = store.close();

      await expect(commitOne(store, groupFor(row, 'b'))).rejects.toMatchObject({ code: 'store_closed' });
      await closing;
      expect((await before).status).toBe('applied');
    });

    test('[I1] given again does nothing', async () => {
      const store = await giveStore();
      await store.close();

      await expect(store.close()).resolves.toBeUndefined();
    });
  });

  const reason = reopen === undefined ? 'the suite was given no way to reopen it' : exempt?.survives_reopen;
  if (reopen === undefined || reason !== undefined) {
    test.skip(`[I1] survives_reopen (exempt: ${exempt?.survives_reopen ?? reason})`, () => undefined);
    return;
  }

  describe('reopened', () => {
    test('[I1] it has everything that was acknowledged, strict and relaxed', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const records = tables.map((table) => recordWrite(table, 'key'));
      await commitOne(store, groupFor(row, 'strict', { records, row: { status: 'running', head: checkpointId(4) } }));
      await commitOne(store, groupFor(row, 'relaxed', { durability: 'relaxed' }));
      const kept = await store.readThread(row.thread);

      const next = await reopen(store);

      expect(next.name).toBe(store.name);
      expect(await next.readThread(row.thread)).toEqual(kept);
      for (const table of tables) expect((await next.get(table, row.thread, 'key'))?.commit).toBe(commitId('strict'));
      expect(await next.get('events', row.thread, 'event-relaxed')).toMatchObject({ key: 'event-relaxed' });
      await next.close();
    });

    test('[I1] a commit given again is recognised', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const step = stepFor(row, null, checkpointId(0), 'first');
      await commitOne(store, step);

      const next = await reopen(store);

      expect(await commitOne(next, step)).toEqual({ status: 'applied' });
      await next.close();
    });

    test('[B14b] epochs, tombstones and records of no thread are kept', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const leased = await store.takeLease(row.thread, row.incarnation);
      const deleted = await givenThread(store, 'deleted', { epoch: { home: 1, local: 3 } });
      await store.deleteThread(deleted.thread, deleted.incarnation, 1);
      await store.createRecords(thread('ring'), commitId('ring'), [recordWrite('wraps', 'ring')]);

      const next = await reopen(store);

      expect(await next.readThread(row.thread)).toEqual(leased);
      const again = await givenThread(next, 'deleted', { incarnation: incarnation('2') });
      expect(again.epoch.local).toBe(4);
      expect(await next.get('wraps', thread('ring'), 'ring')).toMatchObject({ key: 'ring' });
      expect(await next.isEmpty()).toBe(false);
      await next.close();
    });
  });
}
