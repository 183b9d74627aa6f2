/** The commits of a runner: one at each node boundary, at a wait, and at the end of a run (A4). */
import { errorToData } from '../base/errors.ts';
import { codecErrors } from '../codec/errors.ts';
import type { OrderedItem } from '../codec/inbox-codec.ts';
import { BlobBatch } from '../codec/thread-codec.ts';
import type { ThreadImage } from '../codec/thread-image.ts';
import { readAnswer, readWait, sealAnswer } from '../codec/wait-codec.ts';
import type { RecordWrite } from '../model/commit.ts';
import type { ThreadEvent } from '../model/event.ts';
import type { Fields } from '../model/fields.ts';
import type { Frame } from '../model/frame.ts';
import type { WaitId } from '../model/ids.ts';
import type { Wait, WaitAnswer } from '../model/wait.ts';
import type { NodeResult } from '../program/node-result.ts';
import type { AppliedUpdate } from '../program/state.ts';
import { nextNode, type RunnableNode } from './agent-nodes.ts';
import { engineErrors } from './errors.ts';
import { stepIdFor } from './identity.ts';
import type { CommitPlanWorld } from './plans.ts';
import { controlOf, type NextCheckpoint, planFor, positionOf } from './plans.ts';
import type { EngineOptions, EnginePorts } from './ports.ts';
import type { StepRun } from './step-run.ts';
import { ledgerHere, traceOf } from './step-trace.ts';
import { summaryOf } from './summary.ts';
import type { ThreadState } from './thread-state.ts';
import type { ThreadWriter } from './thread-writer.ts';

export class Boundaries {
  readonly #ports: EnginePorts;
  readonly #options: EngineOptions;
  readonly #writer: ThreadWriter;
  readonly #emit: (frame: Frame) => void;
  /** 1 until the first commit after a restart or an answer. */
  #resumed: 0 | 1;

  constructor(
    ports: EnginePorts,
    options: EngineOptions,
    writer: ThreadWriter,
    emit: (frame: Frame) => void,
    isResumed: boolean,
  ) {
    this.#ports = ports;
    this.#options = options;
    this.#writer = writer;
    this.#emit = emit;
    this.#resumed = isResumed ? 1 : 0;
  }

