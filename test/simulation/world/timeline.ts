/**
 * The time of a simulated world. It stands still while anything can move by itself, and jumps to the next thing that is due
 * when nothing can. Wall clocks may be put forward or back; durations do not notice.
 */
import type { Clock } from '../../../src/base/clock.ts';

interface Entry {
  readonly dueMs: number;
  readonly order: number;
  readonly isVoid: () => boolean;
  readonly run: () => void;
}

const alwaysValid = (): boolean => false;

export class Timeline {
  #nowMs = 0;
  #wallOffsetMs = Date.UTC(2026, 0, 1);
  #order = 0;
  /** Sorted, the next one last. */
  readonly #entries: Entry[] = [];

  /** Milliseconds since the world began. */
  get nowMs(): number {
    return this.#nowMs;
  }

  get wallMs(): number {
    return this.#nowMs + this.#wallOffsetMs;
  }

  /** Puts every wall clock forward, or back. */
  jump(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  /** Carries `run` out after `delayMs`. What is void by then is dropped, and no time passes for it. */
  after(delayMs: number, run: () => void, isVoid: () => boolean = alwaysValid): void {
    this.#order += 1;
    const entry = { dueMs: this.#nowMs + Math.max(0, delayMs), order: this.#order, isVoid, run };
    let at = this.#entries.length;
    while (at > 0 && isBefore(this.#entries[at - 1], entry)) at -= 1;
    this.#entries.splice(at, 0, entry);
  }

  /** Lets the next thing happen. False if there is none. */
  step(): boolean {
    for (let entry = this.#entries.pop(); entry !== undefined; entry = this.#entries.pop()) {
      if (entry.isVoid()) continue;
      this.#nowMs = Math.max(this.#nowMs, entry.dueMs);
      entry.run();
      return true;
    }
    return false;
  }

  wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.after(delayMs, resolve));
  }
}

/** Whether `known` comes before `entry`, and so behind it in the list. */
function isBefore(known: Entry | undefined, entry: Entry): boolean {
  if (known === undefined) return false;
  return known.dueMs < entry.dueMs || (known.dueMs === entry.dueMs && known.order < entry.order);
}

/** Who sleeps: a process that may be frozen when its time comes, or dead. */
export interface Sleeper {
  readonly isOver: boolean;
  whenAwake(run: () => void): void;
}

/** The clock of one process. */
export function clockOf(timeline: Timeline, sleeper: Sleeper): Clock {
  return {
    nowMs: () => timeline.wallMs,
    steadyMs: () => timeline.nowMs,
    sleep(durationMs, signal) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      if (durationMs <= 0) return Promise.resolve();
      return new Promise((resolve, reject) => {
        let isDone = false;
        const stop = () => {
          isDone = true;
          reject(signal?.reason);
        };
        signal?.addEventListener('abort', stop, { once: true });
        const wake = () =>
          sleeper.whenAwake(() => {
            if (isDone) return;
            signal?.removeEventListener('abort', stop);
            resolve();
          });
        timeline.after(durationMs, wake, () => isDone || sleeper.isOver);
      });
    },
  };
}
