import { describe, expect, test } from 'vitest';
import type { OtherThread } from '../../src/model/commit.ts';
import type { Incarnation } from '../../src/model/ids.ts';
import type { ThreadRow } from '../../src/model/records.ts';
import {
  checkpointId,
  commitOne,
  type GiveStore,
  givenThread,
  givenWait,
  groupFor,
  recordWrite,
  waitId,
} from './store-givens.ts';

export function testOtherThreads(giveStore: GiveStore): void {
  describe('a group that writes to another thread too', () => {
    const given = async () => {
      const store = await giveStore();
      const [child, parent] = [await givenThread(store, '1'), await givenThread(store, '2')];
      await givenWait(store, parent);
      return { store, child, parent };
    };
    const answerFor = (row: ThreadRow, change: Partial<OtherThread> = {}): OtherThread => ({
      thread: row.thread,
      incarnation: row.incarnation,
      conditions: [{ kind: 'wait_open', wait: waitId('1') }],
      records: [recordWrite('waits', `a:${waitId('1')}`)],
      row: { wakeUpAtMs: 77 },
      ...change,
    });

    test('[B2a][I2] applies both: the records and the row of each', async () => {
      const { store, child, parent } = await given();
      const group = groupFor(child, 'end', { row: { status: 'done' }, also: answerFor(parent) });

      expect(await commitOne(store, group)).toEqual({ status: 'applied' });
      const { key, body } = recordWrite('waits', `a:${waitId('1')}`);
      expect(await store.get('waits', parent.thread, key)).toMatchObject({ key, body, commit: group.id });
      expect(await store.get('waits', child.thread, `a:${waitId('1')}`)).toBeUndefined();
      expect(await store.readThread(parent.thread)).toMatchObject({ status: parent.status, wakeUpAtMs: 77 });
      expect((await store.readThread(child.thread))?.status).toBe('done');
    });

    test('[B2a][I2] writes nothing where the wait of the other thread is closed', async () => {
      const { store, child, parent } = await given();
      await commitOne(store, groupFor(parent, 'won', { records: [recordWrite('waits', `a:${waitId('1')}`)] }));
      const group = groupFor(child, 'end', { row: { status: 'done' }, also: answerFor(parent) });

      expect(await commitOne(store, group)).toEqual({ status: 'wait_closed', wait: waitId('1') });
      expect((await store.readThread(child.thread))?.status).toBe(child.status);
      expect(await store.get('events', child.thread, 'event-end')).toBeUndefined();
    });

    test('[B2a][I2] writes nothing where the other thread is gone, and says which', async () => {
      const { store, child, parent } = await given();
      const incarnation = 'another' as Incarnation;
      const group = groupFor(child, 'end', { row: { status: 'done' }, also: answerFor(parent, { incarnation }) });

      expect(await commitOne(store, group)).toEqual({ status: 'gone', incarnation });
      expect((await store.readThread(child.thread))?.status).toBe(child.status);
    });

    test('[B2a][I2] writes nothing to the other thread where its own condition fails', async () => {
      const { store, child, parent } = await given();
      const conditions = [{ kind: 'head', is: checkpointId(9) }] as const;
      const group = groupFor(child, 'end', { conditions, also: answerFor(parent) });

      expect((await commitOne(store, group)).status).toBe('head_moved');
      expect(await store.get('waits', parent.thread, `a:${waitId('1')}`)).toBeUndefined();
      expect((await store.readThread(parent.thread))?.wakeUpAtMs).toBe(parent.wakeUpAtMs);
    });

    test('[I2] given again, it is applied and writes nothing', async () => {
      const { store, child, parent } = await given();
      const group = groupFor(child, 'end', { row: { status: 'done' }, also: answerFor(parent) });
      await commitOne(store, group);
      await commitOne(store, groupFor(parent, 'later', { row: { wakeUpAtMs: 5 } }));

      expect(await commitOne(store, group)).toEqual({ status: 'applied' });
      expect((await store.readThread(parent.thread))?.wakeUpAtMs).toBe(5);
    });
  });
}
