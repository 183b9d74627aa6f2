import type { CommitGroup, Condition, GroupResult, RecordWrite } from '../../model/commit.ts';
import type { CommitId, Incarnation, ThreadHash } from '../../model/ids.ts';
import {
  type Epoch,
  type LeaseKind,
  type RecordRange,
  type StoredRecord,
  type Table,
  type ThreadRow,
  type Tombstone,
  tables,
} from '../../model/records.ts';
import { needsOfCondition, type Verdict } from '../../store/apply-group.ts';
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
import { applyGroups, write } from './apply-groups.ts';
import { CommitQueue } from './commit-queue.ts';
import type { IndexedDbConnection } from './connection.ts';
import { listRows } from './list-rows.ts';
import { recordsUnder } from './records-under.ts';
import { answer, keyRange, readRange } from './requests.ts';
import { sightOf } from './sight-of.ts';

/** Keeps records in IndexedDB: one object store for each table, one transaction for the commits that come together. */
export class IndexedDbStore implements Store {
  readonly name: string;
  readonly #connection: IndexedDbConnection;
  readonly #commits: CommitQueue;
  #isClosed = false;

  /** @param connection from `openIndexedDb`; closing the store closes it. */
  constructor(connection: IndexedDbConnection) {
    this.name = connection.name;
    this.#connection = connection;
    this.#commits = new CommitQueue((groups, durability) => applyGroups(connection, groups, durability));
  }