  get #agent() {
    return this.#options.agent;
  }

  /** Tells the watchers where a resumed run goes on. */
  announce(node: string): void {
    const { state, row } = this.#writer.image;
    if (this.#resumed === 0 || state === null) return;
    this.#emit({ type: 'resumed', sequence: row.sequence, node, atMs: this.#ports.clock.nowMs() });
  }

  /** Takes up an input and schedules the first step of a run. One that does not fit the state fails the run and is kept. */
  async takeInput(state: ThreadState, order: number, update: object): Promise<ThreadState> {
    let applied: AppliedUpdate;
    try {
      applied = state.update(update);
    } catch (error) {
      await this.fail(error, { inboxTaken: order });
      return state;
    }
    const { codec, image: before } = this.#writer;
    const isFirst = before.state === null;
    const { start, maxSteps } = this.#agent;
    const { lineage } = controlOf(before, maxSteps);
    const predecessor = positionOf(before).step;
    const step = await stepIdFor(codec, { lineage, predecessor, node: start, path: '', input: order });
    const next = (image: ThreadImage): NextCheckpoint => ({
      cause: 'input',
      position: { ...positionOf(image), next: [{ node: start, step, path: '' }] },
      control: {
        status: 'running',
        run: { steps: 0, maxSteps },
        inboxTaken: order,
        ledger: ledgerHere(image),
        waits: [],
        failure: null,
      },
      change: isFirst ? state.wholeChange(applied) : { ...applied, remove: [] },
      events: [this.#event(isFirst ? 'created' : 'input_taken', { order })],
      heavy: false,
    });
    try {
      const after = await this.#commit(next);
      this.#emit({ type: 'status', status: 'running', failure: null });
      return after.state === null ? state : state.after(applied, after.state);
    } catch (error) {
      // A schema can turn a good input into something that cannot be stored.
      if (!codecErrors.is(error, 'value_not_storable')) throw error;
      await this.fail(error, { inboxTaken: order });
      return state;
    }
  }

  /** @throws what the node's update or its edge does wrong, before anything is committed. */
  async step(
    node: RunnableNode,
    run: StepRun,
    state: ThreadState,
    result: NodeResult<Fields, string>,
    stepMs: number,
  ): Promise<ThreadState> {
    const applied = state.update(result.update);
    const next = nextNode(this.#agent, node.name, result, state.preview(applied));
    const { step } = run.scheduled;
    const before = controlOf(this.#writer.image, this.#agent.maxSteps);
    const position = positionOf(this.#writer.image);
    const visits = { ...position.visits, [node.name]: (position.visits[node.name] ?? 0) + 1 };
    const scheduled = next === null ? [] : [{ node: next, step: await this.#stepAfter(step, next), path: '' }];
    const { inputTokens, outputTokens, grants } = run.tally;
    const after = await this.#commitClosing((image) => ({
      cause: 'step',
      position: { node: node.name, step, next: scheduled, visits },
      control: {
        status: next === null ? 'done' : 'running',
        run: { ...before.run, steps: before.run.steps + 1 },
        ledger: ledgerHere(image, run),
        waits: [],
        grants: [...grants],
        usage: {
          inputTokens: before.usage.inputTokens + inputTokens,
          outputTokens: before.usage.outputTokens + outputTokens,
        },
        retries: retriesAfter(before.retries, run),
        branches: next === null ? before.branches : { ...before.branches, [node.name]: next },
      },
      change: { ...applied, remove: [] },
      events: [this.#event('step', { node: node.name, next, stepMs, ...traceOf(run) })],
      heavy: node.critical || next === null,
      stepMs,
      stepTokens: inputTokens + outputTokens,
    }));
    if (next === null) this.#emit({ type: 'status', status: 'done', failure: null });
    return after.state === null ? state : state.after(applied, after.state);
  }

  async openWaits(node: string, waits: readonly Wait[], records: readonly RecordWrite[]): Promise<void> {
    await this.#commit((image) => ({
      cause: 'wait',
      control: {
        status: 'waiting',
        waits: [...controlOf(image, this.#agent.maxSteps).waits, ...waits.map(({ id }) => id)],
      },
      events: [this.#event('waiting', { node, waits: waits.length, ids: waits.map(({ id }) => id).join(' ') })],
      records,
      wakeUpAtMs: earliest([image.row.wakeUpAtMs, ...waits.map(({ expiresAtMs }) => expiresAtMs)]),
      heavy: true,
    }));
    for (const wait of waits) this.#emit({ type: 'wait', wait });
    this.#emit({ type: 'status', status: 'waiting', failure: null });
  }

  /** Answers a wait that a grant covers. Whoever answered in between has won. */
  allow(wait: Pick<Wait, 'id' | 'digest'>): Promise<void> {
    return this.#answer(wait, { decision: 'allow' });
  }

  async #answer(wait: Pick<Wait, 'id' | 'digest'>, answer: WaitAnswer): Promise<void> {
    const nowMs = this.#ports.clock.nowMs();
    const record = await sealAnswer(this.#writer.codec, wait, answer, nowMs, new BlobBatch());
    await this.#writer.evidence([record], [{ kind: 'wait_open', wait: wait.id }], 'strict');
    this.#emit({ type: 'answered', wait: wait.id });
  }

  /** Answers the waits whose time is over. Whoever answered in between has won. */
  async expireWaits(): Promise<void> {
    const nowMs = this.#ports.clock.nowMs();
    const { wakeUpAtMs } = this.#writer.image.row;
    if (wakeUpAtMs === null || wakeUpAtMs > nowMs) return;
    for (const wait of await this.#unanswered()) {
      const isOver = wait.expiresAtMs !== null && wait.expiresAtMs <= nowMs;
      if (isOver) await this.#answer(wait, { decision: 'expired' });
    }
    // Else the host would be woken again and again by a time that has passed. Others may have been opened meanwhile.
    await this.#writer.wakeUp(async () => earliest((await this.#unanswered()).map(({ expiresAtMs }) => expiresAtMs)));
  }

  /**
   * Ends the run; what was done is kept. Inputs that came before the cancel are lost to it, by name. A thread whose run has
   * ended stays as it ended.
   */
  async cancel(cancel: OrderedItem, items: readonly OrderedItem[]): Promise<void> {
    const dropped = items.filter(({ order, item }) => order < cancel.order && item.type === 'input');
    const before = controlOf(this.#writer.image, this.#agent.maxSteps).status;
    const isTooLate = (before === 'done' || before === 'failed') && dropped.length === 0;
    const status = isTooLate ? before : 'cancelled';
    await this.#commitClosing((image) => ({
      cause: 'cancelled',
      position: { ...positionOf(image), next: [] },
      control: { status, inboxTaken: cancel.order, ledger: ledgerHere(image), waits: [] },
      events: [
        ...dropped.map(({ order }) => this.#event('input_dropped', { order, winner: cancel.order })),
        this.#event('cancelled', { order: cancel.order }),
      ],
      heavy: true,
    }));
    if (!isTooLate) this.#emit({ type: 'status', status, failure: null });
  }

  async fail(error: unknown, control: NextCheckpoint['control'] = {}): Promise<void> {
    const failure = this.#writer.codec.secrets.masked(errorToData(error));
    await this.#commitClosing(() => ({
      cause: 'failed',
      control: { ...control, status: 'failed', waits: [], failure },
      events: [this.#event('failed', { code: failure.code ?? null, message: failure.message })],
      heavy: true,
    }));
    this.#emit({ type: 'status', status: 'failed', failure });
  }

  /** Fails the run by an error of its step; the step's failed attempts stay counted. */
  async failStep(run: StepRun, error: unknown): Promise<void> {
    const { retries } = controlOf(this.#writer.image, this.#agent.maxSteps);
    await this.fail(error, { retries: retriesAfter(retries, run) });
  }

  /**
   * A commit after which nobody waits any more: waits that are still open are closed with it. An answer that comes in
   * between is not overwritten: then the open waits are looked up again.
   */
  async #commitClosing(next: (image: ThreadImage) => NextCheckpoint): Promise<ThreadImage> {
    for (;;) {
      try {
        const records = await this.#cancelledAnswers();
        return await this.#commit((image) => ({ ...next(image), records }));
      } catch (error) {
        if (!engineErrors.is(error, 'wait_closed')) throw error;
      }
    }
  }

  async #cancelledAnswers(): Promise<readonly RecordWrite[]> {
    const nowMs = this.#ports.clock.nowMs();
    const open = await this.#unanswered();
    return Promise.all(
      open.map((wait) => sealAnswer(this.#writer.codec, wait, { decision: 'cancelled' }, nowMs, new BlobBatch())),
    );
  }

  async #unanswered(): Promise<readonly Wait[]> {
    const { codec, image } = this.#writer;
    const look = async (id: WaitId) => ((await readAnswer(codec, id)) === undefined ? readWait(codec, id) : undefined);
    const waits = await Promise.all(controlOf(image, this.#agent.maxSteps).waits.map(look));
    return waits.filter((wait) => wait !== undefined);
  }

  #stepAfter(predecessor: StepRun['scheduled']['step'], node: string) {
    const { codec, image } = this.#writer;
    const { lineage, inboxTaken } = controlOf(image, this.#agent.maxSteps);
    return stepIdFor(codec, { lineage, predecessor, node, path: '', input: inboxTaken });
  }

  async #commit(next: (image: ThreadImage) => NextCheckpoint): Promise<ThreadImage> {
    const { clock, random } = this.#ports;
    const startedAtMs = clock.nowMs();
    let stepMs = 0;
    const image = await this.#writer.checkpoint((before) => {
      const made = next(before);
      stepMs = made.stepMs ?? 0;
      const node = positionOf(before).next[0]?.node ?? null;
      const resumed = this.#resumed === 0 ? [] : [this.#event('resumed', { node })];
      const world: CommitPlanWorld = { options: this.#options, random, nowMs: startedAtMs, resumes: this.#resumed };
      // Who it was, and the entries of the ledger up to here: the event log gives them to their step by this.
      const trace = { run: before.row.epoch.local, ledger: before.row.ledger };
      const events = [...resumed, ...made.events].map((event) => ({
        ...event,
        details: { ...event.details, ...trace },
      }));
      return planFor(before, { ...made, events }, world);
    });
    this.#resumed = 0;
    if (image.state !== null) {
      const step = { ...summaryOf(image.state.checkpoint), stepMs, commitMs: clock.nowMs() - startedAtMs };
      this.#emit({ type: 'step', step });
    }
    return image;
  }

  #event(type: ThreadEvent['type'], details: ThreadEvent['details']): ThreadEvent {
    return { type, atMs: this.#ports.clock.nowMs(), details };
  }
}

function retriesAfter(counts: Readonly<Record<string, number>>, { ledger, scheduled: { node } }: StepRun) {
  const failures = ledger.nodeFailures.length;
  return failures === 0 ? counts : { ...counts, [node]: (counts[node] ?? 0) + failures };
}

function earliest(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known);
}
