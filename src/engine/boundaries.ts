/** The commits that begin and end a run: an input, a cancel, a failure. Steps and waits have files of their own. */
import { errorToData } from '../base/errors.ts';
import { codecErrors } from '../codec/errors.ts';
import type { OrderedItem } from '../codec/inbox-codec.ts';
import type { ThreadImage } from '../codec/thread-image.ts';
import { noLimits, nothingSpent } from '../model/checkpoint.ts';
import { withSettled } from '../model/inbox.ts';
import { noLines } from '../model/lines.ts';
import type { AppliedUpdate } from '../program/state.ts';
import { entryOf } from './agent-nodes.ts';
import type { Boundary, NextBoundary } from './boundary.ts';
import { stepIdFor } from './identity.ts';
import { LineDraft } from './line-draft.ts';
import type { LineUpdates } from './line-updates.ts';
import { controlOf, type NextCheckpoint, positionOf } from './plans.ts';
import { changeOf, retriesAfter, usedAfter } from './step-boundaries.ts';
import type { StepRun, Tally } from './step-run.ts';
import { ledgerHere } from './step-trace.ts';
import { ThreadState } from './thread-state.ts';

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
    const left = withoutRefused(state, await this.#updates.all(draft));
    draft.removeFork('');
    draft.clearStep('');
    let applied: AppliedUpdate;
    try {
      applied = state.compose([...left, update]);
    } catch (error) {
      return this.fail(state, error, withSettled(boundary.control, [order]));
    }
    const { codec, image: before } = boundary.parts.writer;
    const isFirst = before.state === null;
    const { maxSteps, limits } = this.#agent;
    const node = entryOf(this.#agent, this.#agent.start);
    const { lineage } = boundary.control;
    const predecessor = positionOf(before).step;
    const step = await stepIdFor(codec, { lineage, predecessor, node, path: '', input: order });
    const next = (image: ThreadImage): NextBoundary => ({
      cause: 'input',
      position: { ...positionOf(image), next: [{ node, step, path: '' }] },
      control: {
        status: 'running',
        run: { steps: 0, maxSteps, input: order, began: image.row.head },
        ...withSettled(controlOf(image, maxSteps), [order]),
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
      const after = await boundary.commit(next);
      boundary.parts.emit({ type: 'status', status: 'running', failure: null });
      return after.state === null ? state : state.after(applied, after.state);
    } catch (error) {
      // A schema can turn a good input into something that cannot be stored.
      if (!codecErrors.is(error, 'value_not_storable')) throw error;
      return this.fail(state, error, withSettled(boundary.control, [order]));
    }
  }

  /**
   * Ends the run; what was done is kept, that of lines which had not ended included. Inputs that came before the cancel are
   * lost to it, by name (PROTOCOL 6). A thread whose run has ended stays as it ended.
   */
  async cancel(
    state: ThreadState,
    cancel: OrderedItem,
    items: readonly OrderedItem[],
    tally: Tally,
  ): Promise<ThreadState> {
    const boundary = this.#boundary;
    const dropped = items.filter(({ order, item }) => order < cancel.order && item.type === 'input');
    const before = boundary.control.status;
    const isTooLate = (before === 'done' || before === 'failed') && dropped.length === 0;
    const status = isTooLate ? before : 'cancelled';
    const after = await this.#close(state, (image) => ({
      cause: 'cancelled',
      position: { ...positionOf(image), next: [] },
      control: {
        status,
        ...withSettled(controlOf(image, 0), [cancel.order, ...dropped.map(({ order }) => order)]),
        ...usedAfter(controlOf(image, 0), tally),
        ledger: ledgerHere(image),
        waits: [],
      },
      events: [
        ...dropped.map(({ order }) => boundary.event('input_dropped', { order, winner: cancel.order })),
        boundary.event('cancelled', { order: cancel.order }),
      ],
      heavy: true,
    }));
    if (!isTooLate) boundary.parts.emit({ type: 'status', status, failure: null });
    return after;
  }

  /** Ends the run because new input is to take its place. What was done is kept; the input is taken up next. */
  async interrupt(state: ThreadState, order: number, tally: Tally): Promise<ThreadState> {
    const boundary = this.#boundary;
    const after = await this.#close(state, (image) => ({
      cause: 'cancelled',
      position: { ...positionOf(image), next: [] },
      control: { status: 'cancelled', ...usedAfter(controlOf(image, 0), tally), ledger: ledgerHere(image), waits: [] },
      events: [boundary.event('interrupted', { order })],
      heavy: true,
    }));
    boundary.parts.emit({ type: 'status', status: 'cancelled', failure: null });
    return after;
  }

  /**
   * Ends the run because new input is to take its place, and takes the state back to where the run began. Effects that were
   * carried out stay on record; nothing is undone.
   */
  async rollBack(order: number, tally: Tally): Promise<ThreadState> {
    const boundary = this.#boundary;
    const { writer, ports, options } = boundary.parts;
    const { codec } = writer;
    const { travel } = await import('./travel-chunk.ts');
    const { began } = boundary.control.run;
    const target = began === null ? undefined : await travel.stateAt(codec, began);
    const after = await boundary.commitClosing(
      (image) => controlOf(image, 0).waits,
      (image) => {
        const before = controlOf(image, 0);
        const back = target && travel.returnTo(image, before.past, target, ports.random);
        const control = {
          status: 'cancelled' as const,
          ...usedAfter(before, tally),
          ledger: ledgerHere(image),
          waits: [],
          ...(back && { past: back.past, grants: back.onto.checkpoint.control.grants }),
        };
        return {
          cause: 'rolled_back',
          position: { ...positionOf(image), next: [] },
          control,
          ...(back ? { onto: back.onto } : { change: ThreadState.initialChange(options.agent, image.state) }),
          lines: noLines,
          events: [boundary.event('interrupted', { order, began })],
          heavy: true,
        };
      },
    );
    boundary.parts.emit({ type: 'status', status: 'cancelled', failure: null });
    return ThreadState.read(codec, options.agent, after.state);
  }

  /** Ends the run as failed. Without a state, lines that had not ended are left as they are. */
  async fail<State extends ThreadState | null>(
    state: State,
    error: unknown,
    control: NextCheckpoint['control'] = {},
  ): Promise<State> {
    const failure = this.#boundary.parts.writer.codec.secrets.masked(errorToData(error));
    const after = await this.#close(state, () => ({
      cause: 'failed',
      control: { ...control, status: 'failed', waits: [], failure },
      events: [this.#boundary.event('failed', { code: failure.code ?? null, message: failure.message })],
      heavy: true,
    }));
    this.#boundary.parts.emit({ type: 'status', status: 'failed', failure });
    this.#boundary.parts.emit({ type: 'alert', reason: 'failed', node: this.#boundary.position.node, error: failure });
    return after;
  }

  /** Fails the run by an error of its step; the step's failed attempts stay counted. */
  failStep(state: ThreadState, run: StepRun, error: unknown): Promise<ThreadState> {
    const { control } = this.#boundary;
    return this.fail(state, error, { retries: retriesAfter(control.retries, run), ...usedAfter(control, run.tally) });
  }

  /** A commit that ends the run: open waits are closed with it, and what its lines did goes into the state. */
  async #close<State extends ThreadState | null>(
    state: State,
    next: (image: ThreadImage) => NextCheckpoint,
  ): Promise<State> {
    const boundary = this.#boundary;
    let applied: AppliedUpdate = { set: new Map(), append: new Map() };
    const image = await boundary.commitClosing(
      (before) => controlOf(before, this.#agent.maxSteps).waits,
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

/** The updates of lines, one after the other; one that the reducers refuse must not keep the run from ending. */
function withoutRefused(state: ThreadState, updates: readonly object[]): readonly object[] {
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
