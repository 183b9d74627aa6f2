/** What a fork begins with, judged in the moment in which it is a thread. */
import { KeyRing, ringOwner } from '../../../src/codec/key-ring.ts';
import { openStateImage } from '../../../src/codec/thread-image.ts';
import type { CheckpointId, Incarnation, ThreadHash } from '../../../src/model/ids.ts';
import { MemoryStore } from '../../../src/stores/memory/memory-store.ts';
import type { ForkWatch } from '../world/fork-watch.ts';
import { databaseName } from '../world/sim-store.ts';
import type { World } from '../world/world.ts';
import { valuesOf } from './evidence.ts';
import { copyOf } from './kept.ts';

/** B12: all of its state is there, and is that of the checkpoint which it was made from. */
export async function checkBegun(world: World, fork: ForkWatch): Promise<void> {
  const { watch, findings, plan } = world;
  const [source, made] = [watch.row, fork.row];
  if (source === undefined || made === undefined) return;
  const data = copyOf(world.data, [source.thread, made.thread, ringOwner]); // others go on meanwhile
  const store = new MemoryStore({ name: databaseName, data });
  const keyRing = await KeyRing.open(store, world.keys, world.cryptography, world.random);
  const stateAt = async (thread: ThreadHash, incarnation: Incarnation, checkpoint: string) => {
    const codec = await keyRing.openThread(thread, incarnation);
    return valuesOf(plan, codec, await openStateImage(codec, checkpoint as CheckpointId));
  };
  try {
    const begun = await stateAt(made.thread, made.incarnation, fork.first);
    if (watch.spoiled.size > 0) return; // of the source, not all can be read
    const given = await stateAt(source.thread, source.incarnation, fork.from);
    for (const name of new Set([...Object.keys(begun), ...Object.keys(given)])) {
      if (name === 'total' || JSON.stringify(begun[name]) === JSON.stringify(given[name])) continue; // an edit may have changed that
      findings.violate('a-fork-begins-as-its-source-was', `Field "${name}" of the fork ${fork.marks} is another.`);
    }
  } catch (error) {
    findings.violate('a-fork-is-whole-when-seen', `A fork is a thread, and cannot be read: ${String(error)}`);
  }
}
