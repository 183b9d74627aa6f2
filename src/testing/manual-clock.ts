import type { Clock } from '../base/clock.ts';
import { refuse } from '../program/arguments.ts';

interface Sleeper {
  readonly wakesAtMs: number;
  readonly durationMs: number;
  wake(): void;
}

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #nowMs: number;
  #steadyMs = 0;
  readonly #sleepers = new Set<Sleeper>();
  readonly #watchers = new Set<() => void>();
  /** Lengths of sleeps that pass at once. */
  readonly #passing: number[] = [];

  constructor(nowMs = Date.UTC(2026, 0, 1)) {
    checkTime('new ManualClock(nowMs)', nowMs, Number.isFinite(nowMs));
    this.#nowMs = nowMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  steadyMs(): number {
    return this.#steadyMs;
  }

  sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (durationMs <= 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason);
      };
      const sleeper: Sleeper = {
        wakesAtMs: this.#steadyMs + durationMs,
        durationMs,
        wake: () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        },
      };
      signal?.addEventListener('abort', stop, { once: true });
      this.#sleepers.add(sleeper);
      for (const watcher of this.#watchers) watcher();
      this.#passIfDue(sleeper);
    });
  }

  /** The next sleep that is so long passes at once: the time moves on to its end as soon as it has begun. */
  passNext(durationMs: number): void {
    this.#passing.push(durationMs);
  }

  #passIfDue({ durationMs, wakesAtMs }: Sleeper): void {
    const index = this.#passing.indexOf(durationMs);
    if (index === -1) return;
    this.#passing.splice(index, 1);
    queueMicrotask(() => this.advance(Math.max(0, wakesAtMs - this.#steadyMs)));
  }

  /** Moves the time on and wakes who slept until then, in the order of their times. */
  advance(durationMs: number): void {
    checkTime('advance(durationMs)', durationMs, durationMs >= 0);
    this.#nowMs += durationMs;
    this.#steadyMs += durationMs;
    const due = [...this.#sleepers].filter(({ wakesAtMs }) => wakesAtMs <= this.#steadyMs);
    for (const sleeper of due.sort((a, b) => a.wakesAtMs - b.wakesAtMs)) {
      this.#sleepers.delete(sleeper);
      sleeper.wake();
    }
  }

  /** Puts the wall clock forward, or back: no time passes by it, and nobody wakes. */
  jump(durationMs: number): void {
    checkTime('jump(durationMs)', durationMs, Number.isFinite(durationMs));
    this.#nowMs += durationMs;
  }

  /** Resolves once somebody sleeps for a time that fits, with that time in milliseconds. */
  whenAsleep(fits: (durationMs: number) => boolean): Promise<number> {
    return new Promise((resolve) => {
      const look = () => {
        const found = [...this.#sleepers].find(({ durationMs }) => fits(durationMs));
        if (found === undefined) return;
        this.#watchers.delete(look);
        resolve(found.durationMs);
      };
      this.#watchers.add(look);
      look();
    });
  }
}

/** A clock that is moved by what is no time shows no time any more. @throws `argument_invalid` */
function checkTime(call: string, given: number, fits: boolean): void {
  if (typeof given !== 'number' || !fits || given === Infinity)
    refuse(call, `the time is ${String(given)}, not a number of milliseconds`);
}
