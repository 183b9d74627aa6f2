/** Commits around waits: opening them, and answering those that no person answers. */
import type { OrderedItem } from '../codec/inbox-codec.ts';
import { BlobBatch } from '../codec/thread-codec.ts';
import { readAnswer, readWait, sealAnswer } from '../codec/wait-codec.ts';
import type { Control } from '../model/checkpoint.ts';
import type { Condition, RecordWrite } from '../model/commit.ts';
import type { WaitId } from '../model/ids.ts';
import type { Wait, WaitAnswer } from '../model/wait.ts';
import { type Boundary, earliest, type NextBoundary } from './boundary.ts';
import { controlOf } from './control-of.ts';
import type { Deliveries } from './deliveries.ts';
import { LineDraft } from './line-draft.ts';
import { statusOf } from './line-status.ts';
import { onDemand } from './load-on-demand.ts';

/** What is looked at again when it turns out that the clock cannot be believed. */
const lookAgainMs = 60_000;

export class WaitBoundaries {
  readonly #boundary: Boundary;
  /** Open waits that the engine itself answers: for an event, or the network. Read from the store once. */
  #answerable: Map<WaitId, Wait> | undefined;
  #reading: Promise<Map<WaitId, Wait>> | undefined;
  /** Inbox items that were given to a wait, by their orders. */
  readonly #given = new Map<number, WaitId>();
  #made: Deliveries | undefined;

  constructor(boundary: Boundary) {
    this.#boundary = boundary;
  }

