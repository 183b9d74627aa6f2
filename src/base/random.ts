import { base64url } from './bytes.ts';

/** Unpredictable bytes, as a port: tests and the simulator give a seeded one. */
export interface Random {
  /** `length` fresh random bytes. */
  bytes(length: number): Uint8Array;
}

/** A random id of `byteLength` bytes (default 12, 16 characters) in the base64url alphabet. */
export function randomId(random: Random, byteLength = 12): string {
  return base64url(random.bytes(byteLength));
}

/** A fraction in [0, 1) with 32 bits of randomness. */
export function randomFraction(random: Random): number {
  const bytes = random.bytes(4);
  return new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0) / 2 ** 32;
}
