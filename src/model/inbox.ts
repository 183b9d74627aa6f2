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

/** Inbox items that come after so many ends of steps; a failure of the run and a limit that it reaches count as well. */
export interface ReplayedItems {
  readonly steps: number;
  readonly orders: readonly number[];
}

/**
 * How a thread goes through its inbox while steps run again after a repair. `groups` were settled, each in one commit, behind the
 * checkpoint that the repair fell back to: they come where they were, and each counts its steps from the one before. `rest` had not
 * been settled, and comes behind them, as does what came since.
 */
export interface InboxReplay {
  readonly groups: readonly ReplayedItems[];
  readonly rest: ReplayedItems;
  /** Whether all the steps are known: else there may be fewer. */
  readonly isExact: boolean;
}

/** Whether nothing is held back any more: the steps that stand are yet to run again. */
export function holdsNothing({ groups, rest }: InboxReplay): boolean {
  return groups.length === 0 && rest.steps === 0;
}

/**
 * What is left of it after a commit. It is over, `null`, once a step has ended behind all that had, or its run was ended.
 *
 * @param of `step_end`: what counts as one; `stop`: the end of a run from outside.
 * @param mayEnd false while lines run side by side: those that stand are yet to run again.
 */
export function inboxReplayAfter(
  replay: InboxReplay | null,
  settled: Settled,
  of: 'step_end' | 'stop' | 'other',
  mayEnd: boolean,
): InboxReplay | null {
  if (replay === null || (mayEnd && holdsNothing(replay) && of !== 'other')) return null;
  const groups = replay.groups.filter(({ orders }) => orders.some((order) => !isSettled(settled, order)));
  const [first = replay.rest, ...others] = groups;
  const after = { ...first, steps: Math.max(0, first.steps - (of === 'step_end' ? 1 : 0)) };
  const left = groups.length > 0 ? { ...replay, groups: [after, ...others] } : { ...replay, groups, rest: after };
  return of === 'stop' && holdsNothing(left) ? null : left;
}

/** Whether the item was there when the thread was repaired. */
export function wasThere({ groups, rest }: InboxReplay, order: number): boolean {
  return [...groups, rest].some(({ orders }) => orders.includes(order));
}

function isSettled({ inboxTaken, consumed }: Settled, order: number): boolean {
  return order <= inboxTaken || consumed.includes(order);
}

/** Orders that are settled now and were not before. */
export function settledBetween(before: Settled, now: Partial<Settled>): readonly number[] {
  const { inboxTaken = before.inboxTaken, consumed = before.consumed } = now;
  const taken = Array.from({ length: inboxTaken - before.inboxTaken }, (_, index) => before.inboxTaken + 1 + index);
  return [...taken, ...consumed].filter((order) => !isSettled(before, order));
}

/** With these orders settled, too. Orders have no gaps: what is settled from the start on is one number. */
export function withSettled({ inboxTaken, consumed }: Settled, orders: readonly number[]): Settled {
  const all = new Set([...consumed, ...orders].filter((order) => order > inboxTaken));
  let taken = inboxTaken;
  while (all.delete(taken + 1)) taken += 1;
  return { inboxTaken: taken, consumed: [...all].sort((a, b) => a - b) };
}
