/** One commit of a runner (A4): what is common to all of them. */

import type { OrderedItem } from '../codec/inbox-codec.ts';
import type { ThreadImage } from '../codec/thread-image.ts';
import { allWaits, readAnswer, readWait } from '../codec/wait-codec.ts';
import type { OtherThread } from '../model/commit.ts';
import type { ThreadEvent } from '../model/event.ts';
import type { Frame } from '../model/frame.ts';
import type { StepId, WaitId } from '../model/ids.ts';
import { holdsNothing, type Settled, withSettled } from '../model/inbox.ts';
import { type Lines, noLines } from '../model/lines.ts';
import { endStatuses } from '../model/records.ts';
import type { Wait } from '../model/wait.ts';
import { closedWaits } from './closed-waits.ts';
import { controlOf, positionOf } from './control-of.ts';
import { engineErrors } from './errors.ts';
import { timeLeft } from './limits.ts';
import { readLines } from './line-draft.ts';
import { onDemand } from './load-on-demand.ts';
import { type CommitPlanWorld, elapsedMs, type NextCheckpoint, planFor } from './plans.ts';
import type { EngineOptions, RunPorts } from './ports.ts';
import { summaryOf } from './summary.ts';
import type { ThreadWriter } from './thread-writer.ts';

/** A checkpoint to be, and the lines of the run once it is applied. */
export interface NextBoundary extends NextCheckpoint {
  /** The step that this ends, of whatever line, or that another one takes the place of. */
  readonly left?: StepId;
  readonly lines?: Lines;
  /** For a run that is done: the state it ends with. */
  readonly endState?: Readonly<Record<string, unknown>>;
}

export type MakeBoundary = (image: ThreadImage) => NextBoundary | Promise<NextBoundary>;

export interface BoundaryParts {
  readonly ports: RunPorts;
  readonly options: EngineOptions;
  readonly writer: ThreadWriter;
  readonly emit: (frame: Frame) => void;
  /** Aborted where the host asks the run to stop: code of the agent that is awaited between its steps may never end. */
  readonly stopped: AbortSignal;
}

export class Boundary {
  readonly parts: BoundaryParts;
  /** Who tells children that nobody waits for them any more, before that is committed: else a crash would leave them running. */
  teller: { leaveChildren(waits: readonly Wait[]): Promise<void> } | undefined;
  #lines: Lines = noLines;
  /** Orders of inbox items that ask for something and were not settled when the inbox was last read; the newest of all. */
  #asking: readonly number[] = [];
  #newest = 0;
  /** 1 until the first commit after a restart or an answer. */
  #resumed: 0 | 1;

  private constructor(parts: BoundaryParts, isResumed: boolean) {
    this.parts = parts;
    this.#resumed = isResumed ? 1 : 0;
  }

  static async open(parts: BoundaryParts, isResumed: boolean): Promise<Boundary> {
    const boundary = new Boundary(parts, isResumed);
    const { state } = parts.writer.image;
    if (state !== null) boundary.#lines = await readLines(parts.writer.codec, state.fields);
    return boundary;
  }

  /** The lines after the last applied commit. */
  get lines(): Lines {
    return this.#lines;
  }

  get image(): ThreadImage {
    return this.parts.writer.image;
  }

  get control() {
    return controlOf(this.image, this.parts.options.agent.maxSteps);
  }

  get position() {
    return positionOf(this.image);
  }

