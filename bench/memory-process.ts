/**
 * Runs a thread on a store that keeps only what the engine may still ask for, as a disk's content is not in memory either, and
 * says how much of the heap is in use at its end.
 */
import type { CommitGroup, GroupResult } from '../src/model/commit.ts';
import { MemoryStore } from '../src/stores/memory/memory-store.ts';
import { Appending } from './appending.ts';

/** More than there are checkpoints from one snapshot to the next, and items that a log keeps at hand. */
const kept = 100;

class ForgetfulStore extends MemoryStore {
  override async commit(groups: readonly CommitGroup[]): Promise<readonly GroupResult[]> {
    const results = await super.commit(groups);
    for (const { thread } of groups) {
      for (const table of ['checkpoints', 'segments', 'events'] as const) {
        const records = this.data.records(table, thread);
        const tooMany = records.size - kept;
        if (tooMany > 0) for (const { key } of records.range({ limit: tooMany })) records.delete(key);
      }
    }
    return results;
  }
}

const thread = await new Appending(new ForgetfulStore()).run({ steps: Number(process.argv[2]) });
const collect = (globalThis as { readonly gc?: () => void }).gc;
if (collect === undefined) throw new Error('Start this with --expose-gc.');
for (let times = 0; times < 4; times += 1) collect();
const { heapUsed, arrayBuffers } = process.memoryUsage();
console.log(JSON.stringify({ heapBytes: heapUsed + arrayBuffers, thread: thread.id }));
