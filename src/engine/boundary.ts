/** One commit of a runner (A4): what is common to all of them. */

import { BlobBatch } from '../codec/thread-codec.ts';
import type { ThreadImage } from '../codec/thread-image.ts';
import { readAnswer, readWait, sealAnswer } from '../codec/wait-codec.ts';
import type { RecordWrite } from '../model/commit.ts';
import type { ThreadEvent } from '../model/event.ts';
import type { Frame } from '../model/frame.ts';
import type { WaitId } from '../model/ids.ts';
import { type Lines, noLines } from '../model/lines.ts';
import type { Wait } from '../model/wait.ts';
import { engineErrors } from './errors.ts';
import { readLines } from './line-draft.ts';
import { type CommitPlanWorld, controlOf, type NextCheckpoint, planFor, positionOf } from './plans.ts';
import type { EngineOptions, EnginePorts } from './ports.ts';
import { summaryOf } from './summary.ts';
import type { ThreadWriter } from './thread-writer.ts';

/** A checkpoint to be, and the lines of the run once it is applied. */
export interface NextBoundary extends NextCheckpoint {
  readonly lines?: Lines;
}

export type MakeBoundary = (image: ThreadImage) => NextBoundary | Promise<NextBoundary>;

export interface BoundaryParts {
  readonly ports: EnginePorts;
  readonly options: EngineOptions;
  readonly writer: ThreadWriter;
  readonly emit: (frame: Frame) => void;
}

export class Boundary {
  readonly parts: BoundaryParts;
  #lines: Lines = noLines;
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

  /** Tells the watchers where a resumed run goes on. */
  announce(node: string): void {
    const { state, row } = this.image;
    if (this.#resumed === 0 || state === null) return;
    this.parts.emit({ type: 'resumed', sequence: row.sequence, node, atMs: this.parts.ports.clock.nowMs() });
  }

  async commit(make: MakeBoundary): Promise<ThreadImage> {
    const { clock, random } = this.parts.ports;
    const startedAtMs = clock.nowMs();
    let made: NextBoundary | undefined;
    const image = await this.parts.writer.checkpoint(
      async (before) => {
        made = await make(before);
        const node = positionOf(before).next[0]?.node ?? null;
        const resumed = this.#resumed === 0 ? [] : [this.event('resumed', { node })];
        const nowMs = clock.nowMs();
        const world: CommitPlanWorld = { options: this.parts.options, random, nowMs, resumes: this.#resumed };
        return planFor(before, { ...made, events: [...resumed, ...made.events] }, world);
      },
      () => {
        this.#resumed = 0;
        this.#lines = made?.lines ?? this.#lines;
      },
    );
    if (image.state !== null) {
      const step = {
        ...summaryOf(image.state.checkpoint),
        stepMs: made?.stepMs ?? 0,
        commitMs: clock.nowMs() - startedAtMs,
      };
      this.parts.emit({ type: 'step', step });
    }
    return image;
  }

  /**
   * A commit after which nobody waits for these any more: those that are still open are closed with it. An answer that comes
   * in between is not overwritten: then the open waits are looked up again.
   */
  async commitClosing(waits: (image: ThreadImage) => readonly WaitId[], make: MakeBoundary): Promise<ThreadImage> {
    for (;;) {
      try {
        const records = await this.#cancelledAnswers(waits(this.image));
        return await this.commit(async (image) => {
          const made = await make(image);
          return { ...made, records: [...(made.records ?? []), ...records] };
        });
      } catch (error) {
        if (!engineErrors.is(error, 'wait_closed')) throw error;
      }
    }
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

  async #cancelledAnswers(ids: readonly WaitId[]): Promise<readonly RecordWrite[]> {
    const nowMs = this.parts.ports.clock.nowMs();
    const { codec } = this.parts.writer;
    const open = await this.unanswered(ids);
    return Promise.all(open.map((wait) => sealAnswer(codec, wait, { decision: 'cancelled' }, nowMs, new BlobBatch())));
  }
}

/** The ledger as the next step finds it: its own entries come after this count. */
export function ledgerHere({ row, control }: ThreadImage) {
  return { count: row.ledger, digest: control.ledgerDigest, from: row.ledger };
}
