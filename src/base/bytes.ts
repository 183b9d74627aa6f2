const base64urlDigits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Base64url without padding (RFC 4648, section 5). By hand: ids are made many times a step, and `btoa` takes four times as long. */
export function base64url(bytes: Uint8Array): string {
  let text = '';
  for (let index = 0; index < bytes.length; index += 3) {
    const left = bytes.length - index;
    const group = ((bytes[index] ?? 0) << 16) | ((bytes[index + 1] ?? 0) << 8) | (bytes[index + 2] ?? 0);
    for (let digit = 0; digit <= Math.min(left, 3); digit += 1)
      text += base64urlDigits.charAt((group >> (18 - 6 * digit)) & 63);
  }
  return text;
}

/** The bytes of all parts, one after the other, in a buffer of their own. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** Whether both hold the same bytes. Not constant-time: never compare secrets with it. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index += 1) if (a[index] !== b[index]) return false;
  return true;
}

const encoder = new TextEncoder();

/** UTF-8. Lone surrogates become U+FFFD: only for texts known to be well-formed. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/**
 * Parts as one unambiguous byte string: each is preceded by its length (4 bytes, big-endian), so that no two lists of
 * parts give the same bytes. Numbers are 8 bytes, big-endian, unsigned; `null` differs from the empty text.
 *
 * @param before earlier parts, framed.
 */
export function framed(
  parts: readonly (string | number | Uint8Array | null)[],
  before: Uint8Array = new Uint8Array(0),
): Uint8Array<ArrayBuffer> {
  const encoded = parts.every((part) => typeof part !== 'string' || isAscii(part))
    ? parts
    : parts.map((part) => (typeof part === 'string' ? utf8(part) : part));
  let bytes = before.length;
  for (const part of encoded) bytes += 4 + lengthOf(part);
  const whole = new Uint8Array(bytes);
  whole.set(before);
  let offset = before.length;
  for (const part of encoded) {
    const length = lengthOf(part);
    putUint32(whole, offset, part === null ? 0xffff_ffff : length);
    offset += 4;
    if (typeof part === 'string') {
      for (let index = 0; index < length; index += 1) whole[offset + index] = part.charCodeAt(index);
    } else if (typeof part === 'number') {
      putUint32(whole, offset, Math.floor(safe(part) / 2 ** 32));
      putUint32(whole, offset + 4, part % 2 ** 32);
    } else if (part !== null) whole.set(part, offset);
    offset += length;
  }
  return whole;
}

/** By hand: a view of its own, and big integers, cost more than all else here. */
function putUint32(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value >>> 24;
  bytes[offset + 1] = value >>> 16;
  bytes[offset + 2] = value >>> 8;
  bytes[offset + 3] = value;
}

/** Short texts such as keys and ids: written by hand, since the encoder's own cost is many times that of the bytes. */
function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 0x7f) return false;
  return true;
}

function lengthOf(part: string | number | Uint8Array | null): number {
  return part === null ? 0 : typeof part === 'number' ? 8 : part.length;
}

/** Above 2^53 several numbers would give the same bytes, and from 2^64 on those of a small one. */
function safe(number: number): number {
  if (!Number.isSafeInteger(number)) throw new RangeError(`${number} cannot be framed: it is no safe integer.`);
  return number;
}
