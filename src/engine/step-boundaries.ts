/**
 * The commit that ends a step (A4, B1): on the main line, or on one line of a fork. Lines that have all ended are joined in
 * the same commit: their updates, in the order of the lines, through the reducers.
 */
import { raised } from '../base/counts.ts';
import type { ThreadImage } from '../codec/thread-image.ts';
import type { Position, ScheduledStep } from '../model/checkpoint.ts';
import type { Fields } from '../model/fields.ts';
import type { StepId } from '../model/ids.ts';
import { withSettled } from '../model/inbox.ts';
import type { Line } from '../model/lines.ts';
import type { NodeResult } from '../program/node-result.ts';
import type { AppliedUpdate } from '../program/state.ts';
import { nextNode } from './agent-nodes.ts';
import type { Boundary, NextBoundary } from './boundary.ts';
import { controlOf, positionOf } from './control-of.ts';
import { type Decision, decisionDetails, decisionsAfter } from './decision.ts';
import { changeOf, type EndedStep, forks, goesOn, retriesAfter, stepAfter, usedAfter } from './ended-step.ts';
import { LineDraft } from './line-draft.ts';
import type { LineEnds } from './line-ends.ts';
import type { Joined } from './line-join.ts';
import { statusOf } from './line-status.ts';
import type { LineUpdates } from './line-updates.ts';
import { onDemand } from './load-on-demand.ts';
import { ledgerHere, ledgerStays, traceOf } from './step-trace.ts';
import type { ThreadState } from './thread-state.ts';

export class StepBoundaries {
  readonly #boundary: Boundary;
  readonly #updates: LineUpdates;

  constructor(boundary: Boundary, updates: LineUpdates) {
    this.#boundary = boundary;
    this.#updates = updates;
  }

  /**
   * Commits the end of a step. Gives the state that the main line, and all lines of its fork, see from now on.
   *
   * @throws what the node's update or its edge does wrong, before anything is committed.
   */
  async end(ended: EndedStep, result: NodeResult<Fields, string>, decision?: Decision): Promise<ThreadState> {
    const { run } = ended;
    const { path } = run.scheduled;
    const seen = ended.state.with([result.update]); // throws before anything is committed
    if (path !== '' || forks(result)) {
      return this.#commit(ended, decision, (await this.#lineEnds()).after(ended, result, seen));
    }
    return this.#commit(ended, decision, async () => {
      const { agent } = this.#boundary.parts.options;
      const node = nextNode(agent, ended.node.name, goesOn(result), seen.values);
      if (node === null) return { updates: [result.update], next: null };
      return { updates: [result.update], next: { node, step: await this.#stepAfter(run.scheduled.step, node), path } };
    });
  }

  /** Ends a line of a fork by the error of its step; the others go on. */
  async failLine(ended: EndedStep, cause: unknown): Promise<ThreadState> {
    return this.#commit(ended, undefined, (await this.#lineEnds()).failed(ended, cause));
  }

  async #lineEnds(): Promise<LineEnds> {
    const parts = await onDemand();
    return new parts.LineEnds(this.#boundary, this.#updates);
  }

