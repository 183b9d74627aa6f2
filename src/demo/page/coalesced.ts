/**
 * Runs work when asked: once at a time, and once more if it was asked for meanwhile. Between two runs it rests twice as long
 * as the last one took, so that looking never takes most of the time. What fails waits for the next time.
 */
export class Coalesced {
  readonly #work: () => Promise<void>;
  #isRunning = false;
  #isAskedAgain = false;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  ask(): void {
    if (this.#isRunning) {
      this.#isAskedAgain = true;
      return;
    }
    void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    do {
      this.#isAskedAgain = false;
      const startedAtMs = performance.now();
      await this.#work().catch(() => undefined); // the worker went away: its successor's first message asks again
      const restMs = (performance.now() - startedAtMs) * 2;
      await new Promise((resolve) => setTimeout(resolve, restMs));
    } while (this.#isAskedAgain);
    this.#isRunning = false;
  }
}