  /** Nobody waits for these children any more. */
  async leaveChildren(waits: readonly Wait[]): Promise<void> {
    await (await this.#deliveries()).cancel(waits);
  }

  /** Opens the waits of one line's step, with a full snapshot. */
  async open(
    node: string,
    path: string,
    waits: readonly Wait[],
    records: readonly RecordWrite[],
    also?: (draft: LineDraft, before: Control) => Pick<NextBoundary, 'control' | 'events'>,
  ): Promise<void> {
    const boundary = this.#boundary;
    const { options } = boundary.parts;
    const ids = waits.map(({ id }) => id);
    const image = await boundary.commit((before) => {
      const draft = new LineDraft(boundary.lines);
      const more = also?.(draft, controlOf(before, options.agent.maxSteps));
      const line = draft.lines.lines.get(path);
      if (line !== undefined) draft.putLine({ ...line, waits: [...line.waits, ...ids] });
      return {
        cause: 'wait',
        control: {
          ...more?.control,
          status: statusOf(draft.lines, path === ''),
          waits: [...controlOf(before, options.agent.maxSteps).waits, ...ids],
        },
        change: { set: draft.set, append: new Map(), remove: [] },
        lines: draft.lines,
        events: [...(more?.events ?? []), boundary.event('waiting', { node, waits: waits.length, ids: ids.join(' ') })],
        records,
        wakeUpAtMs: earliest([before.row.wakeUpAtMs, ...waits.map(({ expiresAtMs }) => expiresAtMs)]),
        heavy: true,
      };
    });
    this.opened(waits);
    boundary.parts.emit({ type: 'status', status: image.row.status, failure: null });
    const children = waits.filter(({ kind }) => kind === 'child');
    if (children.length > 0) await (await this.#deliveries()).start(children);
  }

  async #deliveries(): Promise<Deliveries> {
    const parts = await onDemand();
    this.#made ??= new parts.Deliveries(this.#boundary, this.#given, (wait, answer) => this.answer(wait, answer));
    return this.#made;
  }

  /** Shows waits once they are stored (PROTOCOL 6), and keeps in mind those that the engine answers. */
  opened(waits: readonly Wait[]): void {
    for (const wait of waits) {
      if (isAnswerable(wait)) this.#answerable?.set(wait.id, wait);
      this.#boundary.parts.emit({ type: 'wait', wait });
    }
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

  /** Answers a wait for the engine, and says whether that stands: whoever answered in between has won. */
  async answer(wait: Pick<Wait, 'id' | 'digest'>, answer: WaitAnswer): Promise<boolean> {
    const { ports, writer, emit } = this.#boundary.parts;
    const record = await sealAnswer(writer.codec, wait, answer, ports.clock.nowMs(), new BlobBatch());
    // An event goes to one wait: a runner that lost its lease must not give it to another.
    const epoch: Condition[] = answer.decision === 'arrived' ? [{ kind: 'epoch', is: writer.image.row.epoch }] : [];
    const conditions: readonly Condition[] = [{ kind: 'wait_open', wait: wait.id }, ...epoch];
    const { status } = await writer.evidence([record], conditions);
    emit({ type: 'answered', wait: wait.id });
    return status === 'applied';
  }

  /** Answers the waits for which what they wait for has come: the network, an event in the inbox, the end of a child. */
  async deliver(items: readonly OrderedItem[]): Promise<void> {
    if (this.#boundary.control.waits.length === 0) return;
    const answerable = this.#answerable ?? (await this.#readOnce());
    const isOffline = this.#boundary.parts.ports.network?.isOnline() === false;
    for (const wait of [...answerable.values()]) {
      if (wait.kind !== 'network') await (await this.#deliveries()).deliver(wait, answerable, items);
      else if (!isOffline && answerable.delete(wait.id)) await this.answer(wait, { decision: 'online' });
    }
  }

  /** Once for all who ask at the same time. */
  #readOnce(): Promise<Map<WaitId, Wait>> {
    this.#reading ??= this.#readAnswerable().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Waits that are opened meanwhile are read, too. */
  async #readAnswerable(): Promise<Map<WaitId, Wait>> {
    const { codec } = this.#boundary.parts.writer;
    const open = new Map<WaitId, Wait>();
    const read = new Set<WaitId>();
    for (;;) {
      const id = this.#boundary.control.waits.find((one) => !read.has(one));
      if (id === undefined) break;
      read.add(id);
      const found = await readAnswer(codec, id);
      if (found?.answer.decision === 'arrived') this.#given.set(found.answer.order, id);
      const wait = found === undefined ? await readWait(codec, id) : undefined;
      if (wait !== undefined && isAnswerable(wait)) open.set(id, wait);
    }
    this.#answerable = open;
    return open;
  }

  async #deliverLate(wait: Wait): Promise<boolean> {
    const answerable = this.#answerable ?? (await this.#readOnce()); // tells what was given before this runner came
    return (await this.#deliveries()).deliverLate(wait, answerable);
  }

  /** Answers the waits whose time is over. */
  async expire(): Promise<void> {
    const boundary = this.#boundary;
    const { writer, ports } = boundary.parts;
    const nowMs = ports.clock.nowMs();
    const believedMs = ports.time.nowMs();
    const { wakeUpAtMs } = boundary.image.row;
    if (wakeUpAtMs === null || wakeUpAtMs > nowMs) return;
    for (const wait of await boundary.unanswered(boundary.control.waits)) {
      const isOver = wait.expiresAtMs !== null && wait.expiresAtMs <= believedMs;
      // What arrived in time comes before the end of that time (PROTOCOL 8), also where nobody looked until now.
      if (!isOver || (wait.kind === 'event' && (await this.#deliverLate(wait)))) continue;
      await this.answer(wait, { decision: wait.kind === 'timer' ? 'elapsed' : 'expired' });
    }
    // Else the host would be woken again and again by a time that has passed. Others may have been opened meanwhile.
    await writer.touch(async () => {
      const open = await boundary.unanswered(boundary.control.waits);
      const next = earliest([...open.map(({ expiresAtMs }) => expiresAtMs), boundary.deadlineAtMs()]);
      return { wakeUpAtMs: next === null || next > nowMs ? next : nowMs + lookAgainMs };
    });
  }
}

/** Waits that the engine sees to itself. */
function isAnswerable({ kind }: Wait): boolean {
  return kind === 'event' || kind === 'network' || kind === 'child';
}
