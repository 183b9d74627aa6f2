/** Cryptography as a port: WebCrypto in a browser, a deterministic stand-in in a simulator (PROTOCOL 7). */
export interface Cipher {
  /** Ciphertext followed by a 16-byte tag over it and `aad`. Never twice with one nonce. */
  encrypt(nonce: Uint8Array, aad: Uint8Array, plaintext: Uint8Array): Promise<Uint8Array>;
  /** The plaintext. Rejects if ciphertext, tag, nonce or `aad` are not what was encrypted. */
  decrypt(nonce: Uint8Array, aad: Uint8Array, ciphertext: Uint8Array): Promise<Uint8Array>;
}

/** A cipher for records and a keyed hash for identities, both derived from one secret. */
export interface DataCipher extends Cipher {
  /** 32 bytes that only the holder of the secret can make. */
  hash(data: Uint8Array): Promise<Uint8Array>;
}

export interface Cryptography<RootKey> {
  /** A fresh root key, of the kind that the key store keeps. */
  createRootKey(): Promise<RootKey>;
  rootCipher(key: RootKey): Cipher;
  /** `secret` is 32 random bytes. */
  dataCipher(secret: Uint8Array): Promise<DataCipher>;
}
