/** Base64url without padding (RFC 4648, section 5). For short byte strings. */
export function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
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
 */
export function framed(parts: readonly (string | number | Uint8Array | null)[]): Uint8Array<ArrayBuffer> {
  return concatBytes(
    ...parts.flatMap((part) => {
      const bytes =
        part === null
          ? undefined
          : typeof part === 'string'
            ? utf8(part)
            : typeof part === 'number'
              ? uint64(part)
              : part;
      return [uint32(bytes === undefined ? 0xffff_ffff : bytes.length), bytes ?? new Uint8Array(0)];
    }),
  );
}

function uint32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

function uint64(value: number): Uint8Array {
  // Above 2^53 several numbers would give the same bytes, and from 2^64 on those of a small one.
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} cannot be framed: it is no safe integer.`);
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}
