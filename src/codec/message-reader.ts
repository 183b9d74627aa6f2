/**
 * Reads MessagePack: the standard, and the extensions that `MessageWriter` writes. Bytes that are no such message are refused
 * with some error, and cost no more memory than they are long.
 */
import { typedArrays } from './typed-arrays.ts';

/**
 * Reads the content of an extension of our own by `reader`. What may be referred to from inside its content is given to `keep`
 * before the content is read.
 */
export type ReadExtension = (type: number, reader: MessageReader, keep: <Made>(made: Made) => Made) => unknown;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });

/** @throws TypeError, RangeError, or what the extension throws */
export function readMessage(bytes: Uint8Array, extension: ReadExtension): unknown {
  const reader = new MessageReader(bytes, extension);
  const value = reader.value();
  reader.end();
  return value;
}

export class MessageReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #extension: ReadExtension;
  #at = 0;
  readonly #records: (readonly string[])[] = [];
  readonly #kept = new Map<number, unknown>();

  constructor(bytes: Uint8Array, extension: ReadExtension) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#extension = extension;
  }

  end(): void {
    if (this.#at !== this.#bytes.length) refuse(`${this.#bytes.length - this.#at} bytes are left`);
  }

  /** The next value. `id` is the number under which it can be referred to, 0 for none. */
  value(id = 0): unknown {
    const token = this.#byte();
    if (token < 0x40) return token;
    if (token < 0x80) {
      const keys = this.#records[token & 0x3f];
      return keys === undefined ? token : this.#record(keys, id);
    }
    if (token < 0x90) return this.#map(token & 0xf, id);
    if (token < 0xa0) return this.#list(token & 0xf, id);
    if (token < 0xc0) return this.#text(token & 0x1f);
    if (token >= 0xe0) return token - 0x100;
    switch (token) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.#take(this.#uint(1 << (token - 0xc4))).slice();
      case 0xc7:
      case 0xc8:
      case 0xc9:
        return this.#extended(this.#uint(1 << (token - 0xc7)), id);
      case 0xca:
        return this.#number(4, 'getFloat32');
      case 0xcb:
        return this.#number(8, 'getFloat64');
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.#uint(1 << (token - 0xcc));
      case 0xcf:
        return this.#number(8, 'getBigUint64');
      case 0xd0:
        return this.#number(1, 'getInt8');
      case 0xd1:
        return this.#number(2, 'getInt16');
      case 0xd2:
        return this.#number(4, 'getInt32');
      case 0xd3:
        return this.#number(8, 'getBigInt64');
      case 0xd4:
        return this.#tagged(this.#byte(), id);
      case 0xd5:
      case 0xd6:
      case 0xd7:
      case 0xd8:
        return this.#extended(1 << (token - 0xd4), id);
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#text(this.#uint(1 << (token - 0xd9)));
      case 0xdc:
      case 0xdd:
        return this.#list(this.#uint(2 << (token - 0xdc)), id);
      case 0xde:
      case 0xdf:
        return this.#map(this.#uint(2 << (token - 0xde)), id);
      default:
        return refuse(`no value begins with ${token}`);
    }
  }

  /** For an extension that reads the items of its content one by one. */
  listLength(): number {
    const token = this.#byte();
    if (token >= 0x90 && token < 0xa0) return token & 0xf;
    return token === 0xdc || token === 0xdd ? this.#uint(2 << (token - 0xdc)) : refuse('a list is missing');
  }

  #list(length: number, id: number): unknown[] {
    const list: unknown[] = this.#keep(id, []);
    for (let index = 0; index < length; index += 1) list.push(this.value());
    return list;
  }

  #map(size: number, id: number): Map<unknown, unknown> {
    const map = this.#keep(id, new Map<unknown, unknown>());
    for (let index = 0; index < size; index += 1) map.set(this.value(), this.value());
    return map;
  }

  #record(keys: readonly string[], id: number): Record<string, unknown> {
    const record: Record<string, unknown> = this.#keep(id, {});
    for (const key of keys) record[key] = this.value();
    return record;
  }

  /** What one byte says: an extension whose content follows as a value, or a short one. */
  #tagged(type: number, id: number): unknown {
    const content = this.#byte();
    switch (type) {
      case 0:
        return undefined;
      case 0x72:
        return this.#record(this.#keys(content & 0x3f), id);
      case 0x73: {
        const set = this.#keep(id, new Set<unknown>());
        for (const item of listOf(this.value())) set.add(item);
        return set;
      }
      case 0xff:
        return this.#keep(id, new Date(Number.NaN));
      default:
        return this.#extension(type, this, (made) => this.#keep(id, made));
    }
  }

  #keys(place: number): readonly string[] {
    const keys = listOf(this.value()).map((key) =>
      typeof key === 'string' && key !== '__proto__' ? key : refuse('a record has a key that none has'),
    );
    this.#records[place] = keys;
    return keys;
  }

  #extended(length: number, outerId: number): unknown {
    const type = this.#byte();
    const bytes = this.#take(length);
    const view = new DataView(bytes.buffer, bytes.byteOffset, length);
    switch (type) {
      case 0x42:
        return bigIntOf(bytes);
      case 0x69: {
        const id = view.getUint32(0);
        return this.#keep(id, this.value(id));
      }
      case 0x70: {
        const id = view.getUint32(0);
        return this.#kept.has(id) ? this.#kept.get(id) : refuse('a reference leads nowhere');
      }
      case 0x74:
        return this.#keep(outerId, typedOf(bytes));
      case 0xff:
        return this.#keep(outerId, new Date(msOf(view)));
      default:
        return refuse(`there is no extension ${type} of ${length} bytes`);
    }
  }

  #keep<Made>(id: number, made: Made): Made {
    if (id > 0) this.#kept.set(id, made);
    return made;
  }

  /** By hand where short: the decoder's own cost is many times that of the bytes. */
  #text(length: number): string {
    if (length > 48) return decoder.decode(this.#take(length));
    const from = this.#at;
    this.#skip(length);
    let text = '';
    for (let at = from; at < this.#at; at += 1) {
      const byte = this.#bytes[at] ?? 0;
      if (byte > 0x7f) return decoder.decode(this.#bytes.subarray(from, this.#at));
      text += String.fromCharCode(byte);
    }
    return text;
  }

  #take(length: number): Uint8Array {
    const from = this.#at;
    this.#skip(length);
    return this.#bytes.subarray(from, this.#at);
  }

  #skip(length: number): void {
    this.#at += length;
    if (this.#at > this.#bytes.length) refuse('it ends too early');
  }

  #byte(): number {
    return this.#bytes[this.#at++] ?? refuse('it ends too early');
  }

  #uint(bytes: number): number {
    let value = 0;
    for (let index = 0; index < bytes; index += 1) value = value * 0x100 + this.#byte();
    return value;
  }

  #number<
    Method extends 'getFloat32' | 'getFloat64' | 'getInt8' | 'getInt16' | 'getInt32' | 'getBigInt64' | 'getBigUint64',
  >(bytes: number, method: Method): number | bigint {
    const from = this.#at;
    this.#at += bytes;
    return this.#view[method](from);
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : refuse('a list is missing');
}

function bigIntOf(bytes: Uint8Array): bigint {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  return BigInt.asIntN(8 * bytes.length, BigInt(`0x${hex.join('')}`));
}

function typedOf([code = -1, ...bytes]: Uint8Array): ArrayBuffer | ArrayBufferView {
  const { buffer } = Uint8Array.from(bytes);
  if (code === 16) return buffer;
  if (code === 17) return new DataView(buffer);
  const type = typedArrays[code];
  return type === undefined ? refuse(`there is no typed array ${code}`) : new type(buffer);
}

/** 4 bytes: seconds. 8: nanoseconds in 30 bits, seconds in 34. 12: nanoseconds in 4 bytes, seconds, signed. */
function msOf(view: DataView): number {
  if (view.byteLength === 4) return view.getUint32(0) * 1000;
  const first = view.getUint32(0);
  if (view.byteLength === 12) return first / 1_000_000 + Number(view.getBigInt64(4)) * 1000;
  return (first >>> 2) / 1_000_000 + ((first & 3) * 0x1_0000_0000 + view.getUint32(4)) * 1000;
}

function refuse(problem: string): never {
  throw new TypeError(`This is no message: ${problem}.`);
}
