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
  return Uint8Array.from(bodies.pack(body));
}

export function unpackBody(bytes: Uint8Array): unknown {
  return bodies.unpack(bytes);
}

/** Stands for -0. */
export class NegativeZero {}
/** Stands for a text with lone surrogates, as UTF-16 code units. */
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
  read: (units: number[]) => String.fromCharCode(...units),
});
addExtension({ Class: StoredError, type: 0x4a, write: (error: StoredError) => error.parts, read: readError });
addExtension({
  Class: LargeRef,
  type: 0x4b,
  write: (ref: LargeRef) => [ref.hash, ref.bytes, ref.form, ref.name, ref.type],
  read: (parts: [string, number, LargeForm, string, string]) => resolveLarge(new LargeRef(...parts)),
});

export function packValue(value: unknown): Uint8Array {
  return Uint8Array.from(values.pack(value));
}

export function unpackValue(bytes: Uint8Array, resolve: (ref: LargeRef) => unknown): unknown {
  resolveLarge = resolve;
  return values.unpack(bytes);
}

const errorClasses = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

export function isPlainErrorClass(name: string): name is keyof typeof errorClasses {
  return Object.hasOwn(errorClasses, name);
}

function readError(parts: [keyof typeof errorClasses, string, string | null, boolean, unknown]): Error {
  const [name, message, stack, hasCause, cause] = parts;
  const error = new errorClasses[name](message, hasCause ? { cause } : undefined);
  Object.defineProperty(error, 'stack', { value: stack ?? undefined, writable: true, configurable: true });
  return error;
}
