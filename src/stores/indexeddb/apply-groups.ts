import type { CommitGroup, Durability, GroupResult } from '../../model/commit.ts';
import type { StoredRecord } from '../../model/records.ts';
import { type GroupWrites, judgeGroup, needsOf } from '../../store/apply-group.ts';
import type { IndexedDbConnection, Transaction } from './connection.ts';
import { isKeyTaken } from './faults.ts';
import type { ObjectStoreName } from './open-handle.ts';
import { sightOf } from './sight-of.ts';

/**
 * Applies all groups in one transaction (I2): reads, then every write in one burst (I3).
 *
 * First it reads no key that a group creates: an insert fails by itself where the key is taken, and that aborts the
 * transaction, after which all is done again with every key looked up. A commit hardly ever meets a taken key, and so
 * it costs two reads instead of one for each record.
 */
export async function applyGroups(
  connection: IndexedDbConnection,
  groups: readonly CommitGroup[],
  durability: Durability,
): Promise<readonly GroupResult[]> {
  const wanted: Transaction = { operation: 'commit', scope: scopeOf(groups), writes: durability };
  try {
    return await connection.transact(wanted, (transaction) => judgeAndWrite(transaction, groups, 'insert'));
  } catch (error) {
    if (!isKeyTaken(error instanceof Error ? error.cause : undefined)) throw error;
    return connection.transact(wanted, (transaction) => judgeAndWrite(transaction, groups, 'look_first'));
  }
}

async function judgeAndWrite(
  transaction: IDBTransaction,
  groups: readonly CommitGroup[],
  how: 'insert' | 'look_first',
): Promise<readonly GroupResult[]> {
  const sight = await sightOf(transaction, {
    threads: groups.flatMap(({ thread, also }) => (also === undefined ? [thread] : [thread, also.thread])),
    needs: groups.flatMap((group) => needsOf(group, how === 'insert')),
    inboxes: how === 'insert' ? [] : groups.filter((group) => group.inbox !== undefined).map((group) => group.thread),
  });
  return groups.map((group) => {
    const { result, writes } = judgeGroup(group, sight);
    if (writes !== undefined) {
      sight.wrote(writes);
      write(transaction, writes, how);
    }
    return result;
  });
}

/** Issues the writes. Their failure is seen by whoever waits for the transaction. */
export function write(
  transaction: IDBTransaction,
  { records, row, otherRow }: GroupWrites,
  how: 'insert' | 'look_first',
): void {
  for (const { table, thread, record, mode } of records) {
    const store = transaction.objectStore(table);
    const key = [thread, record.key];
    const value = record satisfies StoredRecord;
    if (mode === 'create' && how === 'insert') store.add(value, key);
    else store.put(value, key);
  }
  for (const each of [row, otherRow]) {
    if (each !== undefined) transaction.objectStore('threads').put(each, each.thread);
  }
}

function scopeOf(groups: readonly CommitGroup[]): readonly ObjectStoreName[] {
  const scope = new Set<ObjectStoreName>(['threads']);
  for (const { records, conditions, inbox, also } of groups) {
    for (const { table } of [...records, ...(also?.records ?? [])]) scope.add(table);
    for (const condition of [...conditions, ...(also?.conditions ?? [])]) {
      if (condition.kind === 'present') scope.add(condition.table);
      if (condition.kind === 'wait_open') scope.add('waits');
    }
    if (inbox !== undefined) scope.add('inbox');
  }
  return [...scope];
}
