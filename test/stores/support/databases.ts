/** Databases of the tests in a real browser, and what a test sees of them past the adapter. */
import { objectStores } from '../../../src/stores/indexeddb/open-handle.ts';
import { answer } from '../../../src/stores/indexeddb/requests.ts';

const names = new Set<string>();

/** A name that no other test uses. */
export function freshName(): string {
  const name = `holdfast-test-${crypto.randomUUID()}`;
  names.add(name);
  return name;
}

export async function deleteDatabases(): Promise<void> {
  await Promise.all([...names].map((name) => answer(indexedDB.deleteDatabase(name))));
  names.clear();
}

/** Opens a database without the adapter; `upgrade` runs when it is new or older than `version`. */
export async function openRaw(
  name: string,
  version: number | undefined,
  upgrade: (db: IDBDatabase, request: IDBOpenDBRequest) => void,
): Promise<IDBDatabase> {
  const request = version === undefined ? indexedDB.open(name) : indexedDB.open(name, version);
  request.onupgradeneeded = () => upgrade(request.result, request);
  return answer(request);
}

/** How many records each object store holds. Needs the database to be there. */
export async function countAll(name: string): Promise<Readonly<Record<string, number>>> {
  const db = await openRaw(name, undefined, () => {
    throw new Error(`There is no database ${name}`);
  });
  const transaction = db.transaction([...db.objectStoreNames], 'readonly');
  const counts = await Promise.all(
    [...db.objectStoreNames].map(
      async (store) => [store, await answer(transaction.objectStore(store).count())] as const,
    ),
  );
  db.close();
  return Object.fromEntries(counts);
}

/** Makes another tab of newer code knock: fires `versionchange`, then gives the upgrade up. */
export async function knock(name: string): Promise<void> {
  const request = indexedDB.open(name, 2);
  request.onupgradeneeded = () => request.transaction?.abort();
  await answer(request).catch(() => undefined);
}

export async function makeWithout(name: string, missing: string): Promise<void> {
  const db = await openRaw(name, 1, (made) => {
    for (const store of objectStores) if (store !== missing) made.createObjectStore(store);
  });
  db.close();
}

/** Keeps every object store locked, as a transaction that never ends does, until the function it returns is called. */
export async function lockAll(name: string): Promise<() => Promise<void>> {
  const db = await openRaw(name, undefined, () => undefined);
  const transaction = db.transaction([...objectStores], 'readwrite');
  const isOver = new Promise((resolve) => transaction.addEventListener('complete', resolve));
  let isWanted = true;
  const keepBusy = (): void => {
    transaction.objectStore('threads').count().onsuccess = () => {
      if (isWanted) keepBusy();
    };
  };
  keepBusy();
  return async () => {
    isWanted = false;
    await isOver;
    db.close();
  };
}
