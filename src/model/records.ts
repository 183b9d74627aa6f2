/**
 * What a store keeps. All payloads are sealed before they get here (I9): a store sees sealed bytes and the few plain
 * fields below, which the threat model lists.
 */
import type { CheckpointId, CommitId, Incarnation, ThreadHash } from './ids.ts';

/**
 * The generic tables. A record's key is unique within its table and thread; keys are ASCII and sort by code unit.
 *
 * | table | key | record |
 * |---|---|---|
 * | `checkpoints` | checkpoint id | a snapshot or a delta |
 * | `segments` | `field/span/from` | consecutive items of a log field |
 * | `blobs` | `hash.chunk` | one chunk of a large value, by a keyed hash of its content |
 * | `ledger` | `counter.i`, `.o`, `.d`, `.x…`, `.r` | an effect's intent, outcome, doubt, differing later outcomes; reserved space |
 * | `events` | counter of the first | the events of one commit |
 * | `inbox` | `o:order`, `id:…` | an item; the place of a deduplication id |
 * | `waits` | `w:wait`, `a:wait` | what is asked; the one answer |
 * | `wraps` | `data:…`, `index`, `ring` | wrapped keys, and the key ring's generation |
 */
export const tables = ['checkpoints', 'segments', 'blobs', 'ledger', 'events', 'inbox', 'waits', 'wraps'] as const;
export type Table = (typeof tables)[number];

/** Plain fields of a record. They are part of what its seal authenticates. */
export type PlainFields = Readonly<Record<string, string | number | null>>;

export interface StoredRecord {
  readonly key: string;
  /** The group that wrote it. */
  readonly commit: CommitId;
  /** Version of the record's own format (not of the envelope). */
  readonly format: number;
  readonly plain: PlainFields;
  /** Sealed bytes, in a buffer of their own length. */
  readonly body: Uint8Array;
}

/**
 * Who may commit: `home` counts moves between devices, `local` the leases taken on this one (PROTOCOL 5). Nothing moves a thread
 * to another home yet: `home` is 0.
 */
export interface Epoch {
  readonly home: number;
  readonly local: number;
}

/**
 * `idle`: no run asked for. `running`: has a next step. `waiting`: needs an answer from outside. `timed_out`, `out_of_budget`:
 * stands at its next step until somebody extends the limit that was reached, or gives the run up. `done`, `failed`,
 * `cancelled`: how the last run ended; new input starts the next one.
 */
export type ThreadStatus =
  | 'idle'
  | 'running'
  | 'waiting'
  | 'timed_out'
  | 'out_of_budget'
  | 'done'
  | 'failed'
  | 'cancelled';

/** How a run may have ended: new input begins the next one. */
export const endStatuses: readonly string[] = ['done', 'failed', 'cancelled'] satisfies readonly ThreadStatus[];

/**
 * The only mutable record. A cache: the records of each commit suffice to make it again (PROTOCOL 9). `head` and
 * `ledger` are bound into the seal of `control`; epoch, wake-up, resumes and inbox are outside it, so that a store
 * without keys can change them.
 */
export interface ThreadRow {
  readonly thread: ThreadHash;
  readonly namespace: string;
  readonly owner: string;
  readonly agent: string;
  readonly status: ThreadStatus;
  readonly head: CheckpointId | null;
  /** Highest sequence number given to a checkpoint; -1 before the first. Never goes back, also when the head does. */
  readonly sequence: number;
  /** Number of ledger entries ever begun. */
  readonly ledger: number;
  /** Order of the newest inbox item; 0 for none. */
  readonly inbox: number;
  /** Inbox items up to this order give nothing to do as things are: a thread with newer ones has. */
  readonly inboxTaken: number;
  readonly epoch: Epoch;
  /** Local epoch of the newest lease that was stolen; not there where none was. Calls begun before it may still leave (PROTOCOL 3). */
  readonly stolen?: number;
  readonly incarnation: Incarnation;
  /** Leases taken since the last committed step: a thread that kills its worker each time is stopped by this count. */
  readonly resumes: number;
  readonly wakeUpAtMs: number | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly format: number;
  /** Sealed: what a reader needs before it opens any checkpoint. */
  readonly control: Uint8Array;
}

/**
 * How a lease was come by. `free`: nobody else holds it, or whoever did is gone for certain, as a lock tells that goes with its
 * worker. `stolen`: its holder may live, and only stand still.
 */
export type LeaseKind = 'free' | 'stolen';

/** What is left of a deleted thread: its number of incarnations and epochs must not start again. */
export interface Tombstone {
  readonly thread: ThreadHash;
  readonly incarnation: Incarnation;
  readonly epoch: Epoch;
  readonly deletedAtMs: number;
}

/** A slice of one table of one thread, in key order. `from` is inclusive, `to` exclusive; both optional. */
export interface RecordRange {
  readonly from?: string;
  readonly to?: string;
  readonly reverse?: boolean;
  readonly limit?: number;
}

/** The reading half of a store: all that decoding needs. */
export interface RecordSource {
  get(table: Table, thread: ThreadHash, key: string): Promise<StoredRecord | undefined>;
  range(table: Table, thread: ThreadHash, range: RecordRange): Promise<readonly StoredRecord[]>;
}
