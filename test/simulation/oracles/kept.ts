/** What is left after retention was at work, judged in that moment. */
import { isLogImage } from '../../../src/codec/checkpoint-codec.ts';
import { KeyRing, ringOwner } from '../../../src/codec/key-ring.ts';
import { LogView } from '../../../src/codec/log-codec.ts';
import { openStateImage } from '../../../src/codec/thread-image.ts';
import type { CheckpointId } from '../../../src/model/ids.ts';
import { tables } from '../../../src/model/records.ts';
import { MemoryData } from '../../../src/stores/memory/memory-data.ts';
import { MemoryStore } from '../../../src/stores/memory/memory-store.ts';
import { databaseName } from '../world/sim-store.ts';
import type { World } from '../world/world.ts';

/** A12: every checkpoint that is left can be restored, whatever was taken away. */
export async function checkKept(world: World): Promise<void> {
  const { watch, findings } = world;
  const { row } = watch;
  if (row === undefined || watch.spoiled.size > 0) return;
  const data = copyOf(world.data, [row.thread, ringOwner]); // others go on meanwhile
  const store = new MemoryStore({ name: databaseName, data });
  const keyRing = await KeyRing.open(store, world.keys, world.cryptography, world.random);
  const codec = await keyRing.openThread(row.thread, row.incarnation);
  for (const { key } of data.records('checkpoints', row.thread).range({})) {
    if (!watch.seen.has(key)) continue; // bases and pins
    try {
      const { fields } = await openStateImage(codec, key as CheckpointId);
      const { notes } = Object.fromEntries(fields);
      if (notes !== undefined && isLogImage(notes)) await new LogView(codec, 'notes', notes).slice(0);
    } catch (error) {
      findings.violate('what-is-kept-is-whole', `Checkpoint ${key} is left, and cannot be restored: ${String(error)}`);
    }
  }
}

export function copyOf(data: MemoryData, owners: readonly (typeof ringOwner)[]): MemoryData {
  const copy = new MemoryData();
  for (const thread of owners) {
    for (const table of tables) {
      const records = data.records(table, thread).range({});
      copy.write({ records: records.map((record) => ({ table, thread, mode: 'create', record })) });
    }
  }
  return copy;
}