  /** Writes what the draft says, and what the main line is after it. */
  async #commit(
    ended: EndedStep,
    decision: Decision | undefined,
    work: (draft: LineDraft) => Promise<Joined>,
  ): Promise<ThreadState> {
    const boundary = this.#boundary;
    const { run, main } = ended;
    const { path } = run.scheduled;
    let applied: AppliedUpdate = { set: new Map(), append: new Map() };
    let joined: Joined = { updates: [] };
    const left = await boundary.waitsLeft(false);
    const mine = (image: ThreadImage) =>
      path === ''
        ? [...new Set([...controlOf(image, 1).waits, ...left])]
        : (boundary.lines.lines.get(path)?.waits ?? []);
    const after = await boundary.commitClosing(mine, async (image) => {
      const draft = new LineDraft(boundary.lines);
      draft.clearStep(path);
      joined = await work(draft);
      applied = main.compose(joined.updates);
      const endState = joined.next === null && main.with(joined.updates).values;
      const decisions = decision === undefined ? run.decisions : [...run.decisions, decision];
      return { ...this.#next(ended, image, draft, joined, applied, decisions), ...(endState && { endState }) };
    });
    const { emit } = boundary.parts;
    if (joined.failure !== undefined) {
      emit({ type: 'status', status: 'failed', failure: joined.failure });
      emit({ type: 'alert', reason: 'failed', node: ended.node.name, error: joined.failure });
    } else if (joined.next === null) emit({ type: 'status', status: 'done', failure: null });
    else if (after.row.status === 'waiting') emit({ type: 'status', status: 'waiting', failure: null });
    return after.state === null ? main : main.after(applied, after.state);
  }

  #next(
    { node, run, stepMs }: EndedStep,
    image: ThreadImage,
    draft: LineDraft,
    { next, failure }: Joined,
    applied: AppliedUpdate,
    decisions: readonly Decision[],
  ): NextBoundary {
    const { agent } = this.#boundary.parts.options;
    const before = controlOf(image, agent.maxSteps);
    const { path } = run.scheduled;
    const { inputTokens, outputTokens } = run.tally;
    const ends = next === null || failure !== undefined;
    const waits = path === '' ? [] : before.waits.filter((id) => !this.#waitsOf(path).includes(id));
    const to = next?.node ?? draft.lines.lines.get(path)?.node ?? null;
    const hasLeft = to !== null && to !== node.name;
    return {
      left: run.scheduled.step,
      cause: failure === undefined ? 'step' : 'failed',
      position: positionAfter(positionOf(image), node.name, run.scheduled, next, draft.lines.forks.size > 0),
      control: {
        status: failure !== undefined ? 'failed' : next === null ? 'done' : statusOf(draft.lines, false),
        run: { ...before.run, steps: before.run.steps + 1 },
        ledger: path === '' || next !== undefined ? ledgerHere(image, run) : ledgerStays(image, before, run),
        waits,
        grants: [...new Set([...before.grants, ...run.grants])],
        ...usedAfter(before, run.tally),
        stepFromMs: this.#boundary.elapsedMs(),
        ...withSettled(before, run.waits.consumed()),
        decisions: decisionsAfter(before, decisions),
        retries: retriesAfter(before.retries, run),
        branches: hasLeft || next ? { ...before.branches, [node.name]: to ?? node.name } : before.branches,
        ...(failure !== undefined && { failure }),
      },
      reused: run.ledger.reused,
      change: changeOf(image, applied, draft),
      lines: draft.lines,
      events: [
        ...decisions.map((made) => this.#boundary.event('policy', decisionDetails(made))),
        this.#boundary.event('step', {
          node: node.name,
          next: next?.node ?? null,
          stepMs,
          ...(path !== '' && { path }),
          ...traceOf(run),
        }),
        ...(failure === undefined
          ? []
          : [this.#boundary.event('failed', { code: failure.code ?? null, message: failure.message })]),
      ],
      wakeUpAtMs: waits.length === 0 ? null : image.row.wakeUpAtMs,
      heavy: node.critical || ends,
      stepMs,
      stepTokens: inputTokens + outputTokens,
    };
  }

  #waitsOf(path: string): Line['waits'] {
    return this.#boundary.lines.lines.get(path)?.waits ?? [];
  }

  #stepAfter(predecessor: StepId, node: string): Promise<StepId> {
    return stepAfter(this.#boundary, predecessor, node, '');
  }
}

/**
 * `next` undefined: the main line stands while others go on. Which line ended last must not matter to the ids of later steps: the
 * step of the position is the main line's.
 */
function positionAfter(
  before: Position,
  node: string,
  ended: ScheduledStep,
  next: ScheduledStep | null | undefined,
  isForked: boolean,
): Position {
  const visits = raised(before.visits, node);
  const step = ended.path === '' ? ended.step : before.step;
  return { node, step, next: isForked || next === null || next === undefined ? [] : [next], visits };
}
