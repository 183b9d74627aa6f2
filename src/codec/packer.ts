/**
 * MessagePack, in two dialects:
 *
 * - Bodies of records: standard MessagePack, arrays and maps only, so that any decoder reads them.
 * - Values of the state: msgpackr's structured-clone dialect (Map, Set, Date, typed arrays, cycles …) with four
 *   extensions of our own, written for what MessagePack would change without a word.
 */
import { type MessageReader, readMessage } from './message-reader.ts';
import { MessageWriter } from './message-writer.ts';

const bodies = new MessageWriter();
const values = new MessageWriter(standInParts);

export function packBody(body: readonly unknown[]): Uint8Array {
  return bodies.write(body);
}

/** @throws where the bytes are no message */
export function unpackBody(bytes: Uint8Array): unknown {
  return unpackValue(bytes, (ref) => ref);
}

export function packValue(value: unknown): Uint8Array {
  return values.write(value);
}

/** `resolve` makes a value of each reference to one that is kept as a blob. @throws where the bytes are no message */
export function unpackValue(bytes: Uint8Array, resolve: (ref: LargeRef) => unknown): unknown {
  return readMessage(bytes, (type, reader, keep) => {
    if (type === 0x4a) return readError(reader, keep);
    const content = reader.value();
    if (type === 0x48) return -0;
    if (type === 0x49) return textOfUnits(content);
    if (type === 0x4b) return resolve(largeRefOf(content));
    throw new TypeError(`There is no extension ${type}.`);
  });
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

function standInParts(value: object): { type: number; content: unknown } | undefined {
  if (value instanceof NegativeZero) return { type: 0x48, content: null };
  if (value instanceof LooseText) return { type: 0x49, content: value.units };
  if (value instanceof StoredError) return { type: 0x4a, content: value.parts };
  if (value instanceof LargeRef) {
    return { type: 0x4b, content: [value.hash, value.bytes, value.form, value.name, value.type] };
  }
  return undefined;
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

/** The error is there before its cause is read, which may lead back to it. */
function readError(reader: MessageReader, keep: <Made>(made: Made) => Made): Error {
  const count = reader.listLength();
  const [name, message, stack, hasCause] = [reader.value(), reader.value(), reader.value(), reader.value()];
  if (count !== 5 || typeof name !== 'string' || !isPlainErrorClass(name) || typeof message !== 'string') {
    throw new TypeError('An error has no class or no message.');
  }
  const error = keep(new errorClasses[name](message));
  const hidden = { writable: true, configurable: true };
  Object.defineProperty(error, 'stack', { value: stack ?? undefined, ...hidden });
  const cause = reader.value();
  if (hasCause === true) Object.defineProperty(error, 'cause', { value: cause, ...hidden });
  return error;
}
