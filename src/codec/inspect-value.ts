/**
 * Walks a value before it is packed. What MessagePack would change silently is either noted, to be replaced by a
 * stand-in that comes back exactly, or refused with its path (A7). The list was measured (msgpackr 2.1).
 */
import { beginsWithByteOrderMark, hasLoneSurrogate } from '../base/text.ts';
import { isTrue } from '../base/true-kind.ts';
import { FileRef } from '../model/file-ref.ts';
import { codecErrors } from './errors.ts';
import { isPlainErrorClass } from './packer.ts';

/** Deeper nesting is refused: the packer's own recursion overflows the stack at about 3,000. */
const maxDepth = 500;

const plainData = 'store plain data, and make live objects again in `rehydrate`';
const rename = 'rename it';

export interface Inspection {
  /** Whether anything in the value needs a stand-in. Where not, it can be packed as it is. */
  readonly needsCopy: boolean;
  /** Texts and byte arrays over the threshold, and files: to be stored apart. */
  readonly large: ReadonlySet<string | Uint8Array | FileRef>;
}

/** @throws `value_not_storable` */
export function inspectValue(value: unknown, path: string, thresholdBytes: number): Inspection {
  if (isSimple(value, thresholdBytes)) return nothingFound;
  const walk = new Walk(thresholdBytes);
  walk.visit(value, path, 0);
  return walk;
}

const nothingFound: Inspection = { needsCopy: false, large: new Set() };

/** Most values are: nothing needs to be set up for them. */
function isSimple(value: unknown, thresholdBytes: number): boolean {
  if (typeof value === 'number') return !Object.is(value, -0);
  if (typeof value !== 'string') return value === null || value === undefined || typeof value === 'boolean';
  return value.length <= thresholdBytes && !hasLoneSurrogate(value) && !beginsWithByteOrderMark(value);
}

class Walk implements Inspection {
  needsCopy = false;
  readonly large = new Set<string | Uint8Array | FileRef>();
  readonly #seen = new Set<object>();
  /** Errors whose cause is being looked at. */
  readonly #above = new Set<Error>();
  readonly #buffers = new Map<ArrayBufferLike, string>();
  readonly #thresholdBytes: number;

  constructor(thresholdBytes: number) {
    this.#thresholdBytes = thresholdBytes;
  }

  visit(value: unknown, path: string, depth: number): void {
    const type = typeof value;
    if (type === 'function' || type === 'symbol') refuse(path, `a ${type}`, 'code does not belong in the state');
    if (Object.is(value, -0)) this.needsCopy = true;
    if (typeof value === 'string') this.#text(value);
    if (value instanceof Error && this.#above.has(value)) {
      refuse(path, 'an error whose cause leads back to it', 'give it another cause');
    }
    if (typeof value !== 'object' || value === null || this.#seen.has(value)) return;
    if (depth > maxDepth) refuse(path, `nesting deeper than ${maxDepth} levels`, 'flatten it');
    this.#seen.add(value);
    this.#object(value, path, depth);
  }

  #text(text: string): void {
    if (hasLoneSurrogate(text)) this.needsCopy = true;
    else if (text.length > this.#thresholdBytes) this.#apart(text);
    else if (beginsWithByteOrderMark(text)) this.needsCopy = true;
  }

  #apart(value: string | Uint8Array | FileRef): void {
    this.large.add(value);
    this.needsCopy = true;
  }

