import type { Clock } from '../base/clock.ts';

/** Differences up to this are drift, and corrections that systems make all the time. */
const driftMs = 5_000;
/** A jump of the wall clock is believed once it has lasted so long. */
const believedAfterMs = 300_000;

/**
 * The time of day as far as it can be believed (PROTOCOL 8). A wall clock that jumps while this process runs is not followed at
 * once: it may have been set wrong, and what expires by it cannot be undone. One that stays where it jumped is right: the
 * machine slept.
 * A clock that was wrong before this process began cannot be noticed.
 */
export class BelievedTime {
  readonly #clock: Clock;
  /** Believed time at steady time 0. */
  #offsetMs: number;
  #jump: { readonly byMs: number; readonly sinceMs: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offsetMs = clock.nowMs() - clock.steadyMs();
  }

  nowMs(): number {
    const steadyMs = this.#clock.steadyMs();
    const believedMs = this.#offsetMs + steadyMs;
    const byMs = this.#clock.nowMs() - believedMs;
    if (Math.abs(byMs) <= driftMs) {
      this.#jump = undefined;
      return believedMs;
    }
    if (this.#jump === undefined || Math.abs(byMs - this.#jump.byMs) > driftMs) {
      this.#jump = { byMs, sinceMs: steadyMs };
      return believedMs;
    }
    if (steadyMs - this.#jump.sinceMs < believedAfterMs) return believedMs;
    this.#offsetMs += byMs;
    this.#jump = undefined;
    return believedMs + byMs;
  }
}
