import type { ThreadHash } from '../../model/ids.ts';
import type { Table, ThreadRow } from '../../model/records.ts';
import {
  type FoundRecord,
  type GroupWrites,
  inboxItems,
  type Need,
  orderOf,
  type RecordAddress,
  type Sight,
} from '../../store/apply-group.ts';
import { answer, keyRange } from './requests.ts';

/** What was read in a transaction, and what it has written since: so later groups of a batch see the earlier ones. */
export class ReadSight implements Sight {
  readonly #rows = new Map<ThreadHash, ThreadRow>();
  readonly #records = new Map<string, FoundRecord>();
  readonly #newestOrders = new Map<ThreadHash, number>();

  row(thread: ThreadHash): ThreadRow | undefined {
    return this.#rows.get(thread);
  }

  find(address: RecordAddress): FoundRecord | undefined {
    return this.#records.get(nameOf(address));
  }

  newestOrder(thread: ThreadHash): number {
    return this.#newestOrders.get(thread) ?? 0;
  }

  sawRow(row: ThreadRow | undefined): void {
    if (row !== undefined) this.#rows.set(row.thread, row);
  }

  /** Content seen counts for more than presence. */
  sawRecord(address: RecordAddress, found: FoundRecord | undefined): void {
    if (found !== undefined) this.#records.set(nameOf(address), { ...this.find(address), ...found });
  }

  sawOrder(thread: ThreadHash, order: number): void {
    this.#newestOrders.set(thread, Math.max(order, this.newestOrder(thread)));
  }

  wrote({ records, row, otherRow }: GroupWrites): void {
    this.sawRow(row);
    this.sawRow(otherRow);
    for (const { table, thread, record } of records)
      this.#records.set(nameOf({ table, thread, key: record.key }), record);
  }
}

export interface Wanted {
  readonly threads: readonly ThreadHash[];
  readonly needs: readonly Need[];
  /** Threads of which the newest inbox item is looked up. */
  readonly inboxes?: readonly ThreadHash[];
}

/** Issues all reads at once. */
export async function sightOf(
  transaction: IDBTransaction,
  { threads, needs, inboxes = [] }: Wanted,
): Promise<ReadSight> {
  const sight = new ReadSight();
  const inTable = (table: Table | 'threads') => transaction.objectStore(table);
  const reads = [...new Set(threads)].map(async (thread) => {
    sight.sawRow(await answer<ThreadRow | undefined>(inTable('threads').get(thread)));
  });
  for (const need of needs) reads.push(readRecord(inTable(need.table), need, sight));
  for (const thread of new Set(inboxes)) reads.push(readNewestOrder(inTable('inbox'), thread, sight));
  await Promise.all(reads);
  return sight;
}

async function readRecord(store: IDBObjectStore, need: Need, sight: ReadSight): Promise<void> {
  const key = [need.thread, need.key];
  if (need.of === 'content') return sight.sawRecord(need, await answer<FoundRecord | undefined>(store.get(key)));
  const found = await answer(store.getKey(key));
  sight.sawRecord(need, found === undefined ? undefined : {});
}

async function readNewestOrder(store: IDBObjectStore, thread: ThreadHash, sight: ReadSight): Promise<void> {
  const range = keyRange(thread, inboxItems);
  if (range === undefined) return;
  const key = (await answer(store.openKeyCursor(range, 'prev')))?.key;
  if (Array.isArray(key)) sight.sawOrder(thread, orderOf(String(key[1])));
}

function nameOf({ table, thread, key }: RecordAddress): string {
  return `${table}\n${thread}\n${key}`;
}