  #object(value: object, path: string, depth: number): void {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (!isTrue(value)) refuse(path, `${describe(value)} that its constructor did not make`, plainData);
    if (value instanceof FileRef) this.#apart(value);
    else if (Array.isArray(value)) this.#array(value, path, depth);
    else if (ArrayBuffer.isView(value)) this.#view(value, path);
    else if (value instanceof Error) this.#error(value, path, depth);
    else if (prototype === Object.prototype) this.#plain(value, path, depth);
    else if (prototype === Map.prototype && value instanceof Map) this.#map(value, path, depth);
    else if (prototype === Set.prototype && value instanceof Set) this.#set(value, path, depth);
    else if (prototype === Date.prototype) this.#ownKeys(value, [], path);
    else if (prototype === ArrayBuffer.prototype && value instanceof ArrayBuffer) this.#buffer(value, path);
    else refuse(path, describe(value), plainData);
  }

  #plain(value: object, path: string, depth: number): void {
    const keys = Object.keys(value);
    this.#ownKeys(value, keys, path);
    for (const key of keys) {
      if (key === '__proto__') refuse(path, 'the key "__proto__"', rename);
      if (hasLoneSurrogate(key)) refuse(path, 'a key with a lone surrogate', rename);
      if (beginsWithByteOrderMark(key)) refuse(path, 'a key that begins with a byte order mark', rename);
      const descriptor = Object.getOwnPropertyDescriptor(value, key);
      if (descriptor?.get || descriptor?.set) refuse(`${path}.${key}`, 'an accessor', 'store its value');
      this.visit(descriptor?.value, `${path}.${key}`, depth + 1);
    }
  }

  #array(value: readonly unknown[], path: string, depth: number): void {
    if (Object.getPrototypeOf(value) !== Array.prototype) refuse(path, describe(value), plainData);
    if (Reflect.ownKeys(value).length !== value.length + 1) {
      const holes = value.findIndex((_, index) => !Object.hasOwn(value, index));
      if (holes >= 0) refuse(`${path}[${holes}]`, 'a hole in an array', 'use undefined or null');
      refuse(path, 'an array with named properties', 'use an object');
    }
    for (let index = 0; index < value.length; index += 1) this.visit(value[index], `${path}[${index}]`, depth + 1);
  }

  #map(value: ReadonlyMap<unknown, unknown>, path: string, depth: number): void {
    this.#ownKeys(value, [], path);
    let index = 0;
    for (const [key, item] of value) {
      this.visit(key, `${path}.keys()[${index}]`, depth + 1);
      this.visit(
        item,
        typeof key === 'string' ? `${path}.get(${JSON.stringify(key)})` : `${path}.values()[${index}]`,
        depth + 1,
      );
      index += 1;
    }
  }

  #set(value: ReadonlySet<unknown>, path: string, depth: number): void {
    this.#ownKeys(value, [], path);
    let index = 0;
    for (const item of value) this.visit(item, `${path}.values()[${index++}]`, depth + 1);
  }

  #view(value: ArrayBufferView, path: string): void {
    if (Object.getPrototypeOf(Object.getPrototypeOf(value)) !== typedArray && !(value instanceof DataView)) {
      refuse(path, describe(value), plainData);
    }
    this.#buffer(value.buffer, path);
    if (value instanceof Uint8Array && value.byteLength > this.#thresholdBytes) this.#apart(value);
    else if (value.byteLength !== value.buffer.byteLength) this.needsCopy = true;
  }

  /** Two views of one buffer would come back as two buffers. */
  #buffer(buffer: ArrayBufferLike, path: string): void {
    if (!(buffer instanceof ArrayBuffer)) refuse(path, 'shared memory', 'copy it');
    const first = this.#buffers.get(buffer);
    if (first !== undefined) refuse(path, `a view of the same buffer as ${first}`, 'copy it');
    this.#buffers.set(buffer, path);
  }

  #error(value: Error, path: string, depth: number): void {
    const prototype: unknown = Object.getPrototypeOf(value);
    const name = value.constructor.name;
    const known = new Set(['message', 'stack', 'cause']);
    const extra = Reflect.ownKeys(value).find((key) => !known.has(String(key)));
    if (!isPlainErrorClass(name) || prototype !== value.constructor.prototype || extra !== undefined) {
      const found = extra === undefined ? `an error of class ${name}` : `an error with the property ${String(extra)}`;
      refuse(path, found, plainData);
    }
    if (typeof value.message !== 'string') refuse(`${path}.message`, 'a message that is no text', 'give it a text');
    if (typeof (value.stack ?? '') !== 'string') refuse(`${path}.stack`, 'a stack that is no text', 'leave it out');
    this.needsCopy = true;
    if (!Object.hasOwn(value, 'cause')) return;
    this.#above.add(value);
    this.visit(value.cause, `${path}.cause`, depth + 1);
    this.#above.delete(value);
  }

  /** Refuses what hangs on an object beside its contents and would be dropped. */
  #ownKeys(value: object, keys: readonly string[], path: string): void {
    const own = Reflect.ownKeys(value);
    if (own.length === keys.length) return;
    const extra = own.find((key) => typeof key === 'symbol' || !keys.includes(key));
    refuse(path, `the ${typeof extra === 'symbol' ? 'symbol' : 'hidden'} property ${String(extra)}`, 'remove it');
  }
}

const typedArray: unknown = Object.getPrototypeOf(Uint8Array.prototype);

function refuse(path: string, found: string, hint: string): never {
  throw codecErrors.make('value_not_storable', { path, found, hint });
}

function describe(value: object): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null) return 'an object without a prototype';
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' && name !== 'Object'
    ? `an instance of ${name}`
    : 'an object with a prototype of its own';
}
