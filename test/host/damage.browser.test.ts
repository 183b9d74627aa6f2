/** What a page sees when keys or records are not what they were. Nothing is ever deleted because of it. */
import { connect, HoldfastError } from 'holdfast';
import { expect, test } from 'vitest';
import type { smallAgent } from './small-agent.ts';

function startWorker(database: string): Worker {
  return new Worker(new URL('./named.worker.ts', import.meta.url), { type: 'module', name: database });
}

function openDatabase(name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Runs `work` on one object store, in a transaction of its own. */
async function change(database: string, store: string, work: (objects: IDBObjectStore) => void): Promise<void> {
  const db = await openDatabase(database);
  await new Promise<void>((resolve, reject) => {
    const transaction = db.transaction(store, 'readwrite');
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
    work(transaction.objectStore(store));
  });
  db.close();
}

async function countRecords(database: string): Promise<Record<string, number>> {
  const db = await openDatabase(database);
  const counts: Record<string, number> = {};
  for (const store of db.objectStoreNames) {
    counts[store] = await new Promise((resolve, reject) => {
      const request = db.transaction(store).objectStore(store).count();
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  }
  db.close();
  return counts;
}

/** A thread that waits for its approval, and whose worker is closed again. */
async function givenWaitingThread(database: string): Promise<void> {
  const agent = connect<typeof smallAgent>(startWorker(database));
  const thread = agent.thread('t');
  await thread.send({ left: 2 });
  for await (const message of thread.events()) {
    if (message.type === 'wait' || (message.type === 'view' && message.view.waits.length > 0)) break;
  }
  await agent.close();
}

async function errorOf(work: Promise<unknown>): Promise<HoldfastError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof HoldfastError)) throw new Error(`no HoldfastError: ${String(error)}`);
  return error;
}

test('[D2a, I10] without its device key a database stays locked, says so, and keeps every record', async () => {
  await givenWaitingThread('no-key');
  const before = await countRecords('no-key');
  let key: unknown;
  await change('no-key', 'keys', (keys) => {
    const request = keys.get('device');
    request.onsuccess = () => {
      key = request.result;
      keys.clear();
    };
  });
  const agent = connect<typeof smallAgent>(startWorker('no-key'));
  const error = await errorOf(agent.threads());
  expect(error.code).toBe('key_missing');
  expect(error.message).toContain('it stays locked. Nothing was deleted');
  expect(await countRecords('no-key')).toEqual({ ...before, keys: 0 });

  // With its key back it opens, and the worker need not be started again.
  await change('no-key', 'keys', (keys) => keys.put(key, 'device'));
  expect((await agent.thread('t').waits()).map(({ tool }) => tool)).toEqual(['note']);
  await agent.close();
});

test('[D2a, I10] a wrong device key is another error, and keeps every record', async () => {
  await givenWaitingThread('wrong-key');
  const before = await countRecords('wrong-key');
  const wrong = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']);
  await change('wrong-key', 'keys', (keys) => keys.put(wrong, 'device'));
  const agent = connect<typeof smallAgent>(startWorker('wrong-key'));
  expect((await errorOf(agent.threads())).code).toBe('key_wrong');
  await agent.close();
  expect(await countRecords('wrong-key')).toEqual(before);
});

test('[A11a, I10] a flipped byte in a checkpoint blocks its thread with the name of the record, and no other thread', async () => {
  await givenWaitingThread('flipped');
  const before = await countRecords('flipped');
  let damaged = '';
  await change('flipped', 'checkpoints', (checkpoints) => {
    const request = checkpoints.openCursor(null, 'prev');
    request.onsuccess = () => {
      const cursor = request.result;
      if (cursor === null) return;
      damaged = cursor.value.key;
      cursor.value.body[50] ^= 1;
      cursor.update(cursor.value);
    };
  });
  const agent = connect<typeof smallAgent>(startWorker('flipped'));
  const view = await agent.thread('t').view();
  expect(view?.blocked).toMatchObject({ code: 'record_damaged', details: { table: 'checkpoints', key: damaged } });
  expect(view?.status).toBe('waiting');
  expect((await agent.threads()).map(({ id }) => id)).toEqual(['t']);
  expect((await errorOf(agent.thread('t').state())).code).toBe('record_damaged');
  const other = agent.thread('another');
  await other.send({ left: 1 });
  for await (const message of other.events()) if (message.type === 'wait') break;
  await agent.close();
  const after = await countRecords('flipped');
  expect(after.checkpoints).toBeGreaterThan(before.checkpoints ?? 0);
});
