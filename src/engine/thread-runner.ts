/**
 * Runs a thread from its lease to the point where it has nothing to do. Invariants:
 *
 * - Order of taking over (PROTOCOL 5): lease, strictly; then the head; then act.
 * - I7: everything it knows comes from committed records, so any prefix of them is enough to go on from.
 * - Errors that a newer version, a key or a healthy store would cure leave the thread as it is (`blocked`); only what would
 *   fail again on every run is committed as `failed`.
 */
import { errorToData } from '../base/errors.ts';
import { firstOrder, readInbox } from '../codec/inbox-codec.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { openThreadImage, type ThreadImage } from '../codec/thread-image.ts';
import { readAnswer } from '../codec/wait-codec.ts';
import type { Control } from '../model/checkpoint.ts';
import type { Frame } from '../model/frame.ts';
import type { ThreadRow } from '../model/records.ts';
import { programErrors } from '../program/errors.ts';
import { nodeOf, type RunnableNode } from './agent-nodes.ts';
import { Boundaries } from './boundaries.ts';
import { engineErrors } from './errors.ts';
import { recordNodeFailure } from './ledger-writes.ts';
import { controlOf, positionOf } from './plans.ts';
import type { EngineOptions, EnginePorts } from './ports.ts';
import { isBlocking, isCancel, isFinal, type RunEnd, restEnd, Stop } from './run-end.ts';
import type { StepRun } from './step-run.ts';
import { type RunningStep, startStep } from './step-runner.ts';
import { ThreadState } from './thread-state.ts';
import { ThreadWriter } from './thread-writer.ts';

const defaultMaxResumes = 8;

interface Leased {
  readonly writer: ThreadWriter;
  readonly boundaries: Boundaries;
}

export class ThreadRunner {
  readonly #ports: EnginePorts;
  readonly #options: EngineOptions;
  readonly #codec: ThreadCodec;
  readonly #emit: (frame: Frame) => void;
  #abort = new AbortController();
  #isStopping = false;
  #writer: ThreadWriter | undefined;
  #boundaries: Boundaries | undefined;
  #step: RunningStep | undefined;

  constructor(ports: EnginePorts, options: EngineOptions, codec: ThreadCodec, emit: (frame: Frame) => void) {
    this.#ports = ports;
    this.#options = options;
    this.#codec = codec;
    this.#emit = emit;
  }

  /** The end of a run that cannot go on as things are. */
  static blocked(error: unknown, emit: (frame: Frame) => void): RunEnd {
    const data = errorToData(error);
    emit({ type: 'blocked', error: data });
    return { end: 'blocked', error: data };
  }

