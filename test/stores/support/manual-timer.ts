import { type Deferred, deferred } from '../../../src/base/deferred.ts';
import type { StartTimer } from '../../../src/stores/indexeddb/timer.ts';

/** Time limits that run out when the test says so. */
export class ManualTimer {
  readonly #pending = new Set<() => void>();
  #started: Deferred<void> = deferred();

  get pending(): number {
    return this.#pending.size;
  }

  readonly startTimer: StartTimer = (callBack) => {
    this.#pending.add(callBack);
    this.#started.resolve();
    return () => this.#pending.delete(callBack);
  };

  /** Lets every time limit that is running run out; waits for the first if there is none. */
  async runOut(): Promise<void> {
    while (this.#pending.size === 0) {
      this.#started = deferred();
      await this.#started.promise;
    }
    for (const callBack of [...this.#pending]) {
      this.#pending.delete(callBack);
      callBack();
    }
  }
}
