import { describe, expect, test } from 'vitest';
import {
  bytes,
  checkpointId,
  commitId,
  commitOne,
  type GiveStore,
  givenThread,
  groupFor,
  incarnation,
  recordWrite,
  rowFor,
  stepFor,
  thread,
} from './store-givens.ts';

export function testCommits(giveStore: GiveStore): void {
  describe('commit', () => {
    test('[A3c] moves the head together with the checkpoint', async () => {
      const store = await giveStore();
      const row = await givenThread(store);

      const result = await commitOne(store, stepFor(row, null, checkpointId(0), 'first'));

      expect(result).toEqual({ status: 'applied' });
      expect((await store.readThread(row.thread))?.head).toBe(checkpointId(0));
      expect((await store.get('checkpoints', row.thread, checkpointId(0)))?.commit).toBe(commitId('first'));
    });

    test('[A3c] changes of the row exactly the fields that it gives', async () => {
      const store = await giveStore();
      const row = await givenThread(store, '1', { resumes: 2 });
      const change = {
        status: 'waiting',
        sequence: 4,
        ledger: 3,
        resumes: 0,
        wakeUpAtMs: 9_000,
        updatedAtMs: 5_000,
        control: bytes(4, 4),
      } as const;

      await commitOne(store, groupFor(row, 'a', { row: change }));

      expect(await store.readThread(row.thread)).toEqual({ ...row, ...change });
    });

    test('[I2] without a change of the row leaves the row as it is', async () => {
      const store = await giveStore();
      const row = await givenThread(store);

      await commitOne(store, groupFor(row, 'a'));

      expect(await store.readThread(row.thread)).toEqual(row);
    });

    test('[A3c] of two commits racing from one head, exactly one is applied, and the other learns both heads', async () => {
      const store = await giveStore();
      const row = await givenThread(store);

      const results = await Promise.all([
        commitOne(store, stepFor(row, null, checkpointId(1), 'left')),
        commitOne(store, stepFor(row, null, checkpointId(2), 'right')),
      ]);

      expect(results.map((result) => result.status).sort()).toEqual(['applied', 'head_moved']);
      const head = (await store.readThread(row.thread))?.head ?? null;
      expect(results).toContainEqual({ status: 'head_moved', expected: null, actual: head });
    });

    test('[I2] whose last record cannot be created leaves no trace of the others', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      await commitOne(store, groupFor(row, 'a', { records: [recordWrite('ledger', 'taken')] }));

      const group = groupFor(row, 'b', {
        records: [recordWrite('checkpoints', 'fresh'), recordWrite('blobs', 'fresh'), recordWrite('ledger', 'taken')],
        row: { status: 'done' },
      });

      expect(await commitOne(store, group)).toEqual({
        status: 'exists',
        table: 'ledger',
        key: 'taken',
        commit: commitId('a'),
      });
      expect(await store.get('checkpoints', row.thread, 'fresh')).toBeUndefined();
      expect(await store.get('blobs', row.thread, 'fresh')).toBeUndefined();
      expect(await store.readThread(row.thread)).toEqual(row);
    });

    test('[I10] a key taken by another commit keeps what it holds', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      await commitOne(store, groupFor(row, 'a', { records: [recordWrite('blobs', 'k', { body: bytes(1) })] }));

      await commitOne(store, groupFor(row, 'b', { records: [recordWrite('blobs', 'k', { body: bytes(2) })] }));

      expect((await store.get('blobs', row.thread, 'k'))?.body).toEqual(bytes(1));
    });

    test('[I2] `replace` writes over whatever is there', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      await commitOne(store, groupFor(row, 'a', { records: [recordWrite('wraps', 'index', { body: bytes(1) })] }));
      const replacement = recordWrite('wraps', 'index', { mode: 'replace', body: bytes(2), format: 3 });

      expect(await commitOne(store, groupFor(row, 'b', { records: [replacement] }))).toEqual({ status: 'applied' });

      const { key, format, plain, body } = replacement;
      expect(await store.get('wraps', row.thread, 'index')).toEqual({
        key,
        format,
        plain,
        body,
        commit: commitId('b'),
      });
    });

    test('[I2] a record of the same commit that is there already is no obstacle', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      await commitOne(store, groupFor(row, 'a', { records: [recordWrite('blobs', 'half')] }));

      // The witness is new, the second record was left by an earlier try of the same group.
      const whole = groupFor(row, 'a', { records: [recordWrite('events', 'witness'), recordWrite('blobs', 'half')] });

      expect(await commitOne(store, whole)).toEqual({ status: 'applied' });
      expect(await store.get('events', row.thread, 'witness')).toMatchObject({ key: 'witness' });
    });

    test('[I1] given again after it was applied is `applied`, though its conditions fail by now, and writes nothing', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const first = stepFor(row, null, checkpointId(0), 'first');
      await commitOne(store, first);
      await commitOne(store, stepFor(row, checkpointId(0), checkpointId(1), 'second'));

      const again = { ...first, records: [...first.records, recordWrite('events', 'new')] };

      expect(await commitOne(store, again)).toEqual({ status: 'applied' });
      expect((await store.readThread(row.thread))?.head).toBe(checkpointId(1));
      expect(await store.get('events', row.thread, 'new')).toBeUndefined();
    });

    test('[I1] given again with a witness to replace is recognised as well', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const records = [recordWrite('wraps', 'index', { mode: 'replace' })];
      await commitOne(store, groupFor(row, 'a', { records, row: { ledger: 1 } }));
      await commitOne(store, groupFor(row, 'b', { row: { ledger: 2 } }));

      expect(await commitOne(store, groupFor(row, 'a', { records, row: { ledger: 1 } }))).toEqual({
        status: 'applied',
      });
      expect((await store.readThread(row.thread))?.ledger).toBe(2);
    });

    test('[I4] to a thread that is not there is `gone`', async () => {
      const store = await giveStore();

      const result = await commitOne(store, groupFor(rowFor(thread('none')), 'a'));

      expect(result).toEqual({ status: 'gone', incarnation: incarnation('1') });
      expect(await store.get('events', thread('none'), 'event-a')).toBeUndefined();
    });

    test('[I4] to another incarnation of the thread is `gone`, and changes nothing', async () => {
      const store = await giveStore();
      const row = await givenThread(store);

      const group = groupFor({ ...row, incarnation: incarnation('2') }, 'a', { row: { status: 'done' } });

      expect(await commitOne(store, group)).toEqual({ status: 'gone', incarnation: incarnation('2') });
      expect(await store.readThread(row.thread)).toEqual(row);
      expect(await store.get('events', row.thread, 'event-a')).toBeUndefined();
    });

    test('[I4] may consist of a change of the row alone', async () => {
      const store = await giveStore();
      const row = await givenThread(store);

      await commitOne(store, groupFor(row, 'a', { records: [], row: { wakeUpAtMs: 7 } }));

      expect((await store.readThread(row.thread))?.wakeUpAtMs).toBe(7);
    });
  });

  describe('createRecords', () => {
    const ring = thread('key-ring');

    test('[D2a] writes records that belong to no thread', async () => {
      const store = await giveStore();

      const result = await store.createRecords(ring, commitId('a'), [recordWrite('wraps', 'ring')]);

      expect(result).toEqual({ status: 'applied' });
      expect((await store.get('wraps', ring, 'ring'))?.commit).toBe(commitId('a'));
      expect(await store.readThread(ring)).toBeUndefined();
    });

    test('[I10] writes none of them if one key is taken', async () => {
      const store = await giveStore();
      await store.createRecords(ring, commitId('a'), [recordWrite('wraps', 'index')]);

      const records = [recordWrite('wraps', 'ring'), recordWrite('wraps', 'index', { mode: 'replace' })];

      expect(await store.createRecords(ring, commitId('b'), records)).toEqual({
        status: 'exists',
        table: 'wraps',
        key: 'index',
        commit: commitId('a'),
      });
      expect(await store.get('wraps', ring, 'ring')).toBeUndefined();
      expect((await store.get('wraps', ring, 'index'))?.commit).toBe(commitId('a'));
    });

    test('[I1] given again is `applied`, and writes nothing', async () => {
      const store = await giveStore();
      await store.createRecords(ring, commitId('a'), [recordWrite('wraps', 'ring', { body: bytes(1) })]);

      const again = await store.createRecords(ring, commitId('a'), [recordWrite('wraps', 'ring', { body: bytes(2) })]);

      expect(again).toEqual({ status: 'applied' });
      expect((await store.get('wraps', ring, 'ring'))?.body).toEqual(bytes(1));
    });

    test('[I4] of two racing for one key, exactly one is applied', async () => {
      const store = await giveStore();

      const results = await Promise.all(
        ['a', 'b'].map((name) => store.createRecords(ring, commitId(name), [recordWrite('wraps', 'ring')])),
      );

      expect(results.map((result) => result.status).sort()).toEqual(['applied', 'exists']);
    });
  });
}
