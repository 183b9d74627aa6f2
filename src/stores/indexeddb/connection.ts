/**
 * One connection to the database, shared by the store and the key store.
 *
 * - I1 What it is asked to write resolves after the transaction's `complete`, never after a request.
 * - I2 A throw in mid-transaction aborts it: a throw alone would let the earlier requests commit.
 * - I3 Callers hand in functions that issue storage requests and wait for nothing else.
 * - A handle that the browser closed is dropped, and the operation tried once more on a new one. All operations bear being
 *   carried out twice.
 */
import { deferred } from '../../base/deferred.ts';
import type { Durability } from '../../model/commit.ts';
import { storeErrors } from '../../store/errors.ts';
import { isConnectionLost, storeErrorFrom } from './faults.ts';
import { type ObjectStoreName, openHandle } from './open-handle.ts';
import { platformTimer, type StartTimer } from './timer.ts';

export interface IndexedDbOptions {
  /** Time limit of opening, and of each transaction. Default 20,000. */
  readonly timeoutMs?: number;
  readonly startTimer?: StartTimer;
}

export interface Transaction {
  /** For errors: completes "Cannot ...". */
  readonly operation: string;
  readonly scope: readonly ObjectStoreName[];
  /** `undefined`: only reads. */
  readonly writes?: Durability;
}

/** @throws `store_blocked`, `store_too_new`, `store_damaged`, `store_failed`. */
export async function openIndexedDb(name: string, options: IndexedDbOptions = {}): Promise<IndexedDbConnection> {
  const connection = new IndexedDbConnection(name, options);
  await connection.open();
  return connection;
}

export class IndexedDbConnection {
  readonly name: string;
  readonly #timeoutMs: number;
  readonly #startTimer: StartTimer;
  readonly #underWay = new Set<Promise<unknown>>();
  #handle: Promise<IDBDatabase> | undefined;
  #db: IDBDatabase | undefined;
  #wasOpen = false;
  #isClosed = false;

  constructor(name: string, { timeoutMs = 20_000, startTimer = platformTimer }: IndexedDbOptions) {
    this.name = name;
    this.#timeoutMs = timeoutMs;
    this.#startTimer = startTimer;
  }

  async open(): Promise<void> {
    await this.#open();
  }

  /**
   * Runs `body` in one transaction and resolves with its result: at once after reads, after `complete` after writes.
   *
   * @throws `quota_exceeded`, `store_closed`, `timed_out`, `store_failed`, and what opening throws.
   */
  transact<T>(wanted: Transaction, body: (transaction: IDBTransaction) => T | Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(storeErrors.make('store_closed', { operation: wanted.operation }));
    const done = this.#transactTwice(wanted, body);
    this.#underWay.add(done);
    const forget = () => this.#underWay.delete(done);
    done.then(forget, forget);
    return done;
  }

  /** Waits for the transactions under way, then refuses all others. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#underWay);
    this.#drop(this.#db);
  }

  async #transactTwice<T>(wanted: Transaction, body: (transaction: IDBTransaction) => T | Promise<T>): Promise<T> {
    const db = this.#db ?? (await this.#open());
    try {
      return await this.#transactInTime(db, wanted, body);
    } catch (error) {
      const isLost = isConnectionLost(error) || (!storeErrors.is(error) && this.#db !== db);
      if (!isLost) throw storeErrorFrom(error, wanted.operation);
    }
    this.#drop(db);
    try {
      return await this.#transactInTime(await this.#open(), wanted, body);
    } catch (error) {
      throw storeErrorFrom(error, wanted.operation);
    }
  }

  async #transactInTime<T>(
    db: IDBDatabase,
    wanted: Transaction,
    body: (transaction: IDBTransaction) => T | Promise<T>,
  ): Promise<T> {
    const durability = wanted.writes;
    const transaction =
      durability === undefined
        ? db.transaction(wanted.scope, 'readonly')
        : db.transaction(wanted.scope, 'readwrite', { durability });
    const late = deferred<never>();
    const stop = this.#startTimer(() => {
      late.reject(storeErrors.make('timed_out', { operation: wanted.operation, afterMs: this.#timeoutMs }));
      abort(transaction);
      this.#drop(db);
    }, this.#timeoutMs);
    try {
      return await Promise.race([carryOut(transaction, body), late.promise]);
    } finally {
      stop();
    }
  }

  async #open(): Promise<IDBDatabase> {
    this.#handle ??= openHandle(this.name, {
      timeoutMs: this.#timeoutMs,
      startTimer: this.#startTimer,
      mayCreate: !this.#wasOpen,
      onUnusable: (db) => this.#drop(db),
    });
    const opening = this.#handle;
    try {
      const db = await opening;
      if (this.#handle === opening) this.#db = db;
      this.#wasOpen = true;
      return db;
    } catch (error) {
      if (this.#handle === opening) this.#handle = undefined;
      throw error;
    }
  }

  #drop(db: IDBDatabase | undefined): void {
    db?.close();
    if (this.#db !== db) return;
    this.#db = undefined;
    this.#handle = undefined;
  }
}

async function carryOut<T>(
  transaction: IDBTransaction,
  body: (transaction: IDBTransaction) => T | Promise<T>,
): Promise<T> {
  const completed = completionOf(transaction);
  completed.catch(() => undefined); // awaited below, but not on every path
  let result: T;
  try {
    result = await body(transaction);
    if (transaction.mode === 'readonly') return result;
    transaction.commit();
  } catch (error) {
    const isOurs = abort(transaction);
    if (!isOurs)
      await completed; // aborted by the browser, and only the transaction knows why
    else await completed.catch(() => undefined);
    throw error;
  }
  await completed;
  return result;
}

/** A request's success is no commit, and a full disk shows only here, in `transaction.error`. */
function completionOf(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.addEventListener('complete', () => resolve());
    transaction.addEventListener('abort', () =>
      reject(transaction.error ?? new DOMException('The transaction was aborted', 'AbortError')),
    );
  });
}

/** Whether there was anything to abort. */
function abort(transaction: IDBTransaction): boolean {
  try {
    transaction.abort();
    return true;
  } catch {
    return false; // already finished, or about to
  }
}
