import type { KeyStore } from '../../store/key-store.ts';
import type { IndexedDbConnection } from './connection.ts';
import { answer } from './requests.ts';

/** Keeps keys, non-extractable ones too, in the same database as the records: one flush covers both. */
export class IndexedDbKeyStore<Key = CryptoKey> implements KeyStore<Key> {
  readonly #connection: IndexedDbConnection;

  constructor(connection: IndexedDbConnection) {
    this.#connection = connection;
  }

  get(name: string): Promise<Key | undefined> {
    return this.#connection.transact({ operation: 'read a key', scope: ['keys'] }, (transaction) =>
      answer<Key | undefined>(transaction.objectStore('keys').get(name)),
    );
  }

  create(name: string, key: Key): Promise<Key> {
    const wanted = { operation: 'create a key', scope: ['keys'], writes: 'strict' } as const;
    return this.#connection.transact(wanted, async (transaction) => {
      const store = transaction.objectStore('keys');
      const there = await answer<Key | undefined>(store.get(name));
      if (there === undefined) store.put(key, name);
      return there ?? key;
    });
  }
}
