import type { ThreadHash } from '../../model/ids.ts';
import { type Table, type ThreadRow, type Tombstone, tables } from '../../model/records.ts';
import type { FoundRecord, GroupWrites, RecordAddress, Sight } from '../../store/apply-group.ts';
import { inboxItems, orderOf } from '../../store/apply-group.ts';
import { SortedRecords } from './sorted-records.ts';

/**
 * What a memory store keeps, apart from the store: a second `MemoryStore` on the same data is what the next process is to
 * a disk. Tests throw an engine and its store away and go on with another pair.
 */
export class MemoryData implements Sight {
  readonly threads = new Map<ThreadHash, ThreadRow>();
  readonly tombstones = new Map<ThreadHash, Tombstone>();
  /** Of any kind: only the key stores on this data know which. */
  readonly keys = new Map<string, unknown>();
  readonly #tables = new Map<Table, Map<ThreadHash, SortedRecords>>(tables.map((table) => [table, new Map()]));

  /** The records of the thread in this table, to read; an empty list of no consequence if there are none. */
  records(table: Table, thread: ThreadHash): SortedRecords {
    return this.#tables.get(table)?.get(thread) ?? new SortedRecords();
  }

  get hasRecords(): boolean {
    return [...this.#tables.values()].some((threads) => [...threads.values()].some((records) => records.size > 0));
  }

  row(thread: ThreadHash): ThreadRow | undefined {
    return this.threads.get(thread);
  }

  find({ table, thread, key }: RecordAddress): FoundRecord | undefined {
    return this.records(table, thread).get(key);
  }

  newestOrder(thread: ThreadHash): number {
    const [newest] = this.records('inbox', thread).range({ ...inboxItems, reverse: true, limit: 1 });
    return newest === undefined ? 0 : orderOf(newest.key);
  }

  write({ records, row, otherRow }: GroupWrites): void {
    for (const { table, thread, record } of records) this.#recordsFor(table, thread).put(record);
    for (const each of [row, otherRow]) if (each !== undefined) this.threads.set(each.thread, each);
  }

  deleteRecords(thread: ThreadHash): void {
    for (const threads of this.#tables.values()) threads.delete(thread);
  }

  #recordsFor(table: Table, thread: ThreadHash): SortedRecords {
    const there = this.#tables.get(table)?.get(thread);
    if (there !== undefined) return there;
    const made = new SortedRecords();
    this.#tables.get(table)?.set(thread, made);
    return made;
  }
}
