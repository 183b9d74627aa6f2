/** One atomic group of a commit, its conditions and its result (PROTOCOL 2). Plain data: it can be logged and replayed. */
import type { CheckpointId, CommitId, Incarnation, ThreadHash, WaitId } from './ids.ts';
import type { Epoch, StoredRecord, Table, ThreadRow } from './records.ts';

/** `strict` survives a power cut as far as the engine does (see docs/guarantees); `relaxed` only a process kill. */
export type Durability = 'strict' | 'relaxed';

/** All are checked in the transaction that writes (I4); the first that fails, in order, is the result. */
export type Condition =
  | { readonly kind: 'head'; readonly is: CheckpointId | null }
  | { readonly kind: 'epoch'; readonly is: Epoch }
  | { readonly kind: 'ledger'; readonly is: number }
  /** Order of the newest inbox item. */
  | { readonly kind: 'inbox'; readonly is: number }
  /** `w:<wait>` is there and `a:<wait>` is not. */
  | { readonly kind: 'wait_open'; readonly wait: WaitId }
  /** The record is there, and was written by `commit` if that is given. `thread` defaults to the group's. */
  | {
      readonly kind: 'present';
      readonly table: Table;
      readonly key: string;
      readonly thread?: ThreadHash;
      readonly commit?: CommitId;
    };

export interface RecordWrite extends Omit<StoredRecord, 'commit'> {
  readonly table: Table;
  /** `create`: the group fails with `exists` if the key is taken by another commit. `replace`: whatever is there goes. */
  readonly mode: 'create' | 'replace';
}

/**
 * An inbox item. The store gives its order inside the transaction and writes the item as `o:<order>` and its place as
 * `id:<dedupId>`; where that id is known, nothing is written and the result carries the order it has.
 */
export interface InboxAppend extends Omit<StoredRecord, 'commit' | 'key'> {
  readonly dedupId: string;
}

export type RowChange = Partial<
  Pick<
    ThreadRow,
    'status' | 'head' | 'sequence' | 'ledger' | 'inboxTaken' | 'resumes' | 'wakeUpAtMs' | 'updatedAtMs' | 'control'
  >
>;

/** What a group does to another thread, so that the two agree: a child's end, and the answer to its parent's wait (PROTOCOL 2, 6). */
export interface OtherThread {
  readonly thread: ThreadHash;
  readonly incarnation: Incarnation;
  readonly conditions: readonly Extract<Condition, { kind: 'wait_open' | 'present' }>[];
  readonly records: readonly RecordWrite[];
  readonly row: Pick<RowChange, 'wakeUpAtMs'>;
}

export interface CommitGroup {
  readonly id: CommitId;
  readonly thread: ThreadHash;
  readonly incarnation: Incarnation;
  readonly durability: Durability;
  readonly conditions: readonly Condition[];
  /** The first is the group's witness: if it is there and bears the group's id, the group was applied before. */
  readonly records: readonly RecordWrite[];
  readonly inbox?: InboxAppend;
  readonly row?: RowChange;
  /** Applied with the rest or not at all. Its thread may be `gone` by its own incarnation. */
  readonly also?: OtherThread;
}

export type GroupResult =
  /** `order` only for an inbox item. */
  | { readonly status: 'applied'; readonly order?: number }
  | { readonly status: 'head_moved'; readonly expected: CheckpointId | null; readonly actual: CheckpointId | null }
  | { readonly status: 'epoch_stale'; readonly expected: Epoch; readonly actual: Epoch }
  | { readonly status: 'ledger_moved'; readonly expected: number; readonly actual: number }
  | { readonly status: 'inbox_moved'; readonly expected: number; readonly actual: number }
  | { readonly status: 'wait_closed'; readonly wait: WaitId }
  | { readonly status: 'missing'; readonly table: Table; readonly key: string }
  | { readonly status: 'exists'; readonly table: Table; readonly key: string; readonly commit: CommitId }
  /** No such thread, or another incarnation of it. */
  | { readonly status: 'gone'; readonly incarnation: Incarnation };
