/**
 * Deletes threads whose time is over (A12): failed ones after their days, finished ones after theirs, archived first where there is an archive. A child that
 * has ended told its parent in the same commit, so that none goes whose result is not there (PROTOCOL 6).
 */
import { openRowControl } from '../codec/control-codec.ts';
import { faultOf } from '../codec/recover-lineage.ts';
import type { ThreadId } from '../model/ids.ts';
import type { ThreadRow } from '../model/records.ts';
import { dayMs, type RetentionPolicy } from '../model/retention.ts';
import { makeArchive } from './archive.ts';
import type { EnginePorts, KeepArchive } from './ports.ts';

export interface Purge {
  /** Rows of the threads that were deleted. */
  readonly purged: readonly ThreadRow[];
  /** Those that stay for now, with the reason: their archive could not be kept, or they have moved on. */
  readonly kept: readonly { readonly row: ThreadRow; readonly reason: unknown }[];
}

/** Of the threads of an agent and of those that it starts: its own, and children. Another agent's threads are not its own to purge. */
export async function ownAndChildren(
  { keyRing }: Pick<EnginePorts, 'keyRing'>,
  rows: readonly ThreadRow[],
  agent: string,
): Promise<readonly ThreadRow[]> {
  const isMine = async (row: ThreadRow) => {
    if (row.agent === agent || !isEnded(row)) return row.agent === agent;
    const codec = await keyRing.openThread(row.thread, row.incarnation).catch((error) => void faultOf(error));
    return codec !== undefined && codec.parent !== null;
  };
  const mine = await Promise.all(rows.map(isMine));
  return rows.filter((_, index) => mine[index]);
}

export async function purgeThreads(
  { store, clock, keyRing }: Pick<EnginePorts, 'store' | 'clock' | 'keyRing'>,
  rows: readonly ThreadRow[],
  policy: RetentionPolicy,
  archive: KeepArchive | undefined,
): Promise<Purge> {
  const purged: ThreadRow[] = [];
  const kept: { row: ThreadRow; reason: unknown }[] = [];
  for (const row of rows.filter((row) => isOver(row, policy, clock.nowMs()))) {
    try {
      // Under a lease: no run that has begun writes any more, and none that begins later is overlooked.
      const leased = await store.takeLease(row.thread, row.incarnation);
      if (leased === undefined) continue;
      const reason = isOver(leased, policy, clock.nowMs()) ? await purge(leased) : 'it has moved on';
      if (reason === undefined) purged.push(row);
      else {
        kept.push({ row, reason });
        await store.releaseLease(leased.thread, leased.incarnation, leased.epoch);
      }
    } catch (reason) {
      kept.push({ row, reason });
    }
  }
  return { purged, kept };

  async function purge(row: ThreadRow): Promise<unknown> {
    try {
      if (archive !== undefined) await archive(await makeArchive(store, store.name, row), row, await idOf(row));
    } catch (error) {
      return error;
    }
    await store.deleteThread(row.thread, row.incarnation, clock.nowMs(), row);
    const there = await store.readThread(row.thread);
    return there?.incarnation === row.incarnation ? 'it has moved on' : undefined;
  }

  async function idOf(row: ThreadRow): Promise<ThreadId | undefined> {
    try {
      return (await openRowControl(await keyRing.openThread(row.thread, row.incarnation), row)).threadId;
    } catch (error) {
      faultOf(error); // a key that is missing, or a store that fails, keeps the thread
      return undefined;
    }
  }
}

function isEnded({ status }: ThreadRow): boolean {
  return status === 'failed' || status === 'done' || status === 'cancelled';
}

/** Whether nothing is to come, and the time has passed. A thread with an input that was not taken up is not at its end. */
function isOver(row: ThreadRow, { failedDays, doneDays }: RetentionPolicy, nowMs: number): boolean {
  const days = row.status === 'failed' ? failedDays : doneDays;
  return isEnded(row) && row.inbox === row.inboxTaken && row.updatedAtMs + days * dayMs <= nowMs;
}
