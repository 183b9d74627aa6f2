/**
 * Writes values as MessagePack. Alone it writes the standard: lists, maps, texts, numbers, bytes. With `extensionOf` it writes
 * the structured-clone dialect of msgpackr 2.1, byte for byte what that writes in a browser: records, references, dates, sets,
 * typed arrays, big integers. What is given was inspected before: nothing here calls code of the value.
 */
import { typedArrays } from './typed-arrays.ts';

/** What stands for a value in an extension of our own; `undefined` for every value that has none. */
export type ExtensionOf = (value: object) => { readonly type: number; readonly content: unknown } | undefined;

const encoder = new TextEncoder();
/** A buffer above this is given up after the message that needed it. */
const keptBytes = 0x10_0000;

/** The keys of records that were written, as a tree: one step for each key. */
interface Shape {
  readonly next: Map<string, Shape>;
  id: number;
}

export class MessageWriter {
  readonly #extensionOf: ExtensionOf | undefined;
  #bytes = new Uint8Array(0x2000);
  #view = new DataView(this.#bytes.buffer);
  #at = 0;
  /** Where each object of this message begins, and the numbers of those that are referred to. */
  #offsets = new Map<object, number>();
  #ids = new Map<number, number>();
  #shapes: Shape = { next: new Map(), id: 0 };
  #recorded: Shape[] = [];

  constructor(extensionOf?: ExtensionOf) {
    this.#extensionOf = extensionOf;
  }

  /** The message, in a buffer of its own. @throws TypeError for what no message can hold; RangeError for what is nested too deep. */
  write(value: unknown): Uint8Array {
    try {
      this.#value(value);
      return this.#ids.size === 0 ? this.#bytes.slice(0, this.#at) : this.#withIds();
    } finally {
      this.#at = 0;
      if (this.#offsets.size > 0) this.#offsets = new Map();
      if (this.#ids.size > 0) this.#ids = new Map();
      if (this.#recorded.length > 0) [this.#shapes, this.#recorded] = [{ next: new Map(), id: 0 }, []];
      if (this.#bytes.length > keptBytes) this.#grow(0);
    }
  }

  #value(value: unknown): void {
    this.#room(16);
    if (typeof value === 'string') this.#text(value);
    else if (typeof value === 'number') this.#number(value);
    else if (typeof value === 'boolean') this.#byte(value ? 0xc3 : 0xc2);
    else if (typeof value === 'bigint') this.#bigInt(value);
    else if (value === undefined) this.#tag(0, 0);
    else if (value === null) this.#byte(0xc0);
    else if (typeof value === 'object') this.#object(value);
    else throw new TypeError(`A ${typeof value} cannot be written.`);
  }

  #object(value: object): void {
    if (this.#extensionOf !== undefined && this.#isKnown(value)) return;
    if (Array.isArray(value)) this.#list(value);
    else if (value instanceof Uint8Array) this.#raw(value, 0xc4);
    else if (value instanceof Map) this.#map(value);
    else if (this.#extensionOf === undefined) this.#map(new Map(Object.entries(value)));
    else this.#extended(value, this.#extensionOf(value));
  }

  #extended(value: object, extension: ReturnType<ExtensionOf>): void {
    if (extension !== undefined) {
      this.#tag(extension.type, 0);
      this.#value(extension.content);
    } else if (value instanceof Set) {
      this.#tag(0x73, 0);
      this.#list([...value]);
    } else if (value instanceof Date) this.#date(value);
    else if (value instanceof ArrayBuffer) this.#typed(16, new Uint8Array(value));
    else if (ArrayBuffer.isView(value)) {
      const code = value instanceof DataView ? 17 : typedArrays.findIndex((type) => value instanceof type);
      this.#typed(code, new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    } else this.#record(value);
  }

  /** Writes a reference where the object was written before; else remembers where it begins. */
  #isKnown(value: object): boolean {
    const offset = this.#offsets.get(value);
    if (offset === undefined) {
      this.#offsets.set(value, this.#at);
      return false;
    }
    const id = this.#ids.get(offset) ?? this.#ids.size + 1;
    this.#ids.set(offset, id);
    this.#uint(2, 0xd670);
    this.#uint(4, id);
    return true;
  }

  /** The message with the numbers of objects before those that are referred to: only now is it known which those are. */
  #withIds(): Uint8Array {
    const whole = new Uint8Array(this.#at + 6 * this.#ids.size);
    const view = new DataView(whole.buffer);
    let [from, to] = [0, 0];
    for (const [offset, id] of [...this.#ids].sort(([a], [b]) => a - b)) {
      whole.set(this.#bytes.subarray(from, offset), to);
      to += offset - from;
      view.setUint16(to, 0xd669);
      view.setUint32(to + 2, id);
      to += 6;
      from = offset;
    }
    whole.set(this.#bytes.subarray(from, this.#at), to);
    return whole;
  }

  #list(items: readonly unknown[]): void {
    this.#length(items.length, 0x90, 0xdc);
    for (const item of items) this.#value(item);
  }

  #map(map: ReadonlyMap<unknown, unknown>): void {
    this.#length(map.size, 0x80, 0xde);
    for (const [key, item] of map) {
      this.#value(key);
      this.#value(item);
    }
  }

  /** The keys are written once for each shape in the message; 64 shapes can be known at a time, the oldest gives way. */
  #record(value: object): void {
    const keys = Object.keys(value);
    let shape = this.#shapes;
    for (const key of keys) {
      let next = shape.next.get(key);
      if (next === undefined) {
        next = { next: new Map(), id: 0 };
        shape.next.set(key, next);
      }
      shape = next;
    }
    if (shape.id > 0) this.#byte(shape.id);
    else {
      const place = this.#recorded.length % 64;
      const oldest = this.#recorded.at(-64);
      if (oldest !== undefined) oldest.id = 0;
      shape.id = 0x40 + place;
      this.#recorded.push(shape);
      this.#tag(0x72, shape.id);
      this.#list(keys);
    }
    for (const key of keys) this.#value((value as Readonly<Record<string, unknown>>)[key]);
  }

  #number(value: number): void {
    // From 0x40 on, a byte stands for a record in the dialect that has them.
    const short = this.#extensionOf === undefined ? 0x80 : 0x40;
    if (value >>> 0 === value) {
      if (value < short) this.#byte(value);
      else this.#sized(value, 0xcc);
    } else if (value >> 0 === value) {
      const step = value >= -0x80 ? 0 : value >= -0x8000 ? 1 : 2;
      if (value < -0x20) this.#byte(0xd0 + step);
      this.#uint(1 << step, value);
    } else {
      this.#byte(0xcb);
      this.#view.setFloat64(this.#at, value);
      this.#at += 8;
    }
  }

  #bigInt(value: bigint): void {
    const isSigned = BigInt.asIntN(64, value) === value;
    if (isSigned || BigInt.asUintN(64, value) === value) {
      this.#byte(isSigned ? 0xd3 : 0xcf);
      this.#view.setBigUint64(this.#at, BigInt.asUintN(64, value));
      this.#at += 8;
      return;
    }
    const bits = (value < 0n ? ~value : value).toString(2).length + 1;
    const words = Math.ceil(bits / 64);
    const hex = BigInt.asUintN(64 * words, value)
      .toString(16)
      .padStart(16 * words, '0');
    const bytes = Uint8Array.from({ length: 8 * words }, (_, index) =>
      Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16),
    );
    if (words === 2) this.#byte(0xd8);
    else this.#sized(bytes.length, 0xc7);
    this.#byte(0x42);
    this.#raw(bytes);
  }

