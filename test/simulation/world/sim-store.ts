/**
 * The store as one process sees it. Every operation is one of the life's. Beside it stands what a power cut would take: what
 * was written relaxed since the last strict write.
 */

import type { CommitGroup } from '../../../src/model/commit.ts';
import type { ThreadHash } from '../../../src/model/ids.ts';
import type { Table } from '../../../src/model/records.ts';
import { storeErrors } from '../../../src/store/errors.ts';
import type { Store } from '../../../src/store/store.ts';
import type { MemoryData } from '../../../src/stores/memory/memory-data.ts';
import { MemoryStore } from '../../../src/stores/memory/memory-store.ts';
import type { Life } from './life.ts';
import type { Watches } from './watches.ts';

export const databaseName = 'simulated';

/** What is written and not flushed. */
export class Unflushed {
  readonly #undo: (() => void)[] = [];

  add(undo: () => void): void {
    this.#undo.push(undo);
  }

  flush(): void {
    this.#undo.length = 0;
  }

  /** Takes everything back that a power cut takes. Gives how many groups that were. */
  lose(): number {
    const lost = this.#undo.splice(0).reverse();
    for (const undo of lost) undo();
    return lost.length;
  }
}

export function storeOf(life: Life, data: MemoryData, watches: Watches, unflushed: Unflushed): Store {
  const store = new MemoryStore({ name: databaseName, data });
  const pass = <Result>(name: string, carryOut: () => Promise<Result>) => life.pass({ kind: 'store', name }, carryOut);
  return {
    name: store.name,
    commit: (groups) =>
      life.pass({ kind: 'store', name: 'commit', groups }, async () => {
        const seen = groups.map((group) => lookAt(group, data));
        const results = store.commit(groups); // applied in this instant; only its answer comes later
        for (const [index, group] of groups.entries()) seen[index]?.(life, watches, unflushed, group);
        return results;
      }),
    createThread: (...given) =>
      pass('createThread', async () => {
        const made = store.createThread(...given);
        unflushed.flush();
        watches.made(given[0]);
        return made;
      }),
    get: (...given) => pass(`get ${given[0]}`, () => store.get(...given)),
    range: (...given) => pass(`range ${given[0]}`, () => store.range(...given)),
    readThread: (...given) => pass('readThread', () => store.readThread(...given)),
    readTombstone: (...given) => pass('readTombstone', () => store.readTombstone(...given)),
    listThreads: (...given) => pass('listThreads', () => store.listThreads(...given)),
    isEmpty: () => pass('isEmpty', () => store.isEmpty()),
    takeLease: (thread, incarnation, kind) =>
      pass('takeLease', async () => {
        const before = data.threads.get(thread);
        const leasing = store.takeLease(thread, incarnation, kind);
        const after = data.threads.get(thread);
        unflushed.flush();
        if (after !== undefined && after !== before) {
          watches.of(thread).leased(life, before, after);
        }
        return leasing;
      }),
    releaseLease: (thread, incarnation, epoch) =>
      pass('releaseLease', async () => {
        const before = data.threads.get(thread);
        const released = store.releaseLease(thread, incarnation, epoch);
        if (data.threads.get(thread) !== before && before !== undefined)
          unflushed.add(() => data.threads.set(thread, before));
        return released;
      }),
    createRecords: (...given) =>
      pass('createRecords', async () => {
        unflushed.flush();
        return store.createRecords(...given);
      }),
    deleteThread: (...given) =>
      pass('deleteThread', async () => {
        const before = data.threads.get(given[0]);
        unflushed.flush();
        const deleting = store.deleteThread(...given);
        if (before !== undefined && !data.threads.has(given[0])) watches.of(before.thread).purged(before);
        return deleting;
      }),
    deleteRecords: (thread, incarnation, epoch, records) =>
      pass('deleteRecords', async () => {
        unflushed.flush();
        const found = records.map(({ table, key }) => ({ table, record: data.records(table, thread).get(key) }));
        const result = await store.deleteRecords(thread, incarnation, epoch, records);
        if (result.status === 'applied')
          for (const { table, record } of found) if (record !== undefined) watches.collected(table, thread, record);
        return result;
      }),
    close: () => pass('close', () => store.close()),
  };
}

/** Remembers what is there before a group; what comes back sees what the group did. */
function lookAt(group: CommitGroup, data: MemoryData) {
  const { thread } = group;
  const recordsOf = (table: (typeof group.records)[number]['table']) => data.records(table, thread);
  const rowBefore = data.threads.get(thread);
  const replaced = group.records.map(({ table, key }) => recordsOf(table).get(key));
  const { also } = group;
  const alsoBefore = also && data.threads.get(also.thread);
  return (life: Life, watches: Watches, unflushed: Unflushed, { records, durability }: CommitGroup): void => {
    const row = data.threads.get(thread);
    const hasWritten =
      row !== rowBefore || records.some(({ table, key }, index) => recordsOf(table).get(key) !== replaced[index]);
    if (!hasWritten) return;
    if (also !== undefined && data.threads.get(also.thread) !== alsoBefore) watches.of(also.thread).told(group);
    watches.of(thread).applied({ life, group, rowBefore, row, replaced });
    if (durability === 'strict') unflushed.flush();
    else
      unflushed.add(() => {
        for (const [index, { table, key }] of records.entries()) {
          const before = replaced[index];
          if (before === undefined) recordsOf(table).delete(key);
          else recordsOf(table).put(before);
        }
        if (rowBefore !== undefined && row !== rowBefore) data.threads.set(thread, rowBefore);
        if (also === undefined || alsoBefore === undefined) return;
        for (const { table, key } of also.records) data.records(table, also.thread).delete(key);
        data.threads.set(also.thread, alsoBefore);
      });
  };
}

export type StoreTrouble = 'store_failed' | 'quota_exceeded' | 'timed_out';

export function troubleOf(code: StoreTrouble, operation: string): Error {
  switch (code) {
    case 'store_failed':
      return storeErrors.make('store_failed', { operation, reason: 'simulated' });
    case 'quota_exceeded':
      return storeErrors.make('quota_exceeded', { operation });
    case 'timed_out':
      return storeErrors.make('timed_out', { operation, afterMs: 1_000 });
  }
}

/** Damages a record, or takes it away. False if there is none. */
export function spoil(data: MemoryData, table: Table, hash: ThreadHash, key: string, how: 'lose' | 'damage'): boolean {
  const records = data.records(table, hash);
  const record = records.get(key);
  if (record === undefined) return false;
  if (how === 'lose') {
    records.delete(key);
    return true;
  }
  const body = record.body.slice();
  body[body.length - 20] = (body[body.length - 20] ?? 0) ^ 1;
  records.put({ ...record, body });
  return true;
}
