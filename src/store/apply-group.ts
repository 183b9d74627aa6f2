/**
 * The rules of one commit group (PROTOCOL 2), written once for every adapter that can look before it writes: what the group has
 * to know, and, given that, its result and its writes. Pure: the adapter reads and writes.
 */
import type { CommitGroup, Condition, GroupResult, OtherThread, RecordWrite } from '../model/commit.ts';
import { type CommitId, sortable, type ThreadHash } from '../model/ids.ts';
import type { StoredRecord, Table, ThreadRow } from '../model/records.ts';

export interface RecordAddress {
  readonly table: Table;
  readonly thread: ThreadHash;
  readonly key: string;
}

/** `presence`: only whether it is there. `content`: also who wrote it and its plain fields. */
export interface Need extends RecordAddress {
  readonly of: 'presence' | 'content';
}

/** A record as the rules see it: `{}` where only its presence was asked for. */
export type FoundRecord = Partial<Pick<StoredRecord, 'commit' | 'plain'>>;

/** What the store holds, at one moment inside the transaction that writes. */
export interface Sight {
  row(thread: ThreadHash): ThreadRow | undefined;
  find(address: RecordAddress): FoundRecord | undefined;
  /** The highest order of an inbox item that is known to be there; 0 for none. */
  newestOrder(thread: ThreadHash): number;
}

export interface PlacedRecord {
  readonly table: Table;
  readonly thread: ThreadHash;
  readonly mode: RecordWrite['mode'];
  readonly record: StoredRecord;
}

/** Records first, rows last. */
export interface GroupWrites {
  readonly records: readonly PlacedRecord[];
  readonly row?: ThreadRow;
  /** The row of the other thread that the group writes to. */
  readonly otherRow?: ThreadRow;
}

export interface Verdict<Result> {
  readonly result: Result;
  /** Not given where nothing is to be written. */
  readonly writes?: GroupWrites;
}

/**
 * What {@link judgeGroup} looks at, the thread's row apart. With `createsFailAlone` the keys of `create` writes are left
 * out: for an adapter whose insert itself fails on a taken key, and which then asks again with all needs.
 */
export function needsOf(group: CommitGroup, createsFailAlone: boolean): readonly Need[] {
  const { thread } = group;
  const [witness, ...others] = group.records;
  const creates = createsFailAlone ? [] : others.filter((record) => record.mode === 'create');
  return [
    ...(witness === undefined ? [] : [witness, ...creates]).map(
      ({ table, key }): Need => ({ table, thread, key, of: 'content' }),
    ),
    ...(group.inbox === undefined ? [] : [{ ...dedupAddress(thread, group.inbox.dedupId), of: 'content' } as const]),
    ...group.conditions.flatMap((condition) => needsOfCondition(condition, thread)),
    ...(group.also === undefined ? [] : needsOfOther(group.also)),
  ];
}

function needsOfOther({ thread, conditions, records }: OtherThread): readonly Need[] {
  return [
    ...records.map(({ table, key }): Need => ({ table, thread, key, of: 'content' })),
    ...conditions.flatMap((condition) => needsOfCondition(condition, thread)),
  ];
}

export function needsOfCondition(condition: Condition, thread: ThreadHash): readonly Need[] {
  if (condition.kind === 'wait_open') {
    return (['w', 'a'] as const).map((part) => ({ ...waitAddress(thread, part, condition.wait), of: 'presence' }));
  }
  if (condition.kind !== 'present') return [];
  const { table, key, commit } = condition;
  return [{ table, key, thread: condition.thread ?? thread, of: commit === undefined ? 'presence' : 'content' }];
}

/** The group's result and, if that is `applied` for the first time, what has to be written, all or nothing. */
export function judgeGroup(group: CommitGroup, sight: Sight): Verdict<GroupResult> {
  const row = sight.row(group.thread);
  if (row?.incarnation !== group.incarnation) {
    return { result: { status: 'gone', incarnation: group.incarnation } };
  }
  const refusal =
    appliedBefore(group, sight) ??
    firstOf(group.conditions, (condition) => failedCondition(condition, row, sight)) ??
    takenKey(group.records, group.thread, group.id, sight) ??
    refusalOfOther(group, sight);
  if (refusal !== undefined) return { result: refusal };

  const other = writesToOther(group, sight);
  const records = [...placed(group.records, group.thread, group.id), ...other.records];
  if (group.inbox === undefined) {
    return {
      result: { status: 'applied' },
      writes: { ...other, records, ...(group.row !== undefined && { row: { ...row, ...group.row } }) },
    };
  }
  const order = Math.max(row.inbox, sight.newestOrder(group.thread)) + 1; // given here, in the transaction (PROTOCOL 6)
  return {
    result: { status: 'applied', order },
    writes: {
      ...other,
      records: [...records, ...inboxRecords(group, order)],
      row: { ...row, ...group.row, inbox: order },
    },
  };
}

function refusalOfOther({ also, id }: CommitGroup, sight: Sight): GroupResult | undefined {
  if (also === undefined) return undefined;
  const row = sight.row(also.thread);
  if (row?.incarnation !== also.incarnation) return { status: 'gone', incarnation: also.incarnation };
  return (
    firstOf(also.conditions, (condition) => failedCondition(condition, row, sight)) ??
    takenKey(also.records, also.thread, id, sight)
  );
}

