import type { Clock } from '../base/clock.ts';

interface DeadlineParts {
  readonly clock: Clock;
  /** Milliseconds that are left by what stands now: 0 or less, it is over; Infinity: there is no deadline. */
  readonly leftMs: () => number;
  readonly onOver: () => void;
}

/** Says when the time of a run is over. What stands when it has passed counts, not what stood when the timer was set. */
export class DeadlineTimer {
  readonly #parts: DeadlineParts;
  #set = new AbortController();

  constructor(parts: DeadlineParts) {
    this.#parts = parts;
  }

  /** Sets it anew: a deadline came that may be nearer. */
  set(): void {
    this.clear();
    const { clock, leftMs, onOver } = this.#parts;
    const inMs = leftMs();
    if (inMs === Infinity) return;
    this.#set = new AbortController();
    clock.sleep(inMs, this.#set.signal).then(
      () => (leftMs() <= 0 ? onOver() : this.set()),
      () => undefined, // cleared
    );
  }

  clear(): void {
    this.#set.abort('nothing is under way, or another deadline is nearer');
  }
}
