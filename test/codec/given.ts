import { KeyRing } from '../../src/codec/key-ring.ts';
import { newThread } from '../../src/codec/new-thread.ts';
import { BlobBatch, type ThreadCodec } from '../../src/codec/thread-codec.ts';
import { webCryptography } from '../../src/codec/webcrypto-cipher.ts';
import type { CommitId, Incarnation, ThreadHash, ThreadId } from '../../src/model/ids.ts';
import { MemoryKeyStore } from '../../src/stores/memory/memory-key-store.ts';
import { MemoryStore } from '../../src/stores/memory/memory-store.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';

/** A thread in a memory store, sealed by WebCrypto, and what writes the blobs that an encoded value needs. */
export async function givenThread(seed = 1) {
  const random = seededRandom(seed);
  const store = new MemoryStore();
  const keyRing = await KeyRing.open(store, new MemoryKeyStore<CryptoKey>(), webCryptography, random);
  const id = `thread-${seed}` as ThreadId;
  const hash = await keyRing.threadHash('default', id);
  const made = await newThread(keyRing, random, {
    hash,
    id,
    namespace: 'default',
    owner: 'local',
    agent: 'test',
    nowMs: 0,
  });
  await store.createThread(made.row, made.commit, [made.wrap], [made.condition]);
  const codec = await keyRing.openThread(hash, made.row.incarnation);
  const writeBlobs = async (blobs: BlobBatch): Promise<void> => {
    await write(store, hash, made.row.incarnation, `blobs-${Math.floor(seed)}-${blobs.writes().length}`, blobs);
  };
  return { store, keyRing, codec, hash, row: made.row, random, writeBlobs };
}

async function write(store: MemoryStore, thread: ThreadHash, incarnation: Incarnation, id: string, blobs: BlobBatch) {
  if (blobs.writes().length === 0) return;
  await store.commit([
    {
      id: id as CommitId,
      thread,
      incarnation,
      durability: 'strict',
      conditions: blobs.conditions(),
      records: blobs.writes(),
    },
  ]);
}

/** The value as it comes back after it was encoded, stored and read. */
export async function roundTrip(
  value: unknown,
  thread: { codec: ThreadCodec; writeBlobs: (blobs: BlobBatch) => Promise<void> },
): Promise<unknown> {
  const blobs = new BlobBatch();
  const stored = await thread.codec.encodeValue(value, 'value', blobs);
  await thread.writeBlobs(blobs);
  return thread.codec.decodeValue(stored);
}
