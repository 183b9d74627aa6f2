/**
 * A deterministic stand-in for WebCrypto, for simulators and tests: it authenticates like the real one and hides nothing.
 * Never for real data.
 */
import { concatBytes, equalBytes } from '../base/bytes.ts';
import type { Random } from '../base/random.ts';
import type { Cipher, Cryptography } from '../codec/cipher.ts';

export function plainCryptography(random: Random): Cryptography<Uint8Array> {
  return {
    createRootKey: async () => random.bytes(32),
    rootCipher: cipherOf,
    dataCipher: async (secret) => ({ ...cipherOf(secret), hash: async (data) => digest32(secret, data) }),
  };
}

function cipherOf(secret: Uint8Array): Cipher {
  const tagOf = (nonce: Uint8Array, aad: Uint8Array, text: Uint8Array) =>
    digest32(secret, nonce, aad, text).subarray(0, 16);
  return {
    encrypt: async (nonce, aad, plaintext) => concatBytes(plaintext, tagOf(nonce, aad, plaintext)),
    decrypt: async (nonce, aad, ciphertext) => {
      const text = ciphertext.slice(0, ciphertext.length - 16);
      const isAuthentic = equalBytes(tagOf(nonce, aad, text), ciphertext.subarray(ciphertext.length - 16));
      if (!isAuthentic) throw new Error('The bytes do not authenticate.');
      return text;
    },
  };
}

/** 32 bytes that depend on every byte of every part, and on where the parts end. Fast, and not cryptographic. */
function digest32(...parts: readonly Uint8Array[]): Uint8Array {
  let [a, b] = [0x811c9dc5, 0x9e3779b1];
  const mix = (word: number): void => {
    a = Math.imul(a ^ word, 0x01000193) ^ (b >>> 15);
    b = Math.imul(b ^ (word + a), 0x85ebca6b) ^ (a >>> 13);
  };
  for (const part of parts) {
    const whole = part.length & ~3;
    for (let at = 0; at < whole; at += 4) {
      mix((part[at] ?? 0) | ((part[at + 1] ?? 0) << 8) | ((part[at + 2] ?? 0) << 16) | ((part[at + 3] ?? 0) << 24));
    }
    for (let at = whole; at < part.length; at += 1) mix((part[at] ?? 0) + 0x100);
    mix(part.length);
  }
  const words = new Uint32Array(8);
  for (let index = 0; index < 8; index += 1) {
    mix(index);
    words[index] = a ^ b;
  }
  return new Uint8Array(words.buffer);
}
