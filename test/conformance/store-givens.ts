import type { CommitGroup, Condition, GroupResult, RecordWrite } from '../../src/model/commit.ts';
import type { CheckpointId, CommitId, Incarnation, ThreadHash, WaitId } from '../../src/model/ids.ts';
import type { StoredRecord, Table, ThreadRow } from '../../src/model/records.ts';
import type { Store } from '../../src/store/store.ts';

/** A guarantee that an adapter may be unable to give. */
export type ExemptibleGuarantee = 'survives_reopen';

export interface StoreSubject {
  /** An empty store, shared with no other test. */
  readonly open: () => Promise<Store>;
  /** Closes the store and opens another one on what it kept. */
  readonly reopen?: (store: Store) => Promise<Store>;
  /** Why a guarantee is not given. The report shows the reason. */
  readonly exempt?: Readonly<Partial<Record<ExemptibleGuarantee, string>>>;
}

/** Opens the store a test works on; it is closed after the test. */
export type GiveStore = () => Promise<Store>;

export const thread = (name: string): ThreadHash => `thread-${name}` as ThreadHash;
export const commitId = (name: string): CommitId => `commit-${name}` as CommitId;
export const incarnation = (name: string): Incarnation => `incarnation-${name}` as Incarnation;
export const waitId = (name: string): WaitId => `wait-${name}` as WaitId;
export const checkpointId = (sequence: number): CheckpointId =>
  `${sequence.toString(16).padStart(10, '0')}-abcdefghijkl` as CheckpointId;

export const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

export function rowFor(threadHash: ThreadHash, change: Partial<ThreadRow> = {}): ThreadRow {
  return {
    thread: threadHash,
    namespace: 'namespace-1',
    owner: 'owner-1',
    agent: 'agent-1',
    status: 'idle',
    head: null,
    sequence: -1,
    ledger: 0,
    inbox: 0,
    inboxTaken: 0,
    epoch: { home: 1, local: 0 },
    incarnation: incarnation('1'),
    resumes: 0,
    wakeUpAtMs: null,
    createdAtMs: 1_000,
    updatedAtMs: 1_000,
    format: 1,
    control: bytes(1, 2, 3),
    ...change,
  };
}

export function recordWrite(table: Table, key: string, change: Partial<RecordWrite> = {}): RecordWrite {
  return { table, key, mode: 'create', format: 1, plain: { parent: null, size: 3 }, body: bytes(7, 8, 9), ...change };
}

/** A group on the row that `givenThread` makes; the witness is an event that bears the commit's name. */
export function groupFor(row: ThreadRow, name: string, change: Partial<CommitGroup> = {}): CommitGroup {
  return {
    id: commitId(name),
    thread: row.thread,
    incarnation: row.incarnation,
    durability: 'strict',
    conditions: [],
    records: [recordWrite('events', `event-${name}`)],
    ...change,
  };
}

export async function givenThread(store: Store, name = '1', change: Partial<ThreadRow> = {}): Promise<ThreadRow> {
  const created = await store.createThread(rowFor(thread(name), change), commitId(`root-${name}`), []);
  if (created.status !== 'created') throw new Error(`Thread ${name} was not created: ${created.status}`);
  return created.row;
}

/** An open wait `1`. */
export async function givenWait(store: Store, row: ThreadRow): Promise<void> {
  await commitOne(store, groupFor(row, 'ask', { records: [recordWrite('waits', `w:${waitId('1')}`)] }));
}

export async function commitOne(store: Store, group: CommitGroup): Promise<GroupResult> {
  const [result] = await store.commit([group]);
  if (result === undefined) throw new Error('The commit gave no result');
  return result;
}

/** A group that moves the head from one checkpoint to the next. */
export function stepFor(row: ThreadRow, from: CheckpointId | null, to: CheckpointId, name: string): CommitGroup {
  return groupFor(row, name, {
    conditions: [{ kind: 'head', is: from }],
    records: [recordWrite('checkpoints', to)],
    row: { head: to, updatedAtMs: 2_000 },
  });
}

export function conditioned(row: ThreadRow, name: string, ...conditions: Condition[]): CommitGroup {
  return groupFor(row, name, { conditions, row: { status: 'done' } });
}

export const keysOf = (records: readonly StoredRecord[]): readonly string[] => records.map((record) => record.key);
