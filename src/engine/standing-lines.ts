/** The lines of a run that have a step to run, and how many of a fork may run at once (B1). */
import type { ScheduledStep } from '../model/checkpoint.ts';
import type { WaitId } from '../model/ids.ts';
import { type Lines, parentOf } from '../model/lines.ts';
import type { Boundary } from './boundary.ts';
import { openLines } from './line-status.ts';
import type { Verdict } from './step-policy.ts';

/** A line with a step that is to run: the main one has no record of its own. */
export interface ReadyLine {
  readonly scheduled: ScheduledStep;
  readonly from: number;
  readonly waits: readonly WaitId[];
  /** What a person said about the failure of this step. */
  readonly verdict?: Verdict;
}

/** Lines with a step that is not under way. */
export function standingLines(
  { lines, position, control }: Boundary,
  isRunning: (path: string) => boolean,
): readonly ReadyLine[] {
  if (lines.forks.size > 0) {
    return openLines(lines)
      .filter(({ path }) => !isRunning(path))
      .map(({ node, step, path, from, waits }) => ({ scheduled: { node, step, path }, from, waits }));
  }
  const [scheduled] = position.next;
  if (scheduled === undefined) throw new Error('A running thread has no next step.');
  if (isRunning(scheduled.path)) return [];
  return [{ scheduled, from: control.ledger.from, waits: control.waits }];
}

/** Counts the lines under way against the limits of their forks. */
export class ForkPlaces {
  readonly #lines: Lines;
  /** By the path of the fork. */
  readonly #taken = new Map<string, number>();

  constructor(lines: Lines) {
    this.#lines = lines;
  }

  take(path: string): void {
    if (path === '') return;
    const fork = parentOf(path).path;
    this.#taken.set(fork, (this.#taken.get(fork) ?? 0) + 1);
  }

  isFull(path: string): boolean {
    if (path === '') return false;
    const fork = parentOf(path).path;
    return (this.#taken.get(fork) ?? 0) >= (this.#lines.forks.get(fork)?.limit ?? 1);
  }
}
