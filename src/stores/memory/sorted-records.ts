import type { RecordRange, StoredRecord } from '../../model/records.ts';

/** The records of one table of one thread in key order. Appending in key order costs the same however many there are. */
export class SortedRecords {
  readonly #keys: string[] = [];
  readonly #records = new Map<string, StoredRecord>();

  get size(): number {
    return this.#keys.length;
  }

  get(key: string): StoredRecord | undefined {
    return this.#records.get(key);
  }

  put(record: StoredRecord): void {
    if (!this.#records.has(record.key)) {
      const last = this.#keys.at(-1);
      if (last === undefined || last < record.key) this.#keys.push(record.key);
      else this.#keys.splice(this.#firstAtOrAfter(record.key), 0, record.key);
    }
    this.#records.set(record.key, record);
  }

  delete(key: string): void {
    if (this.#records.delete(key)) this.#keys.splice(this.#firstAtOrAfter(key), 1);
  }

  range({ from, to, reverse = false, limit = Number.POSITIVE_INFINITY }: RecordRange): readonly StoredRecord[] {
    const start = from === undefined ? 0 : this.#firstAtOrAfter(from);
    const end = to === undefined ? this.#keys.length : this.#firstAtOrAfter(to);
    const keys = reverse
      ? this.#keys.slice(Math.max(start, end - limit), Math.max(start, end)).reverse()
      : this.#keys.slice(start, Math.min(end, start + limit));
    return keys.flatMap((key) => this.#records.get(key) ?? []);
  }

  /** Position of the first key that is not less; the number of keys if all are less. */
  #firstAtOrAfter(key: string): number {
    let [low, high] = [0, this.#keys.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] ?? '') < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
