/**
 * MessagePack through msgpackr. Two dialects:
 *
 * - Bodies of records: standard MessagePack, arrays and maps only, so that any decoder reads them.
 * - Values of the state: msgpackr's structured-clone dialect (Map, Set, Date, typed arrays, cycles …) with four
 *   extensions of our own, written for what MessagePack would change without a word.
 *
 * `pack` of msgpackr returns a view on a buffer it shares between calls: everything here copies out of it.
 */
import { addExtension, Packr } from 'msgpackr';

const bodies = new Packr({ mapsAsObjects: false, useRecords: false, variableMapSize: true });
const values = new Packr({ structuredClone: true });

export function packBody(body: readonly unknown[]): Uint8Array {
  return new Uint8Array(bodies.pack(body));
}

export function unpackBody(bytes: Uint8Array): unknown {
  return bodies.unpack(bytes);
}

/** Stands for -0. */
export class NegativeZero {}
/** Stands for a text with lone surrogates, or with a byte order mark in front, as UTF-16 code units. */
export class LooseText {
  constructor(readonly units: readonly number[]) {}
}
/** Stands for an Error: its class name, message, stack and cause. */
export class StoredError {
  constructor(readonly parts: readonly unknown[]) {}
}
/** Stands for a large value or a file that is kept as a blob. */
export class LargeRef {
  constructor(
    readonly hash: string,
    readonly bytes: number,
    readonly form: LargeForm,
    readonly name = '',
    readonly type = '',
  ) {}
}
/** `packed`: a value in the value dialect; `text`: UTF-8; `bytes`: a Uint8Array; `file`: a FileRef's content. */
export type LargeForm = 'packed' | 'text' | 'bytes' | 'file';

/** How a `LargeRef` becomes a value while one message is unpacked. Unpacking is synchronous, so one slot is enough. */
let resolveLarge: (ref: LargeRef) => unknown = (ref) => ref;

addExtension({ Class: NegativeZero, type: 0x48, write: () => null, read: () => -0 });
addExtension({
  Class: LooseText,
  type: 0x49,
  write: (text: LooseText) => text.units,
  read: textOfUnits,
});
addExtension({ Class: StoredError, type: 0x4a, write: (error: StoredError) => error.parts, read: readError });
addExtension({
  Class: LargeRef,
  type: 0x4b,
  write: (ref: LargeRef) => [ref.hash, ref.bytes, ref.form, ref.name, ref.type],
  read: (parts: unknown) => resolveLarge(largeRefOf(parts)),
});

export function packValue(value: unknown): Uint8Array {
  return new Uint8Array(values.pack(value));
}

export function unpackValue(bytes: Uint8Array, resolve: (ref: LargeRef) => unknown): unknown {
  resolveLarge = resolve;
  return values.unpack(bytes);
}

const errorClasses = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

export function isPlainErrorClass(name: string): name is keyof typeof errorClasses {
  return Object.hasOwn(errorClasses, name);
}

/** One after the other: a call takes only some 100,000 arguments. */
function textOfUnits(units: unknown): string {
  if (!Array.isArray(units)) throw new TypeError('The code units of a text are no list.');
  let text = '';
  for (const unit of units) text += String.fromCharCode(unit as number);
  return text;
}

/** @throws TypeError */
export function largeRefOf(parts: unknown): LargeRef {
  const [hash, bytes, form, name, type] = Array.isArray(parts) ? (parts as readonly unknown[]) : [];
  const isText = [hash, name, type].every((part) => typeof part === 'string');
  const isSize = typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes >= 0;
  const isForm = form === 'packed' || form === 'text' || form === 'bytes' || form === 'file';
  if (!isText || !isSize || !isForm) throw new TypeError('The reference to a large value has parts that none has.');
  return new LargeRef(hash as string, bytes, form, name as string, type as string);
}

function readError(parts: readonly unknown[]): Error {
  const [name, message, stack, hasCause, cause] = parts;
  if (typeof name !== 'string' || !isPlainErrorClass(name) || typeof message !== 'string') {
    throw new TypeError('An error has no class or no message.');
  }
  const error = new errorClasses[name](message, hasCause === true ? { cause } : undefined);
  Object.defineProperty(error, 'stack', {
    value: typeof stack === 'string' ? stack : undefined,
    writable: true,
    configurable: true,
  });
  return error;
}
