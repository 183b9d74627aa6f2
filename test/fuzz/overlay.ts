/** A memory store in which a run can put other records in the place of those that are there, or take them away. */
import type { ThreadHash } from '../../src/model/ids.ts';
import type { RecordRange, StoredRecord, Table } from '../../src/model/records.ts';
import { MemoryStore } from '../../src/stores/memory/memory-store.ts';

export class OverlayStore extends MemoryStore {
  readonly #changed = new Map<string, StoredRecord>();

  /** What reads see at this key from now on. `record` may have any shape: it stands for what a broken disk gives. */
  put(table: Table, thread: ThreadHash, key: string, record: unknown): void {
    this.#changed.set(addressOf(table, thread, key), record as StoredRecord);
  }

  restore(): void {
    this.#changed.clear();
  }

  override async get(table: Table, thread: ThreadHash, key: string): Promise<StoredRecord | undefined> {
    return this.#changed.get(addressOf(table, thread, key)) ?? super.get(table, thread, key);
  }

  override async range(table: Table, thread: ThreadHash, range: RecordRange): Promise<readonly StoredRecord[]> {
    const records = await super.range(table, thread, range);
    return records.map((record) => this.#changed.get(addressOf(table, thread, record.key)) ?? record);
  }
}

function addressOf(table: Table, thread: ThreadHash, key: string): string {
  return `${table} ${thread} ${key}`;
}