function writesToOther({ also, id }: CommitGroup, sight: Sight): GroupWrites {
  const row = also && sight.row(also.thread);
  if (also === undefined || row === undefined) return { records: [] };
  return { records: placed(also.records, also.thread, id), otherRow: { ...row, ...also.row } };
}

/**
 * `applied` if the group's witness or its inbox item is there: looked up before any condition, which may fail by now because the
 * group itself was applied (PROTOCOL 2). Deduplication ids are never deleted while the thread lives (PROTOCOL 6).
 */
function appliedBefore(group: CommitGroup, sight: Sight): GroupResult | undefined {
  const [witness] = group.records;
  const place = group.inbox === undefined ? undefined : sight.find(dedupAddress(group.thread, group.inbox.dedupId));
  const isWitnessed =
    witness !== undefined &&
    sight.find({ table: witness.table, thread: group.thread, key: witness.key })?.commit === group.id;
  if (place === undefined && !isWitnessed) return undefined;
  const order = place?.plain?.order;
  return typeof order === 'number' ? { status: 'applied', order } : { status: 'applied' };
}

/** The result that a failed condition gives, `undefined` if it holds. */
function failedCondition(condition: Condition, row: ThreadRow, sight: Sight): GroupResult | undefined {
  switch (condition.kind) {
    case 'head':
      if (row.head === condition.is) return undefined;
      return { status: 'head_moved', expected: condition.is, actual: row.head };
    case 'epoch':
      if (row.epoch.home === condition.is.home && row.epoch.local === condition.is.local) return undefined;
      return { status: 'epoch_stale', expected: condition.is, actual: row.epoch };
    case 'ledger':
      if (row.ledger === condition.is) return undefined;
      return { status: 'ledger_moved', expected: condition.is, actual: row.ledger };
    case 'inbox':
      if (row.inbox === condition.is) return undefined;
      return { status: 'inbox_moved', expected: condition.is, actual: row.inbox };
    case 'wait_open': {
      // A write-once slot: answer, expiry and cancel compete for it, and the first one stands (PROTOCOL 6).
      const isAsked = sight.find(waitAddress(row.thread, 'w', condition.wait)) !== undefined;
      const isAnswered = sight.find(waitAddress(row.thread, 'a', condition.wait)) !== undefined;
      return isAsked && !isAnswered ? undefined : { status: 'wait_closed', wait: condition.wait };
    }
    case 'present':
      return missingRecord(condition, row.thread, sight);
  }
}

export function missingRecord(
  condition: Extract<Condition, { kind: 'present' }>,
  thread: ThreadHash,
  sight: Sight,
): Extract<GroupResult, { status: 'missing' }> | undefined {
  const { table, key, commit } = condition;
  const found = sight.find({ table, key, thread: condition.thread ?? thread });
  const holds = found !== undefined && (commit === undefined || found.commit === commit);
  return holds ? undefined : { status: 'missing', table, key };
}

/** The first `create` whose key another commit has taken. */
export function takenKey(
  records: readonly RecordWrite[],
  thread: ThreadHash,
  commit: CommitId,
  sight: Sight,
): Extract<GroupResult, { status: 'exists' }> | undefined {
  return firstOf(records, ({ mode, table, key }) => {
    if (mode !== 'create') return undefined;
    const found = sight.find({ table, thread, key });
    if (found?.commit === undefined || found.commit === commit) return undefined;
    return { status: 'exists', table, key, commit: found.commit };
  });
}

export function placed(records: readonly RecordWrite[], thread: ThreadHash, commit: CommitId): readonly PlacedRecord[] {
  return records.map(({ table, mode, key, format, plain, body }) => ({
    table,
    thread,
    mode,
    record: { key, commit, format, plain, body },
  }));
}

/** Format of the record that remembers a deduplication id: `plain.order`, no body. */
const placeFormat = 1;

/** The first key of the inbox's items, and the one behind the last. */
export const inboxItems = { from: 'o:', to: 'o;' } as const;

/** The order in the key of an inbox item. */
export function orderOf(itemKey: string): number {
  return Number.parseInt(itemKey.slice(inboxItems.from.length), 16);
}

function inboxRecords({ inbox, thread, id }: CommitGroup, order: number): readonly PlacedRecord[] {
  if (inbox === undefined) return [];
  const { format, plain, body, dedupId } = inbox;
  const item = { key: `${inboxItems.from}${sortable(order)}`, commit: id, format, plain, body };
  const { key } = dedupAddress(thread, dedupId);
  const place = { key, commit: id, format: placeFormat, plain: { order }, body: new Uint8Array(0) };
  return [item, place].map((record) => ({ table: 'inbox', thread, mode: 'create', record }));
}

function dedupAddress(thread: ThreadHash, dedupId: string): RecordAddress {
  return { table: 'inbox', thread, key: `id:${dedupId}` };
}

function waitAddress(thread: ThreadHash, part: 'w' | 'a', wait: string): RecordAddress {
  return { table: 'waits', thread, key: `${part}:${wait}` };
}

function firstOf<Item, Found>(items: readonly Item[], look: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = look(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
