import { utf8 } from '../base/bytes.ts';
import type { Random } from '../base/random.ts';
import type { Cipher, Cryptography, DataCipher } from './cipher.ts';

/**
 * AES-256-GCM and HMAC-SHA-256 by WebCrypto. The root key is non-extractable; a data secret of 32 bytes gives, through
 * HKDF-SHA-256 with an empty salt, the record key (info `holdfast/1 seal`) and the hash key (info `holdfast/1 hash`).
 */
export const webCryptography: Cryptography<CryptoKey> = {
  createRootKey: () => subtle().generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']),
  rootCipher: gcm,
  async dataCipher(secret) {
    const base = await subtle().importKey('raw', owned(secret), 'HKDF', false, ['deriveKey']);
    const derive = (info: string, algorithm: AesKeyGenParams | HmacKeyGenParams, usages: KeyUsage[]) =>
      subtle().deriveKey(
        { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info: utf8(info) },
        base,
        algorithm,
        false,
        usages,
      );
    const [sealKey, hashKey] = await Promise.all([
      derive('holdfast/1 seal', { name: 'AES-GCM', length: 256 }, ['encrypt', 'decrypt']),
      derive('holdfast/1 hash', { name: 'HMAC', hash: 'SHA-256', length: 256 }, ['sign']),
    ]);
    return {
      ...gcm(sealKey),
      hash: async (data) => new Uint8Array(await subtle().sign('HMAC', hashKey, owned(data))),
    } satisfies DataCipher;
  },
};

/** Asking the platform costs many times what a nonce is worth: it is asked for so many bytes at once. */
const poolBytes = 4_096;
const pool = new Uint8Array(poolBytes);
let poolUsed = poolBytes;

/** Random bytes of the platform; each is given once, and not kept. */
export const webRandom: Random = {
  bytes(length) {
    if (length > poolBytes / 8) return crypto.getRandomValues(new Uint8Array(length));
    if (poolUsed + length > poolBytes) {
      crypto.getRandomValues(pool);
      poolUsed = 0;
    }
    const bytes = pool.slice(poolUsed, poolUsed + length);
    pool.fill(0, poolUsed, poolUsed + length);
    poolUsed += length;
    return bytes;
  },
};

function gcm(key: CryptoKey): Cipher {
  const parameters = (nonce: Uint8Array, aad: Uint8Array): AesGcmParams => ({
    name: 'AES-GCM',
    iv: owned(nonce),
    additionalData: owned(aad),
  });
  return {
    encrypt: async (nonce, aad, plaintext) =>
      new Uint8Array(await subtle().encrypt(parameters(nonce, aad), key, owned(plaintext))),
    decrypt: async (nonce, aad, ciphertext) =>
      new Uint8Array(await subtle().decrypt(parameters(nonce, aad), key, owned(ciphertext))),
  };
}

function subtle(): SubtleCrypto {
  return crypto.subtle;
}

/** WebCrypto's types refuse views on shared memory; nothing here is on any. */
function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes as Uint8Array<ArrayBuffer>;
}
