/** Commits around waits: opening them, and answering those that no person answers. */
import { BlobBatch } from '../codec/thread-codec.ts';
import { sealAnswer } from '../codec/wait-codec.ts';
import type { RecordWrite } from '../model/commit.ts';
import type { Wait, WaitAnswer } from '../model/wait.ts';
import type { Boundary } from './boundary.ts';
import { LineDraft } from './line-draft.ts';
import { statusOf } from './line-status.ts';
import { controlOf } from './plans.ts';

export class WaitBoundaries {
  readonly #boundary: Boundary;

  constructor(boundary: Boundary) {
    this.#boundary = boundary;
  }

  /** Opens the waits of one line's step, with a full snapshot. */
  async open(node: string, path: string, waits: readonly Wait[], records: readonly RecordWrite[]): Promise<void> {
    const boundary = this.#boundary;
    const { emit, options } = boundary.parts;
    const ids = waits.map(({ id }) => id);
    const image = await boundary.commit((before) => {
      const draft = new LineDraft(boundary.lines);
      const line = draft.lines.lines.get(path);
      if (line !== undefined) draft.putLine({ ...line, waits: [...line.waits, ...ids] });
      return {
        cause: 'wait',
        control: {
          status: statusOf(draft.lines, path === ''),
          waits: [...controlOf(before, options.agent.maxSteps).waits, ...ids],
        },
        change: { set: draft.set, append: new Map(), remove: [] },
        lines: draft.lines,
        events: [boundary.event('waiting', { node, waits: waits.length })],
        records,
        wakeUpAtMs: earliest([before.row.wakeUpAtMs, ...waits.map(({ expiresAtMs }) => expiresAtMs)]),
        heavy: true,
      };
    });
    for (const wait of waits) emit({ type: 'wait', wait });
    emit({ type: 'status', status: image.row.status, failure: null });
  }

  /** All lines of a run stand, and its row still says that it runs. */
  async rest(): Promise<void> {
    const boundary = this.#boundary;
    await boundary.commit((before) => ({
      cause: 'wait',
      control: { status: 'waiting' },
      events: [],
      wakeUpAtMs: before.row.wakeUpAtMs,
      heavy: false,
    }));
    boundary.parts.emit({ type: 'status', status: 'waiting', failure: null });
  }

  /** Answers a wait for the engine. Whoever answered in between has won. */
  async answer(wait: Pick<Wait, 'id' | 'digest'>, answer: WaitAnswer): Promise<void> {
    const { ports, writer, emit } = this.#boundary.parts;
    const record = await sealAnswer(writer.codec, wait, answer, ports.clock.nowMs(), new BlobBatch());
    await writer.evidence([record], [{ kind: 'wait_open', wait: wait.id }], 'strict');
    emit({ type: 'answered', wait: wait.id });
  }

  /** Answers the waits whose time is over. */
  async expire(): Promise<void> {
    const boundary = this.#boundary;
    const { writer, ports } = boundary.parts;
    const nowMs = ports.clock.nowMs();
    const { wakeUpAtMs } = boundary.image.row;
    if (wakeUpAtMs === null || wakeUpAtMs > nowMs) return;
    for (const wait of await boundary.unanswered(boundary.control.waits)) {
      const isOver = wait.expiresAtMs !== null && wait.expiresAtMs <= nowMs;
      if (isOver) await this.answer(wait, { decision: 'expired' });
    }
    // Else the host would be woken again and again by a time that has passed. Others may have been opened meanwhile.
    await writer.wakeUp(async () =>
      earliest((await boundary.unanswered(boundary.control.waits)).map(({ expiresAtMs }) => expiresAtMs)),
    );
  }
}

export function earliest(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known);
}
