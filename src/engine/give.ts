import type { CommitGroup, GroupResult } from '../model/commit.ts';
import { storeErrors } from '../store/errors.ts';
import type { EnginePorts } from './ports.ts';

type GivePorts = Pick<EnginePorts, 'store' | 'clock'>;

/** Waits before a group whose fate is unknown, or that found the store unable, is given again. */
const retryWaitsMs = [50, 250, 1_000];

/** Errors that the same group would meet again. */
const lasting: readonly string[] = ['store_too_new', 'store_damaged', 'store_closed'];

/** What is done about a full disk by a writer that can wait: what it has to commit is kept in memory meanwhile. */
export interface FullDisk {
  /** Tells the user; `null` once there is space again. */
  tell(error: unknown): void;
  /** Frees what retention allows. */
  free(): Promise<void>;
  /** Ends the wait; its reason is thrown. */
  readonly signal: AbortSignal;
}

/** How long a full disk is left alone between two tries: the last one again and again. */
const fullWaitsMs = [5_000, 10_000, 30_000];

/**
 * Commits the group like `give`; while the disk is full it frees space and tries again, until that is stopped. `instead` is done
 * at once where the disk is found full.
 */
export async function giveUntilStored(
  ports: GivePorts,
  group: CommitGroup,
  full: FullDisk,
  instead?: () => Promise<unknown>,
): Promise<GroupResult> {
  let tries = 0;
  for (;;) {
    try {
      const result = await give(ports, group);
      if (tries > 0) full.tell(null);
      return result;
    } catch (error) {
      if (!storeErrors.is(error, 'quota_exceeded')) throw error;
      if (tries === 0) full.tell(error);
      if (tries === 0) await instead?.().catch(() => undefined); // not even that fits
      full.signal.throwIfAborted();
      await full.free().catch(() => undefined); // what could not be freed changes nothing
      if (tries > 0) await ports.clock.sleep(fullWaitsMs[Math.min(tries, fullWaitsMs.length) - 1] ?? 0, full.signal);
      tries += 1;
    }
  }
}

/**
 * Commits the group. Gives the same one again while its fate is unknown: one that was applied is recognised by its id
 * (PROTOCOL 2). Not after `budgetMs`: for whoever waits for an answer.
 */
export async function give(ports: GivePorts, group: CommitGroup, budgetMs = Infinity): Promise<GroupResult> {
  const startedAtMs = ports.clock.nowMs();
  for (const waitMs of retryWaitsMs) {
    try {
      return await commit(ports, group);
    } catch (error) {
      const isSpent = ports.clock.nowMs() - startedAtMs > budgetMs;
      if (!storeErrors.is(error) || lasting.includes(error.code) || isSpent) throw error;
      await ports.clock.sleep(waitMs);
    }
  }
  return commit(ports, group);
}

async function commit({ store }: GivePorts, group: CommitGroup): Promise<GroupResult> {
  const [result] = await store.commit([group]);
  if (result === undefined) {
    throw storeErrors.make('store_failed', { operation: 'commit', reason: 'it gave no result for the group' });
  }
  return result;
}
