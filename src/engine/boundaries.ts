/** The commit that begins a run. Those that end one are loaded when they are needed; steps and waits have files of their own. */
import { codecErrors } from '../codec/errors.ts';
import type { ThreadImage } from '../codec/thread-image.ts';
import { noLimits, nothingSpent } from '../model/checkpoint.ts';
import { withSettled } from '../model/inbox.ts';
import type { AppliedUpdate } from '../program/state.ts';
import { entryOf } from './agent-nodes.ts';
import type { Boundary, NextBoundary } from './boundary.ts';
import { controlOf, positionOf } from './control-of.ts';
import { changeOf, usedAfter } from './ended-step.ts';
import { stepIdFor } from './identity.ts';
import { LineDraft } from './line-draft.ts';
import type { LineUpdates } from './line-updates.ts';
import { onDemand } from './load-on-demand.ts';
import type { RunEnds } from './run-ends.ts';
import { ledgerHere } from './step-trace.ts';
import type { ThreadState } from './thread-state.ts';

export class RunBoundaries {
  readonly #boundary: Boundary;
  readonly #updates: LineUpdates;

  constructor(boundary: Boundary, updates: LineUpdates) {
    this.#boundary = boundary;
    this.#updates = updates;
  }

  get #agent() {
    return this.#boundary.parts.options.agent;
  }

  /** Takes up an input and schedules the first step of a run. One that does not fit the state fails the run and is kept. */
  async takeInput(state: ThreadState, order: number, update: object): Promise<ThreadState> {
    const boundary = this.#boundary;
    const draft = new LineDraft(boundary.lines);
    const left = boundary.lines.forks.size === 0 ? [] : await this.#left(state, draft);
    draft.removeFork('');
    draft.clearStep('');
    let applied: AppliedUpdate;
    try {
      applied = state.compose([...left, update]);
    } catch (error) {
      return (await this.ends()).fail(state, error, withSettled(boundary.control, [order]));
    }
    const { codec, image: before } = boundary.parts.writer;
    const isFirst = before.state === null;
    const { maxSteps, limits } = this.#agent;
    const node = entryOf(this.#agent, this.#agent.start);
    const { lineage, failure } = boundary.control;
    const { options, writer } = boundary.parts;
    // What lines of a run have used that stands at its step limit: no commit holds it yet.
    const used =
      failure?.code === 'step_limit' && (await (await onDemand()).standingUse(writer.codec, before, options));
    const predecessor = positionOf(before).step;
    const step = await stepIdFor(codec, { lineage, predecessor, node, path: '', input: order });
    const next = (image: ThreadImage): NextBoundary => ({
      cause: 'input',
      position: { ...positionOf(image), next: [{ node, step, path: '' }] },
      control: {
        status: 'running',
        run: { steps: 0, maxSteps, input: order, began: image.row.head },
        ...withSettled(controlOf(image, maxSteps), [order]),
        ...(used && usedAfter(controlOf(image, maxSteps), used)),
        limits: { ...noLimits, ...limits },
        spent: nothingSpent,
        stepFromMs: 0,
        decisions: {},
        ledger: ledgerHere(image),
        waits: [],
        failure: null,
      },
      change: isFirst ? state.wholeChange(applied) : changeOf(image, applied, draft),
      lines: draft.lines,
      events: [boundary.event(isFirst ? 'created' : 'input_taken', { order })],
      beginsRun: true,
      heavy: false,
    });
    try {
      // A run that stood at a limit leaves its waits: nobody extends it any more.
      const after = await boundary.commitClosing((image) => controlOf(image, maxSteps).waits, next);
      boundary.parts.emit({ type: 'status', status: 'running', failure: null });
      return after.state === null ? state : state.after(applied, after.state);
    } catch (error) {
      // A schema can turn a good input into something that cannot be stored.
      if (!codecErrors.is(error, 'value_not_storable')) throw error;
      return (await this.ends()).fail(state, error, withSettled(boundary.control, [order]));
    }
  }

  /** What the lines of a run that has failed had done. */
  async #left(state: ThreadState, draft: LineDraft): Promise<readonly object[]> {
    const { withoutRefused } = await onDemand();
    return withoutRefused(state, await this.#updates.all(draft));
  }

  /** What ends a run, or takes it back. */
  async ends(): Promise<RunEnds> {
    const parts = await onDemand();
    return new parts.RunEnds(this.#boundary, this.#updates);
  }
}
