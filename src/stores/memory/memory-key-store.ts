import type { KeyStore } from '../../store/key-store.ts';
import { MemoryData } from './memory-data.ts';

/** Keeps keys in the memory of this process: NOT DURABLE. Data shared with a `MemoryStore` carries both over. */
export class MemoryKeyStore<Key> implements KeyStore<Key> {
  readonly #data: MemoryData;

  /** @param data may hold keys of other stores, if those are of the same kind. */
  constructor(data: MemoryData = new MemoryData()) {
    this.#data = data;
  }

  async get(name: string): Promise<Key | undefined> {
    return this.#data.keys.get(name) as Key | undefined;
  }

  async create(name: string, key: Key): Promise<Key> {
    if (!this.#data.keys.has(name)) this.#data.keys.set(name, key);
    return this.#data.keys.get(name) as Key;
  }
}
