/**
 * What an input does to a run that is under way. `queue`: waits for its end. `reject`: is refused, and not kept. `interrupt`:
 * ends it, keeps what it did, and goes on with the new input. `roll_back`: ends it, takes the state back to where that run
 * began, and goes on with the new input; effects that were carried out stay on record and are not undone.
 */
export type InboxPolicy = 'queue' | 'reject' | 'interrupt' | 'roll_back';

export const inboxPolicies: readonly InboxPolicy[] = ['queue', 'reject', 'interrupt', 'roll_back'];

/** What is added to the limits of a run. Numbers above 0. */
export interface Extension {
  readonly runMs?: number;
  readonly tokens?: number;
  readonly cost?: number;
  readonly steps?: number;
}

/**
 * Inbox items that are settled: all up to `inboxTaken`, and those in `consumed` above it. They are marked, not removed, for they
 * belong to the thread (PROTOCOL 4). Each ends so, or waits, or is lost to a winner that an event names (PROTOCOL 6).
 */
export interface Settled {
  readonly inboxTaken: number;
  readonly consumed: readonly number[];
}

/** With these orders settled, too. Orders have no gaps: what is settled from the start on is one number. */
export function withSettled({ inboxTaken, consumed }: Settled, orders: readonly number[]): Settled {
  const all = new Set([...consumed, ...orders].filter((order) => order > inboxTaken));
  let taken = inboxTaken;
  while (all.delete(taken + 1)) taken += 1;
  return { inboxTaken: taken, consumed: [...all].sort((a, b) => a - b) };
}
