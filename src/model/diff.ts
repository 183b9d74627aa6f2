/** Compares two plain values, path by path. Pure and bounded: it stops after so many changes, and says that it did. */
import { FileRef } from './file-ref.ts';

export interface ValueChange {
  /** Leads to the value as the text of an expression would: `.name`, `[2]`, `.get("key")`; empty for the value itself. */
  readonly path: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface ValueDiff {
  readonly changes: readonly ValueChange[];
  /** False if there are more changes than were listed. */
  readonly isComplete: boolean;
}

export interface DiffLimits {
  /** Changes listed at most. Default 200. */
  readonly maxChanges?: number;
  /** Nesting from which on a value is compared as one. Default 32. */
  readonly maxDepth?: number;
}

export function diffValues(before: unknown, after: unknown, limits: DiffLimits = {}): ValueDiff {
  const walk = new Walk(limits.maxChanges ?? 200, limits.maxDepth ?? 32);
  walk.compare(before, after, '', 0);
  return walk;
}

class Walk implements ValueDiff {
  readonly changes: ValueChange[] = [];
  isComplete = true;
  readonly #maxChanges: number;
  readonly #maxDepth: number;
  /** Pairs that are being, or were, compared: cycles end there. */
  readonly #seen = new Map<object, Set<object>>();

  constructor(maxChanges: number, maxDepth: number) {
    this.#maxChanges = maxChanges;
    this.#maxDepth = maxDepth;
  }

  compare(before: unknown, after: unknown, path: string, depth: number): void {
    if (!this.isComplete || Object.is(before, after)) return;
    if (!isObject(before) || !isObject(after) || Object.getPrototypeOf(before) !== Object.getPrototypeOf(after)) {
      this.#note({ path, change: 'changed', before, after });
    } else if (!this.#wasSeen(before, after)) {
      this.#objects(before, after, path, depth);
    }
  }

  #objects(before: object, after: object, path: string, depth: number): void {
    const [a, b] = [wholeOf(before), wholeOf(after)];
    const isWhole = a !== undefined || b !== undefined;
    if (depth >= this.#maxDepth || (isWhole && a !== b)) this.#note({ path, change: 'changed', before, after });
    else if (isWhole) return;
    else if (Array.isArray(before) && Array.isArray(after)) this.#lists(before, after, path, depth);
    else if (before instanceof Map && after instanceof Map) this.#maps(before, after, path, depth);
    else if (before instanceof Set && after instanceof Set) this.#sets(before, after, path, depth);
    else this.#entries(before, after, path, depth);
  }

  #lists(before: readonly unknown[], after: readonly unknown[], path: string, depth: number): void {
    const common = Math.min(before.length, after.length);
    for (let index = 0; index < common && this.isComplete; index += 1) {
      this.compare(before[index], after[index], `${path}[${index}]`, depth + 1);
    }
    before.slice(common).forEach((item, index) => {
      this.#note({ path: `${path}[${common + index}]`, change: 'removed', before: item });
    });
    after.slice(common).forEach((item, index) => {
      this.#note({ path: `${path}[${common + index}]`, change: 'added', after: item });
    });
  }

  /** Entries under the same key; keys that are objects themselves are told apart by their order. */
  #maps(
    before: ReadonlyMap<unknown, unknown>,
    after: ReadonlyMap<unknown, unknown>,
    path: string,
    depth: number,
  ): void {
    const [a, b] = [keyed(before), keyed(after)];
    for (const [key, value] of a) {
      if (b.has(key)) this.compare(value, b.get(key), path + key, depth + 1);
      else this.#note({ path: path + key, change: 'removed', before: value });
    }
    for (const [key, value] of b) if (!a.has(key)) this.#note({ path: path + key, change: 'added', after: value });
  }

  /** Objects in sets are told apart by their order. */
  #sets(before: ReadonlySet<unknown>, after: ReadonlySet<unknown>, path: string, depth: number): void {
    for (const item of before) {
      if (!isObject(item) && !after.has(item)) this.#note({ path, change: 'removed', before: item });
    }
    for (const item of after) {
      if (!isObject(item) && !before.has(item)) this.#note({ path, change: 'added', after: item });
    }
    this.#lists([...before].filter(isObject), [...after].filter(isObject), `${path}.values()`, depth);
  }

  #entries(before: object, after: object, path: string, depth: number): void {
    const [a, b] = [fieldsOf(before), fieldsOf(after)];
    for (const [key, value] of a) {
      const place = `${path}.${key}`;
      if (b.has(key)) this.compare(value, b.get(key), place, depth + 1);
      else this.#note({ path: place, change: 'removed', before: value });
    }
    for (const [key, value] of b)
      if (!a.has(key)) this.#note({ path: `${path}.${key}`, change: 'added', after: value });
  }

  #note(change: ValueChange): void {
    if (this.changes.length < this.#maxChanges) this.changes.push(change);
    else this.isComplete = false;
  }

  #wasSeen(before: object, after: object): boolean {
    const partners = this.#seen.get(before) ?? new Set();
    this.#seen.set(before, partners);
    if (partners.has(after)) return true;
    partners.add(after);
    return false;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** What stands for a value that has no parts; `undefined` for one that has. */
function wholeOf(value: object): string | undefined {
  if (value instanceof Date) return String(value.getTime());
  if (value instanceof FileRef) return JSON.stringify([value.name, value.type, value.sizeBytes]);
  if (value instanceof ArrayBuffer) return new Uint8Array(value).join();
  return ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength).join()
    : undefined;
}

function fieldsOf(value: object): ReadonlyMap<string, unknown> {
  if (!(value instanceof Error)) return new Map(Object.entries(value));
  return new Map<string, unknown>([
    ['message', value.message],
    ['cause', value.cause],
  ]);
}

function keyed(map: ReadonlyMap<unknown, unknown>): ReadonlyMap<string, unknown> {
  return new Map(
    [...map].map(([key, value], index) => {
      if (isObject(key)) return [`.entries()[${index}]`, [key, value]];
      return [
        `.get(${typeof key === 'string' ? JSON.stringify(key) : `${String(key)}${typeof key === 'bigint' ? 'n' : ''}`})`,
        value,
      ];
    }),
  );
}
