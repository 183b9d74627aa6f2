/**
 * A deterministic stand-in for WebCrypto, for simulators and tests: it authenticates like the real one and hides nothing.
 * Never for real data.
 */
import { concatBytes, equalBytes, framed, utf8 } from '../base/bytes.ts';
import type { Random } from '../base/random.ts';
import type { Cipher, Cryptography } from '../codec/cipher.ts';

export function plainCryptography(random: Random): Cryptography<Uint8Array> {
  return {
    createRootKey: async () => random.bytes(32),
    rootCipher: cipherOf,
    dataCipher: async (secret) => ({ ...cipherOf(secret), hash: async (data) => digest32(framed([secret, data])) }),
  };
}

function cipherOf(secret: Uint8Array): Cipher {
  const tagOf = (nonce: Uint8Array, aad: Uint8Array, text: Uint8Array) =>
    digest32(framed([secret, nonce, aad, text])).subarray(0, 16);
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

/** 32 bytes that depend on every input byte. Not cryptographic. */
function digest32(data: Uint8Array): Uint8Array {
  const lanes = Uint32Array.from({ length: 8 }, (_, lane) => 0x811c9dc5 ^ Math.imul(lane + 1, 0x9e3779b1));
  for (const byte of concatBytes(data, utf8(`#${data.length}`))) {
    for (let lane = 0; lane < 8; lane += 1) {
      const mixed = Math.imul((lanes[lane] ?? 0) ^ (byte + lane), 0x01000193);
      lanes[lane] = (mixed ^ (mixed >>> 13)) >>> 0;
    }
  }
  return new Uint8Array(lanes.buffer);
}
