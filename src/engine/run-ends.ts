/** The commits that end a run, or take it back: a cancel, other input in its place, a failure. */
import { type ErrorData, errorToData } from '../base/errors.ts';
import type { OrderedItem } from '../codec/inbox-codec.ts';
import { faultOf } from '../codec/recover-lineage.ts';
import type { StateImage, ThreadImage } from '../codec/thread-image.ts';
import { allWaits } from '../codec/wait-codec.ts';
import type { Control } from '../model/checkpoint.ts';
import type { ThreadEvent } from '../model/event.ts';
import type { WaitId } from '../model/ids.ts';
import { inboxReplayAfter, settledBetween, wasThere, withSettled } from '../model/inbox.ts';
import { noLines } from '../model/lines.ts';
import type { Past } from '../model/past.ts';
import { atRunEnd, isAbandoned, rangesWith } from '../model/past-entries.ts';
import { rareProgramErrors } from '../program/rare-errors.ts';
import type { AppliedUpdate } from '../program/state.ts';
import type { Boundary } from './boundary.ts';
import { controlOf, positionOf } from './control-of.ts';
import { type Decision, decisionDetails } from './decision.ts';
import { changeOf, retriesAfter, usedAfter } from './ended-step.ts';
import { initialChange } from './initial-change.ts';
import { standsAtLimit } from './limit-boundaries.ts';
import { LineDraft } from './line-draft.ts';
import type { LineUpdates } from './line-updates.ts';
import type { NextCheckpoint } from './plans.ts';
import { standingUse } from './recorded-use.ts';
import type { StepRun, Tally } from './step-run.ts';
import { ledgerHere } from './step-trace.ts';
import { ThreadState } from './thread-state.ts';
import { returnTo, stateAt } from './time-travel-policy.ts';

export class RunEnds {
  readonly #boundary: Boundary;
  readonly #updates: LineUpdates;

  constructor(boundary: Boundary, updates: LineUpdates) {
    this.#boundary = boundary;
    this.#updates = updates;
  }

  /**
   * Ends the run; what was done is kept, that of lines which had not ended included. Inputs that came before the cancel are
   * lost to it, by name (PROTOCOL 6). A thread whose run has ended stays as it ended.
   */
  async cancel(state: ThreadState, cancel: OrderedItem, items: readonly OrderedItem[]): Promise<ThreadState> {
    const boundary = this.#boundary;
    const used = await this.#used();
    const dropped = items.filter(({ order, item }) => order < cancel.order && item.type === 'input');
    const before = boundary.control.status;
    const hasEnded = before === 'done' || (before === 'failed' && !standsAtLimit(boundary));
    const isTooLate = hasEnded && dropped.length === 0;
    const { inboxReplay } = boundary.control;
    const givesUpReplay = inboxReplay !== null && !wasThere(inboxReplay, cancel.order);
    const status = isTooLate ? before : 'cancelled';
    const orders = [cancel.order, ...dropped.map(({ order }) => order)];
    const settled = withSettled(boundary.control, orders);
    // Where no run is gone through again behind it, nobody waits any more for what steps had asked for before a repair.
    const isLast = inboxReplay !== null && !inboxReplayAfter(inboxReplay, settled, 'other', false)?.groups.length;
    const left = isLast ? await allWaits(boundary.parts.writer.codec) : undefined;
    const make = (image: ThreadImage): NextCheckpoint => ({
      cause: 'cancelled',
      position: { ...positionOf(image), next: [] },
      control: {
        status,
        ...(!isTooLate && { failure: null }),
        ...withSettled(controlOf(image, 0), orders),
        ...usedAfter(controlOf(image, 0), used),
        ledger: ledgerHere(image),
        ...(givesUpReplay && { inboxReplay: null }),
        waits: [],
      },
      events: [
        ...dropped.map(({ order }) => boundary.event('input_dropped', { order, winner: cancel.order })),
        boundary.event('cancelled', { order: cancel.order }),
      ],
      heavy: true,
    });
    const after = await this.#close(state, make, left);
    if (!isTooLate) boundary.parts.emit({ type: 'status', status, failure: null });
    return after;
  }

