/**
 * Knows when a node can do nothing more before an answer from outside: every line of it waits. A line is the node itself or
 * one item of an `all`, or a call beside another one.
 */
export class Activity {
  #moving = 1;
  readonly #onStill: () => void;

  constructor(onStill: () => void) {
    this.#onStill = onStill;
  }

  /** One line stops: it waits for an answer, or for the lines it began. */
  pause(): void {
    this.#moving -= 1;
    if (this.#moving === 0) this.#onStill();
  }

  /** A line goes on, or a new one begins. */
  resume(): void {
    this.#moving += 1;
  }

  get isStill(): boolean {
    return this.#moving <= 0;
  }
}
