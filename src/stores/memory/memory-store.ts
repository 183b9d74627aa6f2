import type { CommitGroup, Condition, GroupResult, RecordWrite } from '../../model/commit.ts';
import type { CommitId, Incarnation, ThreadHash } from '../../model/ids.ts';
import type { Epoch, LeaseKind, RecordRange, StoredRecord, Table, ThreadRow, Tombstone } from '../../model/records.ts';
import { judgeGroup, type Verdict } from '../../store/apply-group.ts';
import { storeErrors } from '../../store/errors.ts';
import { ownGroup, ownRecords, ownRow } from '../../store/own-bytes.ts';
import type { CreateResult, DeletionResult, DoomedRecord, Store, ThreadQuery } from '../../store/store.ts';
import {
  byTable,
  holding,
  isDoomed,
  judgeCreation,
  judgeRecords,
  leasedRow,
  refusedOwner,
  releasedRow,
  tombstoneOf,
} from '../../store/thread-rules.ts';
import { MemoryData } from './memory-data.ts';

export interface MemoryStoreOptions {
  /** Default `memory`. Part of what seals authenticate: stores on the same data need the same name. */
  readonly name?: string;
  /** What to go on with; fresh and empty by default. */
  readonly data?: MemoryData;
}

/**
 * Keeps everything in the memory of this process: NOT DURABLE. For tests, and for threads that may be lost.
 *
 * Every operation is one synchronous piece of code, which is what makes it atomic here.
 */
export class MemoryStore implements Store {
  readonly name: string;
  readonly data: MemoryData;
  #isClosed = false;

  constructor({ name = 'memory', data = new MemoryData() }: MemoryStoreOptions = {}) {
    this.name = name;
    this.data = data;
  }

  async commit(groups: readonly CommitGroup[]): Promise<readonly GroupResult[]> {
    this.#refuseIfClosed('commit');
    return groups.map((group) => this.#carryOut(judgeGroup(ownGroup(group), this.data)));
  }

  async createThread(
    row: ThreadRow,
    commit: CommitId,
    records: readonly RecordWrite[],
    conditions: readonly Extract<Condition, { kind: 'present' }>[] = [],
  ): Promise<CreateResult> {
    this.#refuseIfClosed('create a thread');
    const creation = { row: ownRow(row), commit, records: ownRecords(records), conditions };
    return this.#carryOut(judgeCreation(creation, this.data, this.data.tombstones.get(row.thread)));
  }

  async get(table: Table, thread: ThreadHash, key: string): Promise<StoredRecord | undefined> {
    this.#refuseIfClosed('read a record');
    return this.data.records(table, thread).get(key);
  }

  async range(table: Table, thread: ThreadHash, range: RecordRange): Promise<readonly StoredRecord[]> {
    this.#refuseIfClosed('read records');
    return this.data.records(table, thread).range(range);
  }

  async readThread(thread: ThreadHash): Promise<ThreadRow | undefined> {
    this.#refuseIfClosed('read a thread');
    return this.data.threads.get(thread);
  }

  async readTombstone(thread: ThreadHash): Promise<Tombstone | undefined> {
    this.#refuseIfClosed('read a tombstone');
    return this.data.tombstones.get(thread);
  }

  async listThreads({ namespace, owner, after, limit }: ThreadQuery): Promise<readonly ThreadRow[]> {
    this.#refuseIfClosed('list threads');
    return [...this.data.threads.values()]
      .filter((row) => row.namespace === namespace && row.owner === owner)
      .filter((row) => after === undefined || row.thread > after)
      .sort((a, b) => (a.thread < b.thread ? -1 : 1))
      .slice(0, limit);
  }

  async isEmpty(): Promise<boolean> {
    this.#refuseIfClosed('look for records');
    return this.data.threads.size === 0 && this.data.tombstones.size === 0 && !this.data.hasRecords;
  }

  async takeLease(thread: ThreadHash, incarnation: Incarnation, kind?: LeaseKind): Promise<ThreadRow | undefined> {
    this.#refuseIfClosed('take a lease');
    const row = this.data.threads.get(thread);
    if (row?.incarnation !== incarnation) return undefined;
    const leased = leasedRow(row, kind);
    this.data.threads.set(thread, leased);
    return leased;
  }

  async releaseLease(thread: ThreadHash, incarnation: Incarnation, epoch: Epoch): Promise<void> {
    this.#refuseIfClosed('release a lease');
    const row = this.data.threads.get(thread);
    if (row === undefined || refusedOwner(row, incarnation, epoch) !== undefined) return;
    this.data.threads.set(thread, releasedRow(row));
  }

  async createRecords(
    owner: ThreadHash,
    commit: CommitId,
    records: readonly RecordWrite[],
  ): Promise<Extract<GroupResult, { status: 'applied' | 'exists' }>> {
    this.#refuseIfClosed('create records');
    return this.#carryOut(judgeRecords(owner, commit, ownRecords(records), this.data));
  }

  async deleteThread(
    thread: ThreadHash,
    incarnation: Incarnation,
    deletedAtMs: number,
    unless?: Pick<ThreadRow, 'epoch' | 'inbox'>,
  ): Promise<void> {
    this.#refuseIfClosed('delete a thread');
    const row = this.data.threads.get(thread);
    if (!isDoomed(row, incarnation, unless)) return;
    this.data.deleteRecords(thread);
    this.data.threads.delete(thread);
    this.data.tombstones.set(thread, tombstoneOf(row, deletedAtMs));
  }

  async deleteRecords(
    thread: ThreadHash,
    incarnation: Incarnation,
    epoch: Epoch,
    records: readonly DoomedRecord[],
  ): Promise<DeletionResult> {
    this.#refuseIfClosed('delete records');
    const refused = refusedOwner(this.data.threads.get(thread), incarnation, epoch);
    if (refused !== undefined) return refused;
    for (const [table, doomed] of byTable(records)) {
      const held = holding(table, doomed, this.data.records(table, thread).range({}));
      if (held !== undefined) return held;
    }
    for (const { table, key } of records) this.data.records(table, thread).delete(key);
    return { status: 'applied' };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  #carryOut<Result>({ result, writes }: Verdict<Result>): Result {
    if (writes !== undefined) this.data.write(writes);
    return result;
  }

  #refuseIfClosed(operation: string): void {
    if (this.#isClosed) throw storeErrors.make('store_closed', { operation });
  }
}