  /** Ends the run because new input is to take its place. What was done is kept; the input is taken up next. */
  async interrupt(state: ThreadState, order: number, why: ThreadEvent['details'] = {}): Promise<ThreadState> {
    const boundary = this.#boundary;
    const used = await this.#used();
    const after = await this.#close(state, (image) => ({
      cause: 'cancelled',
      position: { ...positionOf(image), next: [] },
      control: { status: 'cancelled', ...usedAfter(controlOf(image, 0), used), ledger: ledgerHere(image), waits: [] },
      events: [boundary.event('interrupted', { order, ...why })],
      heavy: true,
    }));
    boundary.parts.emit({ type: 'status', status: 'cancelled', failure: null });
    return after;
  }

  /**
   * Ends the run because new input is to take its place, and takes the state back to where the run began. Effects that were
   * carried out stay on record; nothing is undone. Where the checkpoint at which it began is gone, what was done is kept.
   */
  async rollBack(state: ThreadState, order: number): Promise<ThreadState> {
    const boundary = this.#boundary;
    const { writer, ports, options } = boundary.parts;
    const { codec } = writer;
    const { began } = boundary.control.run;
    const target = began === null ? undefined : await stateAt(codec, began).catch((error) => faultOf(error));
    if (target !== undefined && 'reason' in target) {
      return this.interrupt(state, order, { began, kept: target.reason });
    }
    const left = await boundary.waitsLeft(true);
    const used = await this.#used();
    const after = await boundary.commitClosing(
      (image) => [...new Set([...controlOf(image, 0).waits, ...left])],
      (image) => {
        const before = controlOf(image, 0);
        const back = target && returnTo(image, leftUndecided(before.past, target, image), target, ports.random);
        const control = {
          status: 'cancelled' as const,
          ...usedAfter(before, used),
          ledger: ledgerHere(image),
          waits: [],
          ...(back && { past: back.past, grants: back.onto.checkpoint.control.grants }),
        };
        return {
          cause: 'rolled_back',
          position: { ...positionOf(image), next: [], visits: back?.onto.checkpoint.position.visits ?? {} },
          control,
          ...(back ? { onto: back.onto } : { change: initialChange(options.agent, image.state) }),
          lines: noLines,
          events: [boundary.event('interrupted', { order, began })],
          heavy: true,
        };
      },
    );
    boundary.parts.emit({ type: 'status', status: 'cancelled', failure: null });
    return ThreadState.read(codec, options.agent, after.state, boundary.parts.stopped);
  }

  /** Ends the run as failed. Without a state, lines that had not ended are left as they are. */
  async fail<State extends ThreadState | null>(
    state: State,
    error: unknown,
    control: NextCheckpoint['control'] = {},
    decisions: readonly Decision[] = [],
  ): Promise<State> {
    const failure = this.#boundary.parts.writer.codec.secrets.masked(errorToData(error));
    const after = await this.#close(state, () => this.#failed(failure, { ...control, waits: [] }, decisions));
    this.#tell(failure);
    return after;
  }

  #failed(failure: ErrorData, control: NextCheckpoint['control'], decisions: readonly Decision[] = []): NextCheckpoint {
    const [input] = settledBetween(this.#boundary.control, control);
    return {
      cause: 'failed',
      control: { ...control, status: 'failed', failure },
      events: [
        ...decisions.map((made) => this.#boundary.event('policy', decisionDetails(made))),
        this.#boundary.event('failed', {
          code: failure.code ?? null,
          message: failure.message,
          ...(input !== undefined && { input }),
        }),
      ],
      heavy: true,
    };
  }

  #tell(failure: ErrorData): void {
    const { emit } = this.#boundary.parts;
    emit({ type: 'status', status: 'failed', failure });
    emit({ type: 'alert', reason: 'failed', node: this.#boundary.position.node, error: failure });
  }

  /** Fails the run by what stopped its worker each time. The state is not decoded: it may be that. */
  failSuspect({ node, control }: { node: string; control: Partial<Control> }, resumes: number): Promise<null> {
    return this.fail(null, rareProgramErrors.make('resume_limit', { resumes, node }), control);
  }

  /**
   * Fails the run because it may take no further step. Lines stay as they are, and so do their waits: the limit can be extended.
   * Those of a child are closed: its parent hears with this commit that it has failed, and goes on without it.
   */
  async failAtLimit(node: string): Promise<void> {
    const boundary = this.#boundary;
    const { steps } = boundary.control.run;
    const error = rareProgramErrors.make('step_limit', { steps, node });
    if (boundary.parts.writer.codec.parent !== null) {
      await this.fail(null, error);
      return;
    }
    const failure = errorToData(error);
    await boundary.commit(() => this.#failed(failure, {}));
    this.#tell(failure);
  }

  /** Fails the run by an error of its step; the step's failed attempts stay counted. */
  failStep(state: ThreadState, run: StepRun, error: unknown): Promise<ThreadState> {
    const { control } = this.#boundary;
    const used = { retries: retriesAfter(control.retries, run), ...usedAfter(control, run.tally) };
    return this.fail(state, error, used, run.decisions);
  }

  /** What the steps that are left have used: no commit holds it yet. */
  #used(): Promise<Tally> {
    const { image, parts } = this.#boundary;
    return standingUse(parts.writer.codec, image, parts.options);
  }

  /** A commit that ends the run: open waits are closed with it, and what its lines did goes into the state. */
  async #close<State extends ThreadState | null>(
    state: State,
    next: (image: ThreadImage) => NextCheckpoint,
    left?: readonly WaitId[],
  ): Promise<State> {
    const boundary = this.#boundary;
    const alsoWaits = left ?? (await boundary.waitsLeft(true));
    let applied: AppliedUpdate = { set: new Map(), append: new Map() };
    const image = await boundary.commitClosing(
      (before) => [...new Set([...controlOf(before, 0).waits, ...alsoWaits])],
      async (before) => {
        const made = next(before);
        if (state === null || boundary.lines.forks.size === 0) return made;
        const draft = new LineDraft(boundary.lines);
        const updates = await this.#updates.all(draft);
        draft.removeFork('');
        draft.clearStep('');
        applied = state.compose(withoutRefused(state, updates));
        return { ...made, change: changeOf(before, applied, draft), lines: draft.lines };
      },
    );
    return state === null || image.state === null ? state : (state.after(applied, image.state) as State);
  }
}

/** Nobody has decided what is to become of the calls of a run that other input takes back. */
function leftUndecided(past: Past, target: StateImage, { row }: ThreadImage): Past {
  const { count } = target.checkpoint.control.ledger;
  const own = Array.from({ length: row.ledger - count }, (_, index) => count + 1 + index);
  const ended = atRunEnd(past);
  return {
    ...ended,
    undecided: rangesWith(
      ended.undecided,
      own.filter((entry) => !isAbandoned(past, entry)),
    ),
  };
}

/** The updates of lines, one after the other; one that the reducers refuse must not keep the run from ending. */
export function withoutRefused(state: ThreadState, updates: readonly object[]): readonly object[] {
  const good: object[] = [];
  try {
    state.compose(updates);
    return updates;
  } catch {
    // One of them is refused: see which.
  }
  for (const update of updates) {
    try {
      state.compose([...good, update]);
      good.push(update);
    } catch {
      // It was made by a line that had not been joined: the run ends without it.
    }
  }
  return good;
}