  async commit(groups: readonly CommitGroup[]): Promise<readonly GroupResult[]> {
    if (this.#isClosed) throw storeErrors.make('store_closed', { operation: 'commit' });
    return this.#commits.add(groups.map(ownGroup));
  }

  async createThread(
    row: ThreadRow,
    commit: CommitId,
    records: readonly RecordWrite[],
    conditions: readonly Extract<Condition, { kind: 'present' }>[] = [],
  ): Promise<CreateResult> {
    const creation = { row: ownRow(row), commit, records: ownRecords(records), conditions };
    const { thread } = row;
    const needs = [
      ...records.map(({ table, key }) => ({ table, thread, key, of: 'content' as const })),
      ...conditions.flatMap((condition) => needsOfCondition(condition, thread)),
    ];
    return this.#write('create a thread', ['tombstones', ...needs.map((need) => need.table)], async (transaction) => {
      const [sight, tombstone] = await Promise.all([
        sightOf(transaction, { threads: [thread], needs }),
        answer<Tombstone | undefined>(transaction.objectStore('tombstones').get(thread)),
      ]);
      return carryOut(transaction, judgeCreation(creation, sight, tombstone));
    });
  }

  get(table: Table, thread: ThreadHash, key: string): Promise<StoredRecord | undefined> {
    return this.#read('read a record', table, (store) => answer<StoredRecord | undefined>(store.get([thread, key])));
  }

  range(table: Table, thread: ThreadHash, range: RecordRange): Promise<readonly StoredRecord[]> {
    return this.#read('read records', table, (store) => readRange<StoredRecord>(store, thread, range));
  }

  readThread(thread: ThreadHash): Promise<ThreadRow | undefined> {
    return this.#read('read a thread', 'threads', (store) => answer<ThreadRow | undefined>(store.get(thread)));
  }

  readTombstone(thread: ThreadHash): Promise<Tombstone | undefined> {
    return this.#read('read a tombstone', 'tombstones', (store) => answer<Tombstone | undefined>(store.get(thread)));
  }

  listThreads(query: ThreadQuery): Promise<readonly ThreadRow[]> {
    return this.#read('list threads', 'threads', (store) => listRows(store, query));
  }

  isEmpty(): Promise<boolean> {
    const scope = [...tables, 'threads', 'tombstones'] as const;
    return this.#connection.transact({ operation: 'look for records', scope }, async (transaction) => {
      const firstKeys = await Promise.all(
        scope.map((name) => answer(transaction.objectStore(name).getAllKeys(null, 1))),
      );
      return firstKeys.every((keys) => keys.length === 0);
    });
  }

  takeLease(thread: ThreadHash, incarnation: Incarnation, kind?: LeaseKind): Promise<ThreadRow | undefined> {
    return this.#write('take a lease', [], async (transaction) => {
      const row = await answer<ThreadRow | undefined>(transaction.objectStore('threads').get(thread));
      if (row?.incarnation !== incarnation) return undefined;
      const leased = leasedRow(row, kind);
      transaction.objectStore('threads').put(leased, thread);
      return leased;
    });
  }

  releaseLease(thread: ThreadHash, incarnation: Incarnation, epoch: Epoch): Promise<void> {
    return this.#write('release a lease', [], async (transaction) => {
      const row = await answer<ThreadRow | undefined>(transaction.objectStore('threads').get(thread));
      if (row === undefined || refusedOwner(row, incarnation, epoch) !== undefined) return;
      transaction.objectStore('threads').put(releasedRow(row), thread);
    });
  }

  createRecords(
    owner: ThreadHash,
    commit: CommitId,
    records: readonly RecordWrite[],
  ): Promise<Extract<GroupResult, { status: 'applied' | 'exists' }>> {
    const own = ownRecords(records);
    const needs = own.map(({ table, key }) => ({ table, thread: owner, key, of: 'content' as const }));
    return this.#write(
      'create records',
      needs.map((need) => need.table),
      async (transaction) => {
        const sight = await sightOf(transaction, { threads: [], needs });
        return carryOut(transaction, judgeRecords(owner, commit, own, sight));
      },
    );
  }

  deleteThread(
    thread: ThreadHash,
    incarnation: Incarnation,
    deletedAtMs: number,
    unless?: Pick<ThreadRow, 'epoch' | 'inbox'>,
  ): Promise<void> {
    return this.#write('delete a thread', ['tombstones', ...tables], async (transaction) => {
      const row = await answer<ThreadRow | undefined>(transaction.objectStore('threads').get(thread));
      const range = keyRange(thread, {});
      if (!isDoomed(row, incarnation, unless) || range === undefined) return;
      for (const table of new Set<Table>(['wraps', ...tables])) transaction.objectStore(table).delete(range);
      transaction.objectStore('tombstones').put(tombstoneOf(row, deletedAtMs), thread);
      transaction.objectStore('threads').delete(thread);
    });
  }

  deleteRecords(
    thread: ThreadHash,
    incarnation: Incarnation,
    epoch: Epoch,
    records: readonly DoomedRecord[],
  ): Promise<DeletionResult> {
    const doomed = [...records];
    return this.#write(
      'delete records',
      doomed.map(({ table }) => table),
      async (transaction) => {
        const row = await answer<ThreadRow | undefined>(transaction.objectStore('threads').get(thread));
        const refused = refusedOwner(row, incarnation, epoch);
        if (refused !== undefined) return refused;
        for (const [table, some] of byTable(doomed)) {
          const held = holding(table, some, await recordsUnder(transaction.objectStore(table), thread, some));
          if (held !== undefined) return held;
        }
        for (const { table, key } of doomed) transaction.objectStore(table).delete([thread, key]);
        return { status: 'applied' };
      },
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#commits.idle();
    await this.#connection.close();
  }

  #read<T>(
    operation: string,
    name: Table | 'threads' | 'tombstones',
    body: (store: IDBObjectStore) => Promise<T>,
  ): Promise<T> {
    return this.#connection.transact({ operation, scope: [name] }, (transaction) =>
      body(transaction.objectStore(name)),
    );
  }

  /** Strictly; `threads` is always in scope. */
  #write<T>(
    operation: string,
    scope: readonly (Table | 'tombstones')[],
    body: (transaction: IDBTransaction) => Promise<T>,
  ): Promise<T> {
    const names = [...new Set(['threads' as const, ...scope])];
    return this.#connection.transact({ operation, scope: names, writes: 'strict' }, body);
  }
}

function carryOut<Result>(transaction: IDBTransaction, { result, writes }: Verdict<Result>): Result {
  if (writes !== undefined) write(transaction, writes, 'look_first');
  return result;
}
