/** What a `Checkpointer` keeps of a caller's state, which the caller may change at any time. */
import { ownCopy } from '../base/own-copy.ts';
import { isDeepFrozen } from './deep-frozen.ts';

/** Deeper values are compared by what would be stored. */
const maxDepth = 100;

/** The value as it is now, bytes included. What nothing can change any more is taken as it is. */
export function ownState<Value>(value: Value): Value {
  const buffers = new Map<ArrayBufferLike, ArrayBuffer>();
  const bufferOf = (buffer: ArrayBuffer) => {
    const copy = buffers.get(buffer) ?? buffer.slice(0);
    buffers.set(buffer, copy);
    return copy;
  };
  return ownCopy(value, (part) => {
    if (isDeepFrozen(part)) return part;
    if (part instanceof ArrayBuffer) return bufferOf(part);
    if (!ArrayBuffer.isView(part) || !(part.buffer instanceof ArrayBuffer) || !isPlainView(part)) return undefined;
    return viewLike(part, bufferOf(part.buffer));
  });
}

const typedArray: unknown = Object.getPrototypeOf(Uint8Array.prototype);

/** Of no class of somebody's own: those are refused as they are. */
function isPlainView(view: ArrayBufferView): boolean {
  const prototype: unknown = Object.getPrototypeOf(view);
  return prototype === DataView.prototype || Object.getPrototypeOf(prototype) === typedArray;
}

/** On the whole buffer, as the view is: what shares one goes on sharing it, and is refused as before. */
function viewLike(view: ArrayBufferView, buffer: ArrayBuffer): object {
  const View = view.constructor as new (buffer: ArrayBuffer, from: number, length: number) => object;
  return new View(buffer, view.byteOffset, 'length' in view ? Number(view.length) : view.byteLength);
}

/**
 * Whether two values are plain data of the same content. False where that takes more than a look: then what would be stored tells.
 */
export function isAlike(a: unknown, b: unknown, depth = 0): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || depth > maxDepth) return false;
  const prototype: unknown = Object.getPrototypeOf(a);
  if (prototype !== Object.getPrototypeOf(b)) return false;
  if (prototype !== Object.prototype && !(Array.isArray(a) && Array.isArray(b) && a.length === b.length)) return false;
  const [names, others] = [Object.keys(a), Object.keys(b)];
  if (names.length !== others.length) return false;
  return names.every(
    (name, at) => name === others[at] && isAlike(Reflect.get(a, name), Reflect.get(b, name), depth + 1),
  );
}
