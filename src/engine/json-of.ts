import { base64url } from '../base/bytes.ts';
import { FileRef } from '../model/file-ref.ts';

/**
 * Any storable value as JSON. What JSON has no form for is an object with one property that begins with `$`: `$date`, `$bigint`,
 * `$number` (NaN, -0, infinities), `$undefined`, `$map`, `$set`, `$bytes` (base64url), `$error`, `$file` (name, type and size, not its
 * content), `$again` (the path of the same object, where it is shared or cyclic).
 */
export function jsonOf(value: unknown, path = '', seen = new Map<object, string>()): unknown {
  if (value === undefined) return { $undefined: true };
  if (typeof value === 'bigint') return { $bigint: String(value) };
  if (typeof value === 'number') {
    if (Number.isFinite(value) && !Object.is(value, -0)) return value;
    return { $number: Object.is(value, -0) ? '-0' : String(value) };
  }
  if (typeof value !== 'object' || value === null) return value;
  const before = seen.get(value);
  if (before !== undefined) return { $again: before };
  seen.set(value, path);
  const inner = (item: unknown, key: string | number) => jsonOf(item, `${path}/${key}`, seen);
  if (value instanceof Date) return { $date: Number.isNaN(value.getTime()) ? null : value.toISOString() };
  if (value instanceof FileRef) return { $file: { name: value.name, type: value.type, sizeBytes: value.sizeBytes } };
  if (value instanceof Error) return { $error: { name: value.name, message: value.message } };
  if (value instanceof ArrayBuffer) return { $bytes: inParts(new Uint8Array(value)) };
  if (ArrayBuffer.isView(value)) {
    return { $bytes: inParts(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)) };
  }
  if (Array.isArray(value)) return value.map(inner);
  if (value instanceof Map) {
    return { $map: [...value].map(([key, item], index) => [inner(key, `${index}.key`), inner(item, index)]) };
  }
  if (value instanceof Set) return { $set: [...value].map(inner) };
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inner(item, key)]));
}

/** Long byte strings in parts whose length is a multiple of 3, so that the texts join. */
function inParts(bytes: Uint8Array): string {
  const partBytes = 3 * 8_192;
  const count = Math.ceil(bytes.length / partBytes);
  return Array.from({ length: count }, (_, index) =>
    base64url(bytes.subarray(index * partBytes, (index + 1) * partBytes)),
  ).join('');
}
