/**
 * Keeps keys that are not bytes (non-extractable CryptoKeys) under a name (PROTOCOL 7). In a browser it shares the database of
 * the records. Every adapter passes `test/conformance/key-store.ts`.
 */
export interface KeyStore<Key> {
  /** The key, or `undefined` if there is none of that name. */
  get(name: string): Promise<Key | undefined>;
  /** Stores the key strictly, unless the name is taken; returns the key that is stored under the name afterwards. */
  create(name: string, key: Key): Promise<Key>;
}