  /** What the commit that ends a child tells the thread that waits for it. */
  async #answerToParent({ control, endState }: NextBoundary): Promise<OtherThread | undefined> {
    const { ports, writer, options } = this.parts;
    const { parent } = writer.codec;
    const { status } = control;
    if (parent === null || (status !== 'done' && status !== 'failed' && status !== 'cancelled')) return undefined;
    const { answerToParent, childState } = await onDemand();
    const state = childState(options.agent, endState);
    const usage = control.usage ?? this.control.usage;
    return answerToParent(ports, parent, { status, state, failure: control.failure ?? null, usage });
  }

  /** How long the run has taken by now. */
  elapsedMs(): number {
    return elapsedMs(this.control, this.parts.ports.time.nowMs());
  }

  /** When the run or one of its steps must be over, by the wall clock; `null` for never. */
  deadlineAtMs(): number | null {
    return this.#deadlineAfter(this.image, { control: {} });
  }

  #deadlineAfter(image: ThreadImage, made: Pick<NextBoundary, 'control' | 'position' | 'lines' | 'beginsRun'>) {
    const { ports, options } = this.parts;
    const control = { ...controlOf(image, 0), ...made.control };
    if (control.status !== 'waiting') return null; // while it runs, its steps see to it
    const elapsed = made.beginsRun ? 0 : this.elapsedMs();
    const position = made.position ?? positionOf(image);
    const leftMs = timeLeft(options.agent, control, position, made.lines ?? this.#lines, elapsed);
    return leftMs === Infinity ? null : ports.clock.nowMs() + Math.max(0, leftMs);
  }

  /** What the inbox held when it was last read, of that which is not settled. */
  sawInbox(items: readonly OrderedItem[]): void {
    this.#asking = items.filter(({ item }) => item.type !== 'event').map(({ order }) => order);
    this.#newest = Math.max(this.#newest, ...items.map(({ order }) => order));
  }

  /** Inbox items up to this order give nothing to do, once `settled` is. */
  inboxSeen({ inboxTaken, consumed }: Settled): number {
    const left = this.#asking.filter((order) => order > inboxTaken && !consumed.includes(order));
    // What is settled out of its turn was read, and what came before it as well.
    return left.length === 0 ? Math.max(this.#newest, inboxTaken, ...consumed) : Math.min(...left) - 1;
  }

  /** Tells the watchers where a resumed run goes on. */
  announce(node: string): void {
    const { state, row } = this.image;
    if (this.#resumed === 0 || state === null) return;
    this.parts.emit({ type: 'resumed', sequence: row.sequence, node, atMs: this.parts.ports.clock.nowMs() });
  }

  async commit(make: MakeBoundary): Promise<ThreadImage> {
    const { clock, random, time } = this.parts.ports;
    const startedAtMs = clock.nowMs();
    let made: NextBoundary | undefined;
    const image = await this.parts.writer.checkpoint(
      async (before) => {
        made = await make(before);
        const node = positionOf(before).next[0]?.node ?? null;
        const resumed = this.#resumed === 0 ? [] : [this.event('resumed', { node })];
        const believedMs = time.nowMs();
        const world: CommitPlanWorld = {
          options: this.parts.options,
          random,
          nowMs: clock.nowMs(),
          believedMs,
          inboxSeen: this.inboxSeen({ ...this.control, ...made.control }),
          resumes: this.#resumed,
          isForked: this.#lines.forks.size > 0 || (made.lines?.forks.size ?? 0) > 0,
        };
        const also = await this.#answerToParent(made);
        const wakeUpAtMs = earliest([made.wakeUpAtMs ?? null, this.#deadlineAfter(before, made)]);
        // Who it was, and the entries of the ledger up to here: the event log gives them to their step by this.
        const trace = { run: before.row.epoch.local, ledger: before.row.ledger };
        const events = [...resumed, ...made.events].map((event) => ({
          ...event,
          details: { ...event.details, ...trace },
        }));
        return planFor(before, { ...made, wakeUpAtMs, events, ...(also && { also }) }, world);
      },
      () => {
        this.#resumed = 0;
        this.#lines = made?.lines ?? this.#lines;
      },
    );
    const { parent } = this.parts.writer.codec;
    if (parent !== null && endStatuses.includes(image.row.status)) this.parts.options.onNews?.(parent.thread);
    if (image.state !== null) {
      const step = {
        ...summaryOf(image.state.checkpoint),
        stepMs: made?.stepMs ?? 0,
        commitMs: clock.nowMs() - startedAtMs,
      };
      this.parts.emit({ type: 'step', step, ...(made?.left !== undefined && { left: made.left }) });
    }
    return image;
  }

  /**
   * A commit after which nobody waits for these any more: those that are still open are closed with it. An answer that comes
   * in between is not overwritten: then the open waits are looked up again. Events that answered them are used up, since an
   * event goes to one wait (PROTOCOL 6); they are `free` where the same step runs once more and makes all its calls again.
   */
  async commitClosing(
    waits: (image: ThreadImage) => readonly WaitId[],
    make: MakeBoundary,
    events: 'used_up' | 'free' = 'used_up',
  ): Promise<ThreadImage> {
    for (;;) {
      try {
        const nowMs = this.parts.ports.clock.nowMs();
        const known = waits(this.image);
        const { records, taken, children } = await closedWaits(this.parts.writer.codec, known, nowMs);
        if (children.length > 0) await this.teller?.leaveChildren(children);
        return await this.commit(async (image) => {
          const fresh = waits(image).find((id) => !known.includes(id));
          if (fresh !== undefined) throw engineErrors.make('wait_closed', { wait: fresh, winner: 'opened meanwhile' });
          const made = await make(image);
          const settled = withSettled({ ...controlOf(image, 0), ...made.control }, events === 'free' ? [] : taken);
          return {
            ...made,
            control: { ...made.control, ...settled },
            records: [...(made.records ?? []), ...records],
          };
        });
      } catch (error) {
        if (!engineErrors.is(error, 'wait_closed')) throw error;
      }
    }
  }

  /**
   * Waits that are to be closed with the step that stands, besides its own: what it, or one before it, had asked before a repair and
   * does not ask any more. None while other steps may still come to theirs.
   */
  async waitsLeft(endsRun: boolean): Promise<readonly WaitId[]> {
    const { inboxReplay } = this.control;
    if (inboxReplay === null || !holdsNothing(inboxReplay)) return [];
    if (!endsRun && this.#lines.forks.size > 0) return [];
    return allWaits(this.parts.writer.codec);
  }

  /** Those of these waits that have no answer. */
  async unanswered(ids: readonly WaitId[]): Promise<readonly Wait[]> {
    const { codec } = this.parts.writer;
    const look = async (id: WaitId) => ((await readAnswer(codec, id)) === undefined ? readWait(codec, id) : undefined);
    return (await Promise.all(ids.map(look))).filter((wait) => wait !== undefined);
  }

  event(type: ThreadEvent['type'], details: ThreadEvent['details']): ThreadEvent {
    return { type, atMs: this.parts.ports.clock.nowMs(), details };
  }
}

export function earliest(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known);
}
