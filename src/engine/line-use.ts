/** Model use of the steps of a run that no commit holds yet (B7). */
import type { StepId } from '../model/ids.ts';
import type { Boundary } from './boundary.ts';
import { openLines } from './line-status.ts';
import { onDemand } from './load-on-demand.ts';
import type { StepRun, Tally } from './step-run.ts';

export class LineUse {
  readonly #boundary: Boundary;
  /** Of steps that are not under way; one that runs again counts what is on record as it comes to it. */
  readonly #standing = new Map<StepId, Tally>();
  #isRead = false;

  constructor(boundary: Boundary) {
    this.#boundary = boundary;
  }

  /** What lines side by side had used before this process: each counts against what the others may use. */
  async read(): Promise<void> {
    const { control, lines, image, parts } = this.#boundary;
    const { tokens, cost } = control.limits;
    if (this.#isRead || lines.forks.size === 0 || (tokens === null && cost === null)) return;
    const { standingUses } = await onDemand();
    const uses = await standingUses(parts.writer.codec, image, parts.options);
    this.#isRead = true;
    for (const [step, use] of uses) this.#standing.set(step, use);
  }

  /** The step is under way no more, and no commit holds what it has used. */
  keep({ scheduled, tally }: StepRun): void {
    this.#standing.set(scheduled.step, tally);
  }

  /** A commit holds what the step has used. */
  counted({ scheduled }: StepRun): void {
    this.#standing.delete(scheduled.step);
  }

  /** Of all that stands, with these under way. */
  total(underWay: readonly StepRun[]): Tally {
    const { lines, position } = this.#boundary;
    const standing = new Set([...position.next, ...openLines(lines)].map(({ step }) => step));
    const uses = new Map([...this.#standing].filter(([step]) => standing.has(step)));
    for (const { scheduled, tally } of underWay) {
      const known = uses.get(scheduled.step);
      uses.set(scheduled.step, known !== undefined && isMore(known, tally) ? known : tally);
    }
    const total: Tally = { inputTokens: 0, outputTokens: 0, cost: 0 };
    for (const { inputTokens, outputTokens, cost } of uses.values()) {
      total.inputTokens += inputTokens;
      total.outputTokens += outputTokens;
      total.cost += cost;
    }
    return total;
  }
}

function isMore(a: Tally, b: Tally): boolean {
  return a.inputTokens + a.outputTokens > b.inputTokens + b.outputTokens || a.cost > b.cost;
}