  /** Looks at once for what came from outside: a cancel, answers to waits, and the end of their time. */
  async look(): Promise<void> {
    const writer = this.#writer;
    if (writer === undefined) return;
    const abort = this.#abort; // taken first: a cancel that is carried out meanwhile must not end the run after it
    const items = await readInbox(this.#codec, controlOf(writer.image, 0).inboxTaken);
    if (items.some(({ item }) => item.type === 'cancel')) abort.abort(new Stop('cancelled'));
    await this.#boundaries?.expireWaits();
    await this.#step?.run.waits.look();
  }

  /** Stops at the next possible point; nothing is committed that was not. */
  stop(): void {
    this.#isStopping = true;
    this.#abort.abort(new Stop('stopped'));
  }

  /** Takes the lease and runs until there is nothing to do. Never rejects. */
  async run(): Promise<RunEnd> {
    let row: ThreadRow | undefined;
    try {
      row = await this.#ports.store.takeLease(this.#codec.thread, this.#codec.incarnation);
      return row === undefined ? { end: 'lost' } : await this.#runLeased(row);
    } catch (error) {
      if (error instanceof Stop) {
        await this.#wantsMore();
        return { end: 'stopped' };
      }
      if (engineErrors.is(error, 'lease_lost')) return { end: 'lost' };
      return ThreadRunner.blocked(error, this.#emit);
    } finally {
      this.#abort.abort(new Stop('stopped')); // a step that is still under way makes no further call
      await this.#writer?.settled();
      this.#writer = undefined;
      if (row !== undefined) await this.#release(row);
    }
  }

  /** A row that waits does not say that its step was being run: whoever comes next is to look at once. */
  async #wantsMore(): Promise<void> {
    if (this.#writer?.image.row.status !== 'waiting') return;
    await this.#writer.wakeUp(async () => this.#ports.clock.nowMs()).catch(() => undefined); // the store went away
  }

  async #release({ thread, incarnation, epoch }: ThreadRow): Promise<void> {
    try {
      await this.#ports.store.releaseLease(thread, incarnation, epoch);
    } catch {
      // The store went away: the resume stays counted, which is the safe side, and the next lease follows as after a crash.
    }
  }

  async #runLeased(row: ThreadRow): Promise<RunEnd> {
    const { agent, maxResumes = defaultMaxResumes } = this.#options;
    const image = await openThreadImage(this.#codec, row);
    const version = image.state?.checkpoint.agentVersion ?? agent.version;
    if (version > agent.version) {
      const thread = image.control.threadId;
      throw engineErrors.make('agent_too_old', { thread, agentVersion: version, version: agent.version });
    }
    const writer = new ThreadWriter(this.#ports, this.#codec, image);
    this.#writer = writer;
    const isResumed = row.status === 'running' || row.status === 'waiting';
    const boundaries = new Boundaries(this.#ports, this.#options, writer, this.#emit, row.status === 'running');
    this.#boundaries = boundaries;
    const mayRun = row.status !== 'waiting' || (await this.#hasNews(writer));
    const suspect = row.resumes > maxResumes && mayRun ? await this.#suspect(image, isResumed) : undefined;
    if (suspect !== undefined) {
      const { node, control } = suspect;
      await boundaries.fail(programErrors.make('resume_limit', { resumes: row.resumes - 1, node }), control);
    }
    await boundaries.expireWaits();
    return this.#loop({ writer, boundaries }, await ThreadState.read(this.#codec, agent, image.state));
  }

  /** What stopped the worker each time: the next step, or the input that is next. It is not decoded to find out. */
  async #suspect(
    image: ThreadImage,
    isResumed: boolean,
  ): Promise<{ node: string; control: Partial<Control> } | undefined> {
    const [next] = positionOf(image).next;
    if (isResumed && next !== undefined) return { node: next.node, control: {} };
    const order = await firstOrder(this.#codec, controlOf(image, 0).inboxTaken);
    return order === undefined ? undefined : { node: this.#options.agent.start, control: { inboxTaken: order } };
  }

  async #loop(leased: Leased, first: ThreadState): Promise<RunEnd> {
    const { writer, boundaries } = leased;
    let state = first;
    for (;;) {
      const control = controlOf(writer.image, this.#options.agent.maxSteps);
      const items = await readInbox(this.#codec, control.inboxTaken);
      const cancel = items.findLast(({ item }) => item.type === 'cancel');
      if (cancel !== undefined) {
        await boundaries.cancel(cancel, items);
        this.#abort = new AbortController();
      }
      if (this.#isStopping) throw new Stop('stopped');
      if (cancel !== undefined) continue;
      if (control.status === 'running' || (control.status === 'waiting' && (await this.#hasNews(writer)))) {
        const end = await this.#runStep(leased, state);
        if (end instanceof ThreadState) state = end;
        else if (end !== 'again' && end.end !== 'failed') return end; // a failed run leaves the inputs that came meanwhile
        continue;
      }
      const [input] = items;
      if (control.status === 'waiting' || input?.item.type !== 'input') return restEnd(control.status);
      state = await boundaries.takeInput(state, input.order, input.item.update);
    }
  }

  /** Whether a wait of the step that stands was answered. */
  async #hasNews(writer: ThreadWriter): Promise<boolean> {
    const { waits } = controlOf(writer.image, 0);
    const answers = await Promise.all(waits.map((id) => readAnswer(this.#codec, id)));
    return answers.some((answer) => answer !== undefined);
  }

  async #runStep({ writer, boundaries }: Leased, state: ThreadState): Promise<ThreadState | RunEnd | 'again'> {
    const { agent, model } = this.#options;
    const { steps, maxSteps } = controlOf(writer.image, agent.maxSteps).run;
    const [scheduled] = positionOf(writer.image).next;
    if (scheduled === undefined) throw new Error('A running thread has no next step.');
    const node = nodeOf(agent, scheduled.node);
    if (steps >= maxSteps) {
      await boundaries.fail(programErrors.make('step_limit', { steps, node: node.name }));
      return { end: 'failed' };
    }
    boundaries.announce(node.name);
    this.#emit({ type: 'running', node: node.name, step: scheduled.step });
    const startedAtMs = this.#ports.clock.nowMs();
    const parts = {
      ports: this.#ports,
      agent,
      model,
      writer,
      emit: this.#emit,
      allow: (wait: Parameters<Boundaries['allow']>[0]) => boundaries.allow(wait),
      openWaits: (waits: Parameters<Boundaries['openWaits']>[1], records: Parameters<Boundaries['openWaits']>[2]) =>
        boundaries.openWaits(node.name, waits, records),
    };
    const step = await startStep(parts, node, scheduled, state, writer.image, this.#abort.signal);
    this.#step = step;
    await this.look(); // what came between the last look and now would otherwise wait for the next hint
    const end = await step.end;
    this.#step = undefined;
    try {
      if (end.type === 'waiting') return (await this.#hasUnseen(step.run, writer)) ? 'again' : { end: 'waiting' };
      if (end.type === 'threw') throw end.error;
      return await boundaries.step(node, step.run, state, end.result, this.#ports.clock.nowMs() - startedAtMs);
    } catch (error) {
      return this.#afterError(boundaries, node, step.run, error);
    }
  }

  /** Whether an answer came while the node was being given up. */
  async #hasUnseen(run: StepRun, writer: ThreadWriter): Promise<boolean> {
    await writer.settled();
    return run.waits.hasUnseenAnswer();
  }

  async #afterError(
    boundaries: Boundaries,
    node: RunnableNode,
    run: StepRun,
    error: unknown,
  ): Promise<RunEnd | 'again'> {
    if (isCancel(error)) return 'again';
    if (isBlocking(error)) throw error;
    if (isFinal(error) || run.ledger.nodeFailures.at(-1)?.outcome?.final === true) {
      await boundaries.failStep(run, error);
      return { end: 'failed' };
    }
    const attempt = run.ledger.nodeFailures.length + 1;
    const isSpent = attempt >= node.retry.attempts;
    await recordNodeFailure(run, node.name, attempt, error, isSpent);
    if (isSpent) {
      await boundaries.failStep(run, error);
      return { end: 'failed' };
    }
    return 'again';
  }
}
