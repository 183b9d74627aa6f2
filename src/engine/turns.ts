/** Runs of one thread in this engine, and work that must not meet one: each waits for the other. */
export class Turns {
  #running: Promise<unknown> = Promise.resolve();
  #apart: Promise<unknown> = Promise.resolve();

  /** Begins a run once nothing is done apart from runs. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#apart;
    const run = work();
    this.#running = run.catch(() => undefined);
    return run;
  }

  /** Waits for the run that is under way, which `stop` asks to end; no other begins before the work is done. */
  apart<Result>(stop: () => void, work: () => Promise<Result>): Promise<Result> {
    const before = this.#apart;
    const turn = (async () => {
      await before;
      stop();
      await this.#running;
      return work();
    })();
    this.#apart = turn.catch(() => undefined); // its caller hears of it
    return turn;
  }
}
