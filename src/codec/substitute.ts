import { beginsWithByteOrderMark, hasLoneSurrogate } from '../base/text.ts';
import { type LargeRef, LooseText, NegativeZero, StoredError } from './packer.ts';

/**
 * A copy of an inspected value in which everything that needs one has its stand-in. Shared and cyclic references stay
 * shared and cyclic. `refs` holds a reference for each value that `inspectValue` called large.
 */
export function substitute(value: unknown, refs: ReadonlyMap<unknown, LargeRef>): unknown {
  const copies = new Map<object, unknown>();

  const copy = (item: unknown): unknown => {
    if (typeof item === 'number') return Object.is(item, -0) ? new NegativeZero() : item;
    if (typeof item === 'string') return refs.get(item) ?? copyText(item);
    if (typeof item !== 'object' || item === null) return item;
    const known = copies.get(item);
    if (known !== undefined) return known;
    return copyObject(item);
  };

  const remember = <T>(original: object, made: T): T => {
    copies.set(original, made);
    return made;
  };

  const copyObject = (item: object): unknown => {
    const ref = refs.get(item);
    if (ref !== undefined) return remember(item, ref);
    if (Array.isArray(item)) {
      const made: unknown[] = remember(item, []);
      for (const element of item) made.push(copy(element));
      return made;
    }
    if (item instanceof Map) {
      const made = remember(item, new Map<unknown, unknown>());
      for (const [key, element] of item) made.set(copy(key), copy(element));
      return made;
    }
    if (item instanceof Set) {
      const made = remember(item, new Set<unknown>());
      for (const element of item) made.add(copy(element));
      return made;
    }
    if (item instanceof Error) return copyError(item);
    if (ArrayBuffer.isView(item)) return remember(item, exactView(item));
    if (item instanceof Date || item instanceof ArrayBuffer) return item;
    const made: Record<string, unknown> = remember(item, {});
    for (const [key, element] of Object.entries(item)) made[key] = copy(element);
    return made;
  };

  const copyError = (error: Error): StoredError => {
    const parts: unknown[] = [error.constructor.name, copy(error.message), copy(error.stack ?? null)];
    const made = remember(error, new StoredError(parts));
    const hasCause = Object.hasOwn(error, 'cause');
    parts.push(hasCause, hasCause ? copy(error.cause) : null);
    return made;
  };

  return copy(value);
}

/** msgpackr reads texts by a decoder that drops what looks like a byte order mark, in browsers and where they are long. */
function copyText(text: string): string | LooseText {
  return hasLoneSurrogate(text) || beginsWithByteOrderMark(text) ? new LooseText(codeUnits(text)) : text;
}

function codeUnits(text: string): number[] {
  return Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
}

/** A view that is all of its buffer, so that no neighbouring bytes are stored with it. */
function exactView(view: ArrayBufferView): ArrayBufferView {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice();
  if (view instanceof DataView) return new DataView(bytes.buffer);
  const make = view.constructor as new (buffer: ArrayBuffer) => ArrayBufferView;
  return new make(bytes.buffer);
}
