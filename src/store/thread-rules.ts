/** The rules of a thread's row, written once for every adapter: creation, lease, deletion. Pure. */
import type { Condition, GroupResult, RecordWrite } from '../model/commit.ts';
import type { CommitId, Incarnation, ThreadHash } from '../model/ids.ts';
import type { Epoch, LeaseKind, Table, ThreadRow, Tombstone } from '../model/records.ts';
import { missingRecord, placed, type Sight, takenKey, type Verdict } from './apply-group.ts';
import { storeErrors } from './errors.ts';
import type { CreateResult, DeletionResult, DoomedRecord } from './store.ts';

export interface ThreadCreation {
  readonly row: ThreadRow;
  readonly commit: CommitId;
  readonly records: readonly RecordWrite[];
  readonly conditions: readonly Extract<Condition, { kind: 'present' }>[];
}

/**
 * Whether the thread is made. A record in the way of one to be created is what is left of a thread whose row was lost:
 * writing over it could destroy the only key to that thread, so it fails instead (I10).
 *
 * @throws `store_failed` in that case.
 */
export function judgeCreation(
  { row, commit, records, conditions }: ThreadCreation,
  sight: Sight,
  tombstone: Tombstone | undefined,
): Verdict<CreateResult> {
  const there = sight.row(row.thread);
  if (there !== undefined) return { result: { status: 'exists', row: there } };
  for (const condition of conditions) {
    const missing = missingRecord(condition, row.thread, sight);
    if (missing !== undefined) return { result: missing };
  }
  const taken = takenKey(records, row.thread, commit, sight);
  if (taken !== undefined) {
    throw storeErrors.make('store_failed', {
      operation: 'create a thread',
      reason: `the row of thread ${row.thread} is lost, but its record "${taken.key}" in ${taken.table} is there`,
    });
  }
  // Epochs never start again (PROTOCOL 5): whoever held the deleted thread must not fit the new one.
  const made = tombstone === undefined ? row : { ...row, epoch: { ...row.epoch, local: tombstone.epoch.local + 1 } };
  return {
    result: { status: 'created', row: made },
    writes: { records: placed(records, row.thread, commit), row: made },
  };
}

/** All of the records, or none because one's key is taken; none either if the first shows that it was done before. */
export function judgeRecords(
  owner: ThreadHash,
  commit: CommitId,
  records: readonly RecordWrite[],
  sight: Sight,
): Verdict<Extract<GroupResult, { status: 'applied' | 'exists' }>> {
  const creations = records.map((record) => ({ ...record, mode: 'create' as const }));
  const [witness] = creations;
  if (witness !== undefined && sight.find({ ...witness, thread: owner })?.commit === commit) {
    return { result: { status: 'applied' } };
  }
  const taken = takenKey(creations, owner, commit, sight);
  if (taken !== undefined) return { result: taken };
  return { result: { status: 'applied' }, writes: { records: placed(creations, owner, commit) } };
}

/**
 * The row of whoever takes the lease. The resume is counted before anything is decoded, so that what stops its worker each time
 * is noticed (PROTOCOL 5).
 */
export function leasedRow(row: ThreadRow, kind: LeaseKind = 'free'): ThreadRow {
  const local = row.epoch.local + 1;
  const leased = { ...row, epoch: { ...row.epoch, local }, resumes: row.resumes + 1 };
  return kind === 'stolen' ? { ...leased, stolen: local } : leased;
}

/**
 * The row after a graceful end: the resume that the lease counted is taken back, unless a step has cleared it (PROTOCOL 5). A freeze
 * that the browser announces ends no lease yet.
 */
export function releasedRow(row: ThreadRow): ThreadRow {
  return { ...row, resumes: Math.max(0, row.resumes - 1) };
}

/** Why whoever states this incarnation and epoch may not act on the thread; `undefined` if they may. */
export function refusedOwner(
  row: ThreadRow | undefined,
  incarnation: Incarnation,
  epoch: Epoch,
): Extract<GroupResult, { status: 'epoch_stale' | 'gone' }> | undefined {
  if (row?.incarnation !== incarnation) return { status: 'gone', incarnation };
  if (row.epoch.home === epoch.home && row.epoch.local === epoch.local) return undefined;
  return { status: 'epoch_stale', expected: epoch, actual: row.epoch };
}

export function byTable(doomed: readonly DoomedRecord[]): ReadonlyMap<Table, readonly DoomedRecord[]> {
  const found = new Map<Table, DoomedRecord[]>();
  for (const record of doomed) {
    const some = found.get(record.table);
    if (some === undefined) found.set(record.table, [record]);
    else some.push(record);
  }
  return found;
}

/** The key that this one lies under: of `<checkpoint>.pin.<fork>` the checkpoint's. */
export function keyAbove(key: string): string | undefined {
  const [above, ...under] = key.split('.');
  return under.length === 0 ? undefined : above;
}

/** What keeps these records of one table from being deleted, among the records that are there under their keys. */
export function holding(
  table: Table,
  doomed: readonly DoomedRecord[],
  there: readonly { readonly key: string; readonly commit?: CommitId }[],
): Extract<DeletionResult, { status: 'held' }> | undefined {
  const known = new Map(doomed.map((record) => [record.key, record]));
  const found = there.find(({ key, commit }) => {
    const own = known.get(key);
    return own === undefined ? known.has(keyAbove(key) ?? '') : own.commit !== undefined && own.commit !== commit;
  });
  return found && { status: 'held', table, key: found.key };
}

/** Whether this is the thread that is to be deleted, as it was when that was decided. */
export function isDoomed(
  row: ThreadRow | undefined,
  incarnation: Incarnation,
  known: Pick<ThreadRow, 'epoch' | 'inbox'> | undefined,
): row is ThreadRow {
  if (row?.incarnation !== incarnation) return false;
  return (
    known === undefined || (refusedOwner(row, incarnation, known.epoch) === undefined && row.inbox === known.inbox)
  );
}

export function tombstoneOf(row: ThreadRow, deletedAtMs: number): Tombstone {
  return { thread: row.thread, incarnation: row.incarnation, epoch: row.epoch, deletedAtMs };
}
