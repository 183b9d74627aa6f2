import { describe, expect, test } from 'vitest';
import type { CommitGroup, Condition } from '../../src/model/commit.ts';
import type { ThreadRow } from '../../src/model/records.ts';
import type { Store } from '../../src/store/store.ts';
import {
  checkpointId,
  commitId,
  commitOne,
  conditioned,
  type GiveStore,
  givenThread,
  groupFor,
  recordWrite,
  thread,
  waitId,
} from './store-givens.ts';

export function testConditions(giveStore: GiveStore): void {
  describe('conditions', () => {
    /** Whether neither the row nor the group's record was written. */
    async function expectUntouched(store: Store, row: ThreadRow, group: CommitGroup): Promise<void> {
      expect(await store.readThread(row.thread)).toEqual(row);
      for (const { table, key } of group.records) expect(await store.get(table, row.thread, key)).toBeUndefined();
    }

    test('[A3c][I4] another head than expected refuses the group and names both', async () => {
      const store = await giveStore();
      const row = await givenThread(store, '1', { head: checkpointId(3) });
      const group = conditioned(row, 'a', { kind: 'head', is: checkpointId(2) });

      expect(await commitOne(store, group)).toEqual({
        status: 'head_moved',
        expected: checkpointId(2),
        actual: checkpointId(3),
      });
      await expectUntouched(store, row, group);
    });

    test('[A3c][I4] no head where one is expected refuses the group', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const group = conditioned(row, 'a', { kind: 'head', is: checkpointId(2) });

      expect(await commitOne(store, group)).toEqual({ status: 'head_moved', expected: checkpointId(2), actual: null });
      await expectUntouched(store, row, group);
    });

    test.each([
      ['local', { home: 1, local: 4 }],
      ['home', { home: 2, local: 5 }],
      ['later local', { home: 1, local: 6 }],
    ])('[B14b][I4] another epoch (%s) than stated refuses the group and names both', async (_which, stated) => {
      const store = await giveStore();
      const row = await givenThread(store, '1', { epoch: { home: 1, local: 5 } });
      const group = conditioned(row, 'a', { kind: 'epoch', is: stated });

      expect(await commitOne(store, group)).toEqual({ status: 'epoch_stale', expected: stated, actual: row.epoch });
      await expectUntouched(store, row, group);
    });

    test('[B3a][I4] another ledger counter than expected refuses the group and names both', async () => {
      const store = await giveStore();
      const row = await givenThread(store, '1', { ledger: 2 });
      const group = conditioned(row, 'a', { kind: 'ledger', is: 1 });

      expect(await commitOne(store, group)).toEqual({ status: 'ledger_moved', expected: 1, actual: 2 });
      await expectUntouched(store, row, group);
    });

    test('[B11b][I4] another newest inbox item than expected refuses the group and names both', async () => {
      const store = await giveStore();
      const row = await givenThread(store, '1', { inbox: 2 });
      const group = conditioned(row, 'a', { kind: 'inbox', is: 1 });

      expect(await commitOne(store, group)).toEqual({ status: 'inbox_moved', expected: 1, actual: 2 });
      await expectUntouched(store, row, group);
      expect((await commitOne(store, conditioned(row, 'b', { kind: 'inbox', is: 2 }))).status).toBe('applied');
    });

    test('[B9b][I4] a wait that was never asked is closed', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const group = conditioned(row, 'a', { kind: 'wait_open', wait: waitId('1') });

      expect(await commitOne(store, group)).toEqual({ status: 'wait_closed', wait: waitId('1') });
      await expectUntouched(store, row, group);
    });

    async function givenWait(store: Store, row: ThreadRow): Promise<void> {
      await commitOne(store, groupFor(row, 'ask', { records: [recordWrite('waits', `w:${waitId('1')}`)] }));
    }

    function answerTo(row: ThreadRow, name: string): CommitGroup {
      return groupFor(row, name, {
        conditions: [{ kind: 'wait_open', wait: waitId('1') }],
        records: [recordWrite('waits', `a:${waitId('1')}`)],
      });
    }

    test('[B9b] an open wait takes an answer', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      await givenWait(store, row);

      expect(await commitOne(store, answerTo(row, 'yes'))).toEqual({ status: 'applied' });
      expect((await store.get('waits', row.thread, `a:${waitId('1')}`))?.commit).toBe(commitId('yes'));
    });

    test('[B9b][I4] of answers racing for one wait, exactly one is kept, and the others find it closed', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      await givenWait(store, row);

      const results = await Promise.all(
        ['yes', 'no', 'expired'].map(async (name) => ({
          name,
          status: (await commitOne(store, answerTo(row, name))).status,
        })),
      );

      const winners = results.filter((result) => result.status === 'applied');
      expect(winners).toHaveLength(1);
      expect(results.filter((result) => result.status === 'wait_closed')).toHaveLength(2);
      const kept = await store.get('waits', row.thread, `a:${waitId('1')}`);
      expect(kept?.commit).toBe(commitId(winners[0]?.name ?? 'none'));
    });

    test('[B9b][I1] the winning answer given again is `applied`', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      await givenWait(store, row);
      await commitOne(store, answerTo(row, 'yes'));

      expect(await commitOne(store, answerTo(row, 'yes'))).toEqual({ status: 'applied' });
    });

    test('[A8a][I4] a blob that is referred to and not there refuses the group and is named', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const group = conditioned(row, 'a', { kind: 'present', table: 'blobs', key: 'hash.0' });

      expect(await commitOne(store, group)).toEqual({ status: 'missing', table: 'blobs', key: 'hash.0' });
      await expectUntouched(store, row, group);
    });

    test.each<[string, Partial<Extract<Condition, { kind: 'present' }>>, 'applied' | 'missing']>([
      ['that is there', {}, 'applied'],
      ['written by the commit that is named', { commit: commitId('blob') }, 'applied'],
      ['written by another commit than named', { commit: commitId('other') }, 'missing'],
      ['of the same key in another table', { table: 'segments' }, 'missing'],
      ['of the thread that is named', { thread: thread('1') }, 'applied'],
      ['of another thread than named', { thread: thread('2') }, 'missing'],
    ])('[A8a][I4] a record %s: %s gives "%s"', async (_what, change, status) => {
      const store = await giveStore();
      const row = await givenThread(store);
      await commitOne(store, groupFor(row, 'blob', { records: [recordWrite('blobs', 'hash.0')] }));

      const group = conditioned(row, 'a', { kind: 'present', table: 'blobs', key: 'hash.0', ...change });

      expect((await commitOne(store, group)).status).toBe(status);
    });

    test('[I4][I4] a record of another thread can be a condition', async () => {
      const store = await giveStore();
      const source = await givenThread(store, 'source');
      const fork = await givenThread(store, 'fork');
      await commitOne(store, groupFor(source, 'blob', { records: [recordWrite('blobs', 'hash.0')] }));

      const present = { kind: 'present', table: 'blobs', key: 'hash.0' } as const;

      expect((await commitOne(store, conditioned(fork, 'a', { ...present, thread: source.thread }))).status).toBe(
        'applied',
      );
      expect((await commitOne(store, conditioned(fork, 'b', present))).status).toBe('missing');
    });

    test('[A8a] the same record asked for twice, with and without its commit, holds', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      await commitOne(store, groupFor(row, 'blob', { records: [recordWrite('blobs', 'hash.0')] }));
      const present = { kind: 'present', table: 'blobs', key: 'hash.0' } as const;

      const group = conditioned(row, 'a', { ...present, commit: commitId('blob') }, present);

      expect((await commitOne(store, group)).status).toBe('applied');
    });

    test('[I4] the first condition that fails, in order, is the result', async () => {
      const store = await giveStore();
      const row = await givenThread(store, '1', { ledger: 1 });
      const ledger: Condition = { kind: 'ledger', is: 0 };
      const head: Condition = { kind: 'head', is: checkpointId(9) };
      const epoch: Condition = { kind: 'epoch', is: row.epoch };

      expect((await commitOne(store, conditioned(row, 'a', epoch, ledger, head))).status).toBe('ledger_moved');
      expect((await commitOne(store, conditioned(row, 'b', epoch, head, ledger))).status).toBe('head_moved');
    });

    test('[I4] a failed condition comes before a taken key', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      await commitOne(store, groupFor(row, 'a', { records: [recordWrite('blobs', 'taken')] }));

      const group = groupFor(row, 'b', {
        conditions: [{ kind: 'ledger', is: 7 }],
        records: [recordWrite('events', 'fresh'), recordWrite('blobs', 'taken')],
      });

      expect((await commitOne(store, group)).status).toBe('ledger_moved');
    });

    test('[I4] a group all of whose conditions hold is applied', async () => {
      const store = await giveStore();
      const row = await givenThread(store, '1', { head: checkpointId(1), ledger: 4, epoch: { home: 2, local: 3 } });
      await givenWait(store, row);

      const group = conditioned(
        row,
        'a',
        { kind: 'head', is: checkpointId(1) },
        { kind: 'epoch', is: { home: 2, local: 3 } },
        { kind: 'ledger', is: 4 },
        { kind: 'wait_open', wait: waitId('1') },
        { kind: 'present', table: 'waits', key: `w:${waitId('1')}` },
      );

      expect(await commitOne(store, group)).toEqual({ status: 'applied' });
      expect((await store.readThread(row.thread))?.status).toBe('done');
    });
  });
}
