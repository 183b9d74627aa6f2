/** Applies retention by itself (A12) where the app said what may go: without `retention` nothing is ever taken away. */
import type { Clock } from '../base/clock.ts';
import type { Engine } from '../engine/engine.ts';
import type { EngineThread } from '../engine/engine-thread.ts';
import type { ThreadHash } from '../model/ids.ts';

/** A thread is compacted after the run in which it passed another so many checkpoints: reading it whole must be worth it. */
const compactEvery = 100;
/** Threads whose time is over are looked for when the worker starts, and then so often. */
const purgeEveryMs = 6 * 3_600_000;

/** How far a thread had come when it was last compacted, or first seen. */
export class Compactions {
  readonly #thread: EngineThread;
  #last: number | undefined;

  constructor(thread: EngineThread) {
    this.#thread = thread;
  }

  /** Called under the thread's lock, before a run of it and after it. What it cannot do now it does another time. */
  async look(): Promise<void> {
    const sequence = (await this.#thread.row())?.sequence;
    if (sequence === undefined) return;
    const passed = Math.floor(sequence / compactEvery);
    if (this.#last !== undefined && passed > this.#last) await this.#thread.compact();
    this.#last = passed;
  }
}

/** Purges until it is told to stop. `onPurged` hears of each thread that is gone. */
export async function purgeFromTimeToTime(
  engine: Engine,
  clock: Clock,
  signal: AbortSignal,
  onPurged: (thread: ThreadHash) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const { purged } = await engine.purge();
      for (const { thread } of purged) onPurged(thread);
    } catch {
      // The store is away: what is over stays so.
    }
    await clock.sleep(purgeEveryMs, signal).catch(() => undefined); // the worker is closing
  }
}
