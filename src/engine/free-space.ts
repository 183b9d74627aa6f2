/** Frees what retention allows while a commit waits for space (A15). */
import { defaultRetention } from '../model/retention.ts';
import { compactLeased, compactThread } from './compact.ts';
import { ownRows } from './own-rows.ts';
import type { EngineOptions, EnginePorts } from './ports.ts';
import { purgeThreads } from './purge.ts';
import type { ThreadWriter } from './thread-writer.ts';

/**
 * Purges threads whose time is over, and compacts those that do not run. Of the thread that waits, under the lease it has, all but
 * its large values: what it is about to commit may name them. What fails is left as it is.
 */
export async function freeSpace(ports: EnginePorts, options: EngineOptions, writer: ThreadWriter): Promise<void> {
  const policy = { ...defaultRetention, ...options.retention };
  const { row } = writer.image;
  const others = (await ownRows(ports.store, options)).filter(({ thread }) => thread !== row.thread);
  const { purged } = await purgeThreads(ports, others, policy, options.archive);
  const question = { policy, pins: [] };
  await compactLeased(ports, writer.codec, row, question, 'keep_blobs').catch(() => undefined);
  for (const other of others) {
    if (other.status === 'running' || other.status === 'waiting' || purged.includes(other)) continue;
    try {
      const codec = await ports.keyRing.openThread(other.thread, other.incarnation);
      await compactThread(ports, codec, question);
    } catch {
      // Damaged, locked, or taken over: the next one may have something to give.
    }
  }
}
