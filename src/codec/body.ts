/** Reads the positional arrays that record bodies are. They were authenticated before; a wrong shape is still refused. */
import { type ErrorData, isErrorData } from '../base/errors.ts';
import { codecErrors } from './errors.ts';
import { LargeRef, largeRefOf, unpackBody } from './packer.ts';
import type { StoredValue } from './thread-codec.ts';

export class BodyReader {
  readonly #items: readonly unknown[];
  readonly #where: { readonly table: string; readonly key: string };
  #next = 0;

  constructor(items: unknown, where: { readonly table: string; readonly key: string }) {
    this.#where = where;
    this.#items = Array.isArray(items) ? items : this.#refuse('a list', items);
  }

  static of(plaintext: Uint8Array, where: { readonly table: string; readonly key: string }): BodyReader {
    try {
      return new BodyReader(unpackBody(plaintext), where);
    } catch (cause) {
      throw codecErrors.make('record_damaged', { ...where, reason: 'its body is not MessagePack' }, cause);
    }
  }

  text(): string {
    return this.#typed('string') as string;
  }

  textOrNull(): string | null {
    return this.#typed('string', true) as string | null;
  }

  number(): number {
    return this.#typed('number') as number;
  }

  numberOrNull(): number | null {
    return this.#typed('number', true) as number | null;
  }

  /** A number of things: whole, and not below 0. */
  count(): number {
    const item = this.#take();
    return typeof item === 'number' && Number.isSafeInteger(item) && item >= 0 ? item : this.#refuse('a count', item);
  }

  flag(): boolean {
    return this.#typed('boolean') as boolean;
  }

  bytes(): Uint8Array {
    const item = this.#take();
    return item instanceof Uint8Array ? Uint8Array.from(item) : this.#refuse('bytes', item);
  }

  bytesOrNull(): Uint8Array | null {
    if (this.#items[this.#next] !== null) return this.bytes();
    this.#next += 1;
    return null;
  }

  /** A text, a number or null: a detail of an event. */
  scalar(): string | number | null {
    const item = this.#take();
    const fits = typeof item === 'string' || typeof item === 'number' || item === null;
    return fits ? item : this.#refuse('a text or a number', item);
  }

  stored(): StoredValue {
    return this.#storedFrom(this.#take());
  }

  storedOrNull(): StoredValue | null {
    const item = this.#take();
    return item === null ? null : this.#storedFrom(item);
  }

  /** An error as JSON. */
  error(): ErrorData {
    const json = this.text();
    try {
      const error: unknown = JSON.parse(json);
      return isErrorData(error) ? error : this.#refuse('an error', error);
    } catch {
      return this.#refuse('an error as JSON', json);
    }
  }

  errorOrNull(): ErrorData | null {
    if (this.#items[this.#next] !== null) return this.error();
    this.#next += 1;
    return null;
  }

  nested(): BodyReader {
    return new BodyReader(this.#take(), this.#where);
  }

  nestedOrNull(): BodyReader | null {
    const item = this.#take();
    return item === null ? null : new BodyReader(item, this.#where);
  }

  /** One reader for each element of a list. */
  list(): readonly BodyReader[] {
    const item = this.#take();
    if (!Array.isArray(item)) return this.#refuse('a list', item);
    return item.map((element: unknown) => new BodyReader([element], this.#where));
  }

  /** Name and reader of each entry of a map. */
  entries(): readonly (readonly [string, BodyReader])[] {
    const item = this.#take();
    if (!(item instanceof Map)) return this.#refuse('a map', item);
    return [...(item as ReadonlyMap<unknown, unknown>)].map(([name, element]) => [
      typeof name === 'string' ? name : this.#refuse('a map with names', name),
      new BodyReader([element], this.#where),
    ]);
  }

  textOrNumberOrNull(): string | number | null {
    const item = this.#take();
    if (typeof item === 'string' || typeof item === 'number' || item === null) return item;
    return this.#refuse('a text, a number or null', item);
  }

  /** False behind the last item: records from before an item was added end earlier. */
  get hasMore(): boolean {
    return this.#next < this.#items.length;
  }

  nextIsListOfOne(): boolean {
    const item = this.#items[this.#next];
    return Array.isArray(item) && item.length === 1;
  }

  #storedFrom(item: unknown): StoredValue {
    if (item instanceof Uint8Array) return new Uint8Array(item);
    try {
      return largeRefOf(item);
    } catch {
      return this.#refuse('a stored value', item);
    }
  }

  #typed(type: string, mayBeNull = false): unknown {
    const item = this.#take();
    return typeof item === type || (mayBeNull && item === null) ? item : this.#refuse(`a ${type}`, item);
  }

  #take(): unknown {
    const item = this.#items[this.#next];
    this.#next += 1;
    return item;
  }

  #refuse(wanted: string, found: unknown): never {
    const reason = `item ${this.#next} of its body is ${found === null ? 'null' : typeof found}, not ${wanted}`;
    throw codecErrors.make('record_damaged', { ...this.#where, reason });
  }
}

/** A stored value as an item of a body: bytes, or the reference as a list. */
export function storedItem(stored: StoredValue): unknown {
  if (!(stored instanceof LargeRef)) return stored;
  return [stored.hash, stored.bytes, stored.form, stored.name, stored.type];
}
