/** What may come of reading hostile bytes. */
import { HoldfastError } from '../../src/base/errors.ts';

export type Verdict =
  /** Refused with a code that the documentation names. */
  | { readonly is: 'refused'; readonly code: string }
  /** Read, and that was right. */
  | { readonly is: 'read' }
  | { readonly is: 'crash'; readonly message: string }
  /** Read although it was changed. */
  | { readonly is: 'accepted'; readonly message: string };

/** The codes with which a decoder may refuse a record. */
const refusals = new Set(['record_damaged', 'record_missing', 'format_unknown', 'key_missing', 'key_wrong']);

export function judgeError(error: unknown, allowed: ReadonlySet<string> = refusals): Verdict {
  if (!(error instanceof HoldfastError)) return { is: 'crash', message: told(error) };
  if (!allowed.has(error.code))
    return { is: 'crash', message: `refused with the code ${error.code}: ${error.message}` };
  return { is: 'refused', code: error.code };
}

export function told(error: unknown): string {
  if (!(error instanceof Error)) return `something that is no error was thrown: ${typeof error}`;
  return (error.stack ?? String(error)).split('\n').slice(0, 4).join(' | ').slice(0, 600);
}

const guarded = [
  Object.prototype,
  Array.prototype,
  Function.prototype,
  Map.prototype,
  String.prototype,
  Error.prototype,
  Promise.prototype,
];
const before = guarded.map((prototype) => Reflect.ownKeys(prototype).length);

/** Cleans up after itself, so that one fault is not reported for every later run. */
export function pollution(): string | undefined {
  const found = guarded.findIndex((prototype, index) => Reflect.ownKeys(prototype).length !== before[index]);
  const prototype = guarded[found];
  if (prototype === undefined) return undefined;
  const added = Reflect.ownKeys(prototype).slice(before[found]);
  for (const key of added) Reflect.deleteProperty(prototype, key);
  return `a prototype got ${added.map(String).join(', ')}`;
}

const builtIn = new Set<unknown>(
  [
    Object,
    Array,
    Map,
    Set,
    Date,
    RegExp,
    Error,
    ArrayBuffer,
    DataView,
    EvalError,
    RangeError,
    ReferenceError,
    SyntaxError,
    TypeError,
    URIError,
  ]
    .map(({ prototype }): unknown => prototype)
    .concat(
      [
        Int8Array,
        Uint8Array,
        Uint8ClampedArray,
        Int16Array,
        Uint16Array,
        Int32Array,
        Uint32Array,
        Float32Array,
        Float64Array,
        BigInt64Array,
        BigUint64Array,
      ].map(({ prototype }): unknown => prototype),
    ),
);

/** A plain object whose prototype came out of the bytes. */
export function strangePrototype(value: unknown): string | undefined {
  const seen = new Set<unknown>();
  const waiting: unknown[] = [value];
  while (waiting.length > 0 && seen.size < 500) {
    const item = waiting.pop();
    if (typeof item !== 'object' || item === null || seen.has(item)) continue;
    seen.add(item);
    const prototype: unknown = Object.getPrototypeOf(item);
    const isPlainEnough =
      prototype === null || builtIn.has(prototype) || !Object.hasOwn(prototype as object, 'polluted');
    if (!isPlainEnough) return 'an object has a prototype that came out of the bytes';
    if (ArrayBuffer.isView(item)) continue;
    for (const part of item instanceof Map ? [...item.keys(), ...item.values()] : Object.values(item))
      waiting.push(part);
  }
  return undefined;
}
