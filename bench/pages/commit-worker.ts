/**
 * P1: a boundary commit (4 KB of change: encode, seal, one conditional transaction) beside a bare transaction that puts as
 * many bytes into as many records with the same durability. The two take turns, so that both meet the same machine.
 */
import { randomId } from '../../src/base/random.ts';
import { buildCheckpoint, type CheckpointPlan } from '../../src/codec/commit-builder.ts';
import { KeyRing } from '../../src/codec/key-ring.ts';
import { newThread } from '../../src/codec/new-thread.ts';
import { openThreadImage, type ThreadImage } from '../../src/codec/thread-image.ts';
import { webCryptography, webRandom } from '../../src/codec/webcrypto-cipher.ts';
import type { CommitGroup } from '../../src/model/commit.ts';
import { emptyControl } from '../../src/model/empty-control.ts';
import { checkpointIdFor, type StepId, type ThreadId } from '../../src/model/ids.ts';
import { openIndexedDb } from '../../src/stores/indexeddb/connection.ts';
import { IndexedDbKeyStore } from '../../src/stores/indexeddb/indexeddb-key-store.ts';
import { IndexedDbStore } from '../../src/stores/indexeddb/indexeddb-store.ts';

export interface CommitSettings {
  readonly rounds: number;
  readonly warmUp: number;
  readonly changeBytes: number;
  readonly durability: 'strict' | 'relaxed';
}

export interface CommitFigures {
  /** Milliseconds, one for each round. */
  readonly ours: readonly number[];
  readonly bare: readonly number[];
  readonly recordBytes: readonly number[];
}

self.onmessage = async ({ data }: MessageEvent<CommitSettings>) => {
  self.postMessage(await measure(data));
};

async function measure({ rounds, warmUp, changeBytes, durability }: CommitSettings): Promise<CommitFigures> {
  const name = `bench-${randomId(webRandom)}`;
  const connection = await openIndexedDb(name);
  const store = new IndexedDbStore(connection);
  const keyRing = await KeyRing.open(store, new IndexedDbKeyStore<CryptoKey>(connection), webCryptography, webRandom);
  const id = 'bench' as ThreadId;
  const hash = await keyRing.threadHash('default', id);
  const made = await newThread(keyRing, webRandom, { hash, id, namespace: 'n', owner: 'o', agent: 'a', nowMs: 0 });
  await store.createThread(made.row, made.commit, [made.wrap], [made.condition]);
  const codec = await keyRing.openThread(hash, made.row.incarnation);
  let image: ThreadImage = await openThreadImage(codec, made.row);
  const bare = await openBare(`${name}-bare`);
  const [ours, theirs]: [number[], number[]] = [[], []];
  let sizes: readonly number[] = [];
  for (let round = -warmUp; round < rounds; round += 1) {
    const value = randomText(changeBytes);
    const began = performance.now();
    const built = await buildCheckpoint(codec, image, plan(image, value, durability));
    const [result] = await store.commit([built.group]);
    const oursMs = performance.now() - began;
    if (result?.status !== 'applied') throw new Error(`The commit was ${result?.status}.`);
    image = built.image;
    sizes = bytesOf(built.group);
    const bodies = sizes.map((size) => webRandom.bytes(size));
    const bareBegan = performance.now();
    await putAll(bare, bodies, round + warmUp, durability);
    const bareMs = performance.now() - bareBegan;
    if (round < 0) continue;
    ours.push(oursMs);
    theirs.push(bareMs);
  }
  await store.close();
  bare.close();
  for (const database of [name, `${name}-bare`]) indexedDB.deleteDatabase(database);
  return { ours, bare: theirs, recordBytes: sizes };
}

function plan(image: ThreadImage, value: string, durability: 'strict' | 'relaxed'): CheckpointPlan {
  const step = 'AAAAAAAAAAAAAAAAAAAAAA' as StepId;
  return {
    id: checkpointIdFor(image.row.sequence + 1, webRandom),
    kind: 'delta',
    cause: 'step',
    change: { set: new Map([['value', value]]), append: new Map(), remove: [] },
    position: {
      node: 'work',
      step,
      next: [{ node: 'work', step, path: '' }],
      visits: { work: image.row.sequence + 1 },
    },
    control: { ...emptyControl(image.row, image.control.ledgerDigest, 50), status: 'running' },
    agent: 'bench',
    agentVersion: 1,
    stateVersion: 1,
    atMs: Date.now(),
    span: 'span',
    events: [{ type: 'step', atMs: Date.now(), details: { node: 'work', next: 'work', stepMs: 1 } }],
    durability,
  };
}

/** Bytes of each record the group writes, the thread's row last. */
function bytesOf({ records, row }: CommitGroup): readonly number[] {
  const rowBytes = 300 + (row?.control?.length ?? 0);
  return [...records.map(({ body, key }) => body.length + key.length + 40), rowBytes];
}

function openBare(name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => {
      for (const store of ['a', 'b', 'c']) request.result.createObjectStore(store);
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function putAll(
  db: IDBDatabase,
  bodies: readonly Uint8Array[],
  round: number,
  durability: IDBTransactionDurability,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const stores = ['a', 'b', 'c'];
    const transaction = db.transaction(stores, 'readwrite', { durability });
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
    bodies.forEach((body, index) => {
      const isRow = index === bodies.length - 1;
      transaction.objectStore(stores[Math.min(index, 2)] ?? 'a').put(body, isRow ? 'row' : `${round}.${index}`);
    });
    transaction.commit();
  });
}

function randomText(length: number): string {
  return String.fromCharCode(...webRandom.bytes(length).map((byte) => 32 + (byte % 95)));
}
