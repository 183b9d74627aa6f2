import { afterAll } from 'vitest';
import { openIndexedDb } from '../../src/stores/indexeddb/connection.ts';
import { IndexedDbKeyStore } from '../../src/stores/indexeddb/indexeddb-key-store.ts';
import { IndexedDbStore } from '../../src/stores/indexeddb/indexeddb-store.ts';
import { testKeyStore } from '../conformance/key-store.ts';
import { testStore } from '../conformance/store.ts';
import { deleteDatabases, freshName } from './support/databases.ts';

afterAll(deleteDatabases);

testStore('indexeddb', {
  open: async () => new IndexedDbStore(await openIndexedDb(freshName())),
  reopen: async (store) => {
    await store.close();
    return new IndexedDbStore(await openIndexedDb(store.name));
  },
});

testKeyStore<CryptoKey>('indexeddb', {
  open: async () => {
    const name = freshName();
    const first = await openIndexedDb(name);
    const opened = [first];
    return {
      keys: new IndexedDbKeyStore(first),
      reopen: async () => {
        await first.close();
        const next = await openIndexedDb(name);
        opened.push(next);
        return new IndexedDbKeyStore(next);
      },
      close: async () => {
        await Promise.all(opened.map((connection) => connection.close()));
      },
    };
  },
  makeKey: () => crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']),
  // The keys cannot be looked at: what one seals, the other opens, or not.
  isSame: async (a, b) => {
    const algorithm = { name: 'AES-GCM', iv: new Uint8Array(12) };
    const sealed = await crypto.subtle.encrypt(algorithm, a, new Uint8Array([1]));
    return crypto.subtle.decrypt(algorithm, b, sealed).then(
      () => true,
      () => false,
    );
  },
});
