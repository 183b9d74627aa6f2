/** Counts, outside the browser, which steps were begun, and tells when a number of things has happened. */
export class StepCounter {
  #begun = new Map<string, number>();
  #first: string | undefined;
  #fullReruns = 0;
  #count = 0;
  #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  get count(): number {
    return this.#count;
  }

  reset(): void {
    this.#begun = new Map();
    this.#first = undefined;
    this.#fullReruns = 0;
    this.#count = 0;
    this.#waiting = [];
  }

  begun(step: string): void {
    this.#first ??= step;
    // The first step again, after others had come: the workflow began anew.
    if (step === this.#first && this.#begun.size > 1) this.#fullReruns += 1;
    this.#begun.set(step, (this.#begun.get(step) ?? 0) + 1);
    this.happened();
  }

  happened(): void {
    this.#count += 1;
    for (const { count, resolve } of this.#waiting) if (count <= this.#count) resolve();
    this.#waiting = this.#waiting.filter(({ count }) => count > this.#count);
  }

  reached(count: number): Promise<void> {
    if (this.#count >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ count, resolve }));
  }

  summary(): { readonly fullReruns: number; readonly stepsRepeated: number; readonly steps: number } {
    const times = [...this.#begun.values()];
    const stepsRepeated = times.reduce((sum, count) => sum + count - 1, 0);
    return { fullReruns: this.#fullReruns, stepsRepeated, steps: times.length };
  }
}
