import type { CommitGroup, Condition, GroupResult, RecordWrite } from '../model/commit.ts';
import type { CommitId, Incarnation, ThreadHash } from '../model/ids.ts';
import type { Epoch, LeaseKind, RecordSource, Table, ThreadRow, Tombstone } from '../model/records.ts';

export interface ThreadQuery {
  readonly namespace: string;
  readonly owner: string;
  /** Rows with a greater hash than this one, for paging. */
  readonly after?: ThreadHash;
  readonly limit: number;
}

/** One to delete. Where `commit` is given, only as that commit wrote it. */
export interface DoomedRecord {
  readonly table: Table;
  readonly key: string;
  readonly commit?: CommitId;
}

export type DeletionResult =
  | Extract<GroupResult, { status: 'applied' | 'epoch_stale' | 'gone' }>
  /** Nothing was deleted: this record lies under one of those named and is not among them, or was written anew since. */
  | { readonly status: 'held'; readonly table: Table; readonly key: string };

export type CreateResult =
  | { readonly status: 'created'; readonly row: ThreadRow }
  /** The row that is there, untouched. */
  | { readonly status: 'exists'; readonly row: ThreadRow }
  | Extract<GroupResult, { status: 'missing' }>;

/**
 * Keeps the sealed records of many threads. Whole operations, never an interactive transaction, so that each adapter
 * makes one of whatever its database has. Every adapter passes `test/conformance/store.ts`.
 *
 * Every method rejects with a `StoreError` (`errors.ts`) and with nothing else.
 */
export interface Store extends RecordSource {
  /** Name of the database. Part of what every seal authenticates: bytes moved to another database do not open. */
  readonly name: string;

  /**
   * Applies each group whole, or not at all if one of its conditions fails; groups do not affect each other (I2, I4).
   *
   * Resolves only when the applied groups are as durable as the strictest of them asks (I1): with `strict`, a power cut one
   * tick later loses nothing the platform can keep. A group whose first record is already there under the group's id, or
   * whose inbox id is known, is `applied` and writes nothing. Results are in the order of the groups.
   *
   * @throws `quota_exceeded`, `store_closed`, `timed_out` (unknown whether applied: give the same groups again), `store_failed`.
   */
  commit(groups: readonly CommitGroup[]): Promise<readonly GroupResult[]>;

  /**
   * Creates the thread with its first records, strictly, unless a row for the same hash is there. After a deletion the new
   * row's local epoch is one above the tombstone's, whatever `row.epoch` says.
   */
  createThread(
    row: ThreadRow,
    commit: CommitId,
    records: readonly RecordWrite[],
    conditions?: readonly Extract<Condition, { kind: 'present' }>[],
  ): Promise<CreateResult>;

  readThread(thread: ThreadHash): Promise<ThreadRow | undefined>;
  readTombstone(thread: ThreadHash): Promise<Tombstone | undefined>;
  /** Rows in the order of their hashes. */
  listThreads(query: ThreadQuery): Promise<readonly ThreadRow[]>;
  /** Whether the store holds any thread, tombstone or record at all: an empty one may get new keys, another never. */
  isEmpty(): Promise<boolean>;

  /**
   * Takes the right to commit: raises the local epoch and the resume count by one, strictly, and returns the new row;
   * `undefined` if there is no such incarnation. Every commit that states an older epoch fails from then on. One that is
   * `stolen` is remembered in the row, in the same transaction. Default `free`.
   */
  takeLease(thread: ThreadHash, incarnation: Incarnation, kind?: LeaseKind): Promise<ThreadRow | undefined>;
  /** Gives the lease back: takes the resume back that it counted. Does nothing if another epoch has begun. */
  releaseLease(thread: ThreadHash, incarnation: Incarnation, epoch: Epoch): Promise<void>;

  /**
   * Writes records that belong to no thread (`thread` is a name such as the key ring's), strictly, each only if its key is
   * free, all or none. The result is that of a commit.
   */
  createRecords(
    owner: ThreadHash,
    commit: CommitId,
    records: readonly RecordWrite[],
  ): Promise<Extract<GroupResult, { status: 'applied' | 'exists' }>>;

  /**
   * Deletes all records of this incarnation, wraps first, leaves a tombstone, strictly (PROTOCOL 5 and 7). Nothing happens to
   * another one, nor to one that has moved on since: where `unless` is given, its epoch and the order of its newest inbox item
   * must be those.
   */
  deleteThread(
    thread: ThreadHash,
    incarnation: Incarnation,
    deletedAtMs: number,
    unless?: Pick<ThreadRow, 'epoch' | 'inbox'>,
  ): Promise<void>;
  /**
   * Deletes these records of the thread, all or none, strictly, if its epoch is still this one and no other record lies under one
   * of them: `<key>.…`, as the pin of a fork does under its checkpoint (PROTOCOL 4 and 7).
   */
  deleteRecords(
    thread: ThreadHash,
    incarnation: Incarnation,
    epoch: Epoch,
    records: readonly DoomedRecord[],
  ): Promise<DeletionResult>;

  /** Waits for what is under way, then refuses everything. */
  close(): Promise<void>;
}
