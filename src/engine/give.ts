import type { CommitGroup, GroupResult } from '../model/commit.ts';
import { storeErrors } from '../store/errors.ts';
import type { EnginePorts } from './ports.ts';

type GivePorts = Pick<EnginePorts, 'store' | 'clock'>;

/** Waits before a group whose fate is unknown, or that found the store unable, is given again. */
const retryWaitsMs = [50, 250, 1_000];

/** Errors that the same group would meet again. */
const lasting: readonly string[] = ['store_too_new', 'store_damaged', 'store_closed'];

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