  #date(value: Date): void {
    const ms = value.getTime();
    const seconds = Math.floor(ms / 1000);
    const fraction = ms - seconds * 1000;
    if (Number.isNaN(ms)) this.#tag(0xff, 0xff);
    else if (fraction === 0 && seconds >= 0 && seconds < 0x1_0000_0000) {
      this.#uint(2, 0xd6ff);
      this.#uint(4, seconds);
    } else if (ms > 0 && seconds < 0x4_0000_0000) {
      this.#uint(2, 0xd7ff);
      this.#uint(4, fraction * 4_000_000 + Math.floor(seconds / 0x1_0000_0000));
      this.#uint(4, seconds);
    } else {
      this.#sized(12, 0xc7);
      this.#byte(0xff);
      this.#uint(4, fraction * 1_000_000);
      this.#view.setBigInt64(this.#at, BigInt(seconds));
      this.#at += 8;
    }
  }

  #typed(code: number, bytes: Uint8Array): void {
    this.#sized(bytes.length + 1, 0xc7);
    this.#byte(0x74);
    this.#byte(code);
    this.#raw(bytes);
  }

  #text(text: string): void {
    const { length } = text;
    this.#room(length * 3 + 5);
    if (length < 64 && this.#ascii(text)) return;
    const { written } = encoder.encodeInto(text, this.#bytes.subarray(this.#at + 5));
    const from = this.#at + 5;
    if (written < 0x20) this.#byte(0xa0 | written);
    else this.#sized(written, 0xd9);
    this.#bytes.copyWithin(this.#at, from, from + written);
    this.#at += written;
  }

  /** By hand: most texts are short keys and ids, for which the encoder's own cost is many times that of the bytes. */
  #ascii(text: string): boolean {
    const { length } = text;
    const start = this.#at + (length < 0x20 ? 1 : 2);
    for (let index = 0; index < length; index += 1) {
      const unit = text.charCodeAt(index);
      if (unit > 0x7f) return false;
      this.#bytes[start + index] = unit;
    }
    if (length < 0x20) this.#byte(0xa0 | length);
    else this.#sized(length, 0xd9);
    this.#at += length;
    return true;
  }

  /** Length of a list or map: in the first byte, or in 2 or 4 bytes behind it. */
  #length(length: number, short: number, long: number): void {
    if (length < 0x10) this.#byte(short | length);
    else {
      this.#byte(length < 0x1_0000 ? long : long + 1);
      this.#uint(length < 0x1_0000 ? 2 : 4, length);
    }
  }

  /** A number, or the length of a text, of bytes or of an extension: in 1, 2 or 4 bytes. */
  #sized(length: number, first: number): void {
    const step = length < 0x100 ? 0 : length < 0x1_0000 ? 1 : 2;
    this.#byte(first + step);
    this.#uint(1 << step, length);
  }

  #tag(type: number, content: number): void {
    this.#byte(0xd4);
    this.#byte(type);
    this.#byte(content);
  }

  /** Bytes, behind their length if `first` says how that is written. */
  #raw(bytes: Uint8Array, first?: number): void {
    if (first !== undefined) this.#sized(bytes.length, first);
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  #byte(value: number): void {
    this.#bytes[this.#at] = value;
    this.#at += 1;
  }

  #uint(bytes: number, value: number): void {
    for (let shift = 8 * (bytes - 1); shift >= 0; shift -= 8) this.#byte(value >>> shift);
  }

  #room(bytes: number): void {
    if (this.#at + bytes > this.#bytes.length) this.#grow(2 * (this.#at + bytes));
  }

  #grow(bytes: number): void {
    const before = this.#bytes.subarray(0, this.#at);
    this.#bytes = new Uint8Array(Math.max(bytes, 0x2000));
    this.#bytes.set(before);
    this.#view = new DataView(this.#bytes.buffer);
  }
}
