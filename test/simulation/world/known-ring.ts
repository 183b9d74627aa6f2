/** A key ring that was made before the world began: most threads are not the first of their database. */
import { KeyRing, ringOwner } from '../../../src/codec/key-ring.ts';
import { MemoryData } from '../../../src/stores/memory/memory-data.ts';
import { MemoryKeyStore } from '../../../src/stores/memory/memory-key-store.ts';
import { MemoryStore } from '../../../src/stores/memory/memory-store.ts';
import { plainCryptography } from '../../../src/testing/plain-cryptography.ts';
import { Dice, randomFrom } from './dice.ts';
import { databaseName } from './sim-store.ts';
import type { World } from './world.ts';

const known = make();

export async function giveRing({ data, keys }: Pick<World, 'data' | 'keys'>): Promise<void> {
  const ring = await known;
  data.write({ records: ring.records });
  await keys.create(ring.name, ring.key);
}

async function make() {
  const data = new MemoryData();
  const keys = new MemoryKeyStore<Uint8Array>(data);
  const random = randomFrom(new Dice(1));
  await KeyRing.open(new MemoryStore({ name: databaseName, data }), keys, plainCryptography(random), random);
  const [[name, key] = ['', undefined]] = data.keys;
  const records = data.records('wraps', ringOwner).range({});
  return {
    name,
    key: key as Uint8Array,
    records: records.map((record) => ({ table: 'wraps', thread: ringOwner, mode: 'create', record }) as const),
  };
}
