/** State on its way between worker and page: what has methods becomes plain data, and files become `FileRef`s. */

import { LogView } from '../codec/log-codec.ts';
import type { StateRecord } from '../engine/thread-state.ts';
import { FileRef } from '../model/file-ref.ts';

/** Items of a log that a page gets with the state. */
const tailItems = 100;

/** Each log as its length and its newest items; secrets stay in the worker. */
export async function plainState(state: StateRecord, secrets: ReadonlySet<string>): Promise<StateRecord> {
  const fields = Object.entries(state).filter(([name]) => !secrets.has(name));
  const plain = await Promise.all(fields.map(async ([name, value]) => [name, await plainField(value)] as const));
  return Object.fromEntries(plain);
}

async function plainField(value: unknown): Promise<unknown> {
  return value instanceof LogView ? { length: value.length, tail: await value.tail(tailItems) } : value;
}

/** An input with every `File` in it read and turned into a `FileRef`. Shared and cyclic parts stay so. */
export async function withFileRefs(value: unknown, made = new Map<unknown, unknown>()): Promise<unknown> {
  if (typeof value !== 'object' || value === null) return value;
  if (made.has(value)) return made.get(value);
  if (typeof Blob !== 'undefined' && value instanceof Blob) {
    made.set(value, await fileRef(value));
    return made.get(value);
  }
  const isList = Array.isArray(value);
  if (!isList && Object.getPrototypeOf(value) !== Object.prototype) return value;
  const copy: Record<string, unknown> | unknown[] = isList ? [] : {};
  made.set(value, copy);
  for (const [key, item] of Object.entries(value)) {
    Object.defineProperty(copy, key, {
      value: await withFileRefs(item, made),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return copy;
}

async function fileRef(blob: Blob): Promise<FileRef> {
  const name = 'name' in blob && typeof blob.name === 'string' ? blob.name : '';
  return FileRef.from({ name, type: blob.type, bytes: new Uint8Array(await blob.arrayBuffer()) });
}
