import { tables } from '../../model/records.ts';
import { storeErrors } from '../../store/errors.ts';
import { isUnknown, isVersionTooOld, storeErrorFrom } from './faults.ts';
import type { StartTimer } from './timer.ts';

/**
 * For good: a pending upgrade blocks every other tab, and a frozen tab blocks an upgrade without any event. The object
 * stores are generic, have no index, and take any record; formats are in the records.
 */
const schemaVersion = 1;

/**
 * Keys of `threads` and `tombstones` are thread hashes, of `keys` names, of all others `[thread, key]`. All in one database: a flush
 * of one need not cover another (PROTOCOL 8).
 */
export const objectStores = [...tables, 'threads', 'tombstones', 'keys'] as const;
export type ObjectStoreName = (typeof objectStores)[number];

export interface OpenOptions {
  readonly timeoutMs: number;
  readonly startTimer: StartTimer;
  /** Without it, a database that is not there is one that was lost: it is not made again, empty. */
  readonly mayCreate: boolean;
  /** The browser closed the handle, or another tab wants to change the database: close it at once. */
  readonly onUnusable: (db: IDBDatabase) => void;
}

const attempts = 3;

/**
 * A connection with every object store in place.
 *
 * @throws `store_too_new`, `store_damaged`, `store_blocked` (a connection that opens later than that is closed again),
 * `store_failed`. Nothing is ever deleted or made anew because of a failure.
 */
export async function openHandle(name: string, options: OpenOptions): Promise<IDBDatabase> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return verified(await openInTime(name, options), name);
    } catch (error) {
      if (isUnknown(error) && attempt < attempts) continue;
      if (isVersionTooOld(error)) throw storeErrors.make('store_too_new', { name }, error);
      throw storeErrorFrom(error, `open database ${name}`);
    }
  }
}

function openInTime(name: string, options: OpenOptions): Promise<IDBDatabase> {
  const { timeoutMs, startTimer } = options;
  return new Promise((resolve, reject) => {
    let isAbandoned = false;
    const stop = startTimer(() => {
      isAbandoned = true;
      reject(storeErrors.make('store_blocked', { name, afterMs: timeoutMs }));
    }, timeoutMs);
    open(name, options).then(
      (db) => {
        stop();
        if (isAbandoned) db.close();
        else resolve(db);
      },
      (error: unknown) => {
        stop();
        reject(error);
      },
    );
  });
}

function open(name: string, { mayCreate, onUnusable }: OpenOptions): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, schemaVersion);
    let isGone = false;
    request.onupgradeneeded = () => {
      isGone = !mayCreate;
      if (isGone) request.transaction?.abort();
      else for (const store of objectStores) request.result.createObjectStore(store);
    };
    request.onsuccess = () => {
      const db = request.result;
      db.onversionchange = () => onUnusable(db);
      db.onclose = () => onUnusable(db);
      resolve(db);
    };
    request.onerror = () => {
      const missing = objectStores.join(', ');
      reject(isGone ? storeErrors.make('store_damaged', { name, missing }, request.error) : request.error);
    };
  });
}

/** A crash can leave a database that opens without its object stores. */
function verified(db: IDBDatabase, name: string): IDBDatabase {
  const missing = objectStores.filter((store) => !db.objectStoreNames.contains(store));
  if (missing.length === 0) return db;
  db.close();
  throw storeErrors.make('store_damaged', { name, missing: missing.join(', ') });
}
