/** What went against a rule, and a digest of everything that happened: two runs of one seed must agree on both. */
export interface Violation {
  readonly oracle: string;
  readonly message: string;
}

export class Findings {
  readonly violations: Violation[] = [];
  /** What happened, line by line; kept only where asked for. */
  readonly lines: string[] | undefined;
  #a = 0x811c9dc5;
  #b = 0x9e3779b1;

  constructor(keepsLines = false) {
    this.lines = keepsLines ? [] : undefined;
  }

  /** @param details what is worth reading, and no part of the digest: asked for only where lines are kept. */
  trace(line: string, details?: () => string): void {
    for (let index = 0; index < line.length; index += 1) {
      const unit = line.charCodeAt(index);
      this.#a = Math.imul(this.#a ^ unit, 0x01000193);
      this.#b = Math.imul(this.#b + unit, 0x85ebca6b) ^ (this.#b >>> 15);
    }
    this.lines?.push(details === undefined ? line : line + details());
  }

  violate(oracle: string, message: string): void {
    this.trace(`VIOLATION ${oracle}: ${message}`);
    if (this.violations.length < 20) this.violations.push({ oracle, message });
  }

  get digest(): string {
    return `${(this.#a >>> 0).toString(16).padStart(8, '0')}${(this.#b >>> 0).toString(16).padStart(8, '0')}`;
  }
}
