/**
 * Runs a thread from its lease to the point where it has nothing to do. Invariants:
 *
 * - Order of taking over (PROTOCOL 5): lease, strictly; then the head; then act.
 * - I7: everything it knows comes from committed records, so any prefix of them is enough to go on from.
 * - Errors that a newer version, a key or a healthy store would cure leave the thread as it is (`blocked`); only what would
 *   fail again on every run is committed as `failed`.
 */
import { errorToData } from '../base/errors.ts';
import { codecErrors } from '../codec/errors.ts';
import { firstOrder, type OrderedItem } from '../codec/inbox-codec.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { openThreadImage } from '../codec/thread-image.ts';
import { readAnswer } from '../codec/wait-codec.ts';
import type { Control } from '../model/checkpoint.ts';
import type { Frame } from '../model/frame.ts';
import { withSettled } from '../model/inbox.ts';
import type { LeaseKind, ThreadRow } from '../model/records.ts';
import type { Boundary } from './boundary.ts';
import { controlOf } from './control-of.ts';
import { engineErrors } from './errors.ts';
import type { FullDisk } from './give.ts';
import { isInterrupting, nextItems, takesBackAtLimit } from './inbox-order.ts';
import { InboxView } from './inbox-view.ts';
import { type Leased, leasedParts } from './leased.ts';
import { defaultMaxResumes } from './limits.ts';
import { openLines } from './line-status.ts';
import { onDemand } from './load-on-demand.ts';
import type { EngineOptions, RunPorts } from './ports.ts';
import { blockedBy, halted, type RunEnd, restEnd, Stop, type StopReason } from './run-end.ts';
import type { RunLines } from './run-lines.ts';
import { ThreadState } from './thread-state.ts';
import { ThreadWriter } from './thread-writer.ts';

export class ThreadRunner {
  readonly #ports: RunPorts;
  readonly #options: EngineOptions;
  readonly #codec: ThreadCodec;
  readonly #emit: (frame: Frame) => void;
  #abort = new AbortController();
  readonly #stopped = new AbortController();
  readonly #inbox: InboxView;
  #isStopping = false;
  #writer: ThreadWriter | undefined;
  #leased: Leased | undefined;

  constructor(ports: RunPorts, options: EngineOptions, codec: ThreadCodec, emit: (frame: Frame) => void) {
    this.#ports = ports;
    this.#options = options;
    this.#codec = codec;
    this.#inbox = new InboxView(codec);
    this.#emit = emit;
  }

  /** Looks at once for what came from outside: a cancel, answers to waits, and the end of their time. */
  async look(): Promise<void> {
    const writer = this.#writer;
    if (writer === undefined) return;
    const abort = this.#abort; // taken first: a cancel that is carried out meanwhile must not end the run after it
    const items = (await this.#inbox.read(controlOf(writer.image, 0))).due;
    if (items.some(({ item }) => item.type === 'cancel')) abort.abort(new Stop('cancelled'));
    else if (items.some(isInterrupting)) abort.abort(new Stop('interrupted'));
    await this.#leased?.waits.expire();
    await this.#leased?.waits.deliver(items);
    await this.#leased?.lines.look();
  }

  /** Stops at the next possible point; nothing is committed that was not. */
  stop(): void {
    this.#isStopping = true;
    this.#stopped.abort(new Stop('stopped'));
    this.#abort.abort(new Stop('stopped'));
  }

  /** Takes the lease and runs until there is nothing to do. Never rejects. */
  async run(lease: LeaseKind): Promise<RunEnd> {
    let row: ThreadRow | undefined;
    try {
      row = await this.#ports.store.takeLease(this.#codec.thread, this.#codec.incarnation, lease);
      return row === undefined ? { end: 'lost' } : await this.#runLeased(row);
    } catch (error) {
      if (error instanceof Stop) {
        await this.#wantsMore();
        return { end: 'stopped' };
      }
      if (engineErrors.is(error, 'lease_lost')) return { end: 'lost' };
      // What is missing may have been taken away by whoever has the lease now.
      if (codecErrors.is(error, 'record_missing') && row !== undefined && (await this.#isLost(row)))
        return { end: 'lost' };
      return blockedBy(error, this.#emit);
    } finally {
      this.#abort.abort(new Stop('stopped')); // a step that is still under way makes no further call
      await this.#writer?.settled();
      this.#writer = undefined;
      if (row !== undefined) await this.#release(row);
    }
  }

  async #isLost({ thread, incarnation, epoch }: ThreadRow): Promise<boolean> {
    try {
      const now = await this.#ports.store.readThread(thread);
      return now?.incarnation !== incarnation || now.epoch.local !== epoch.local;
    } catch {
      return false; // the store cannot say: what is missing is told
    }
  }

  /** A row that waits does not say that its step was being run: whoever comes next is to look at once. */
  async #wantsMore(): Promise<void> {
    if (this.#writer?.image.row.status !== 'waiting') return;
    await this.#writer.touch(async () => ({ wakeUpAtMs: this.#ports.clock.nowMs() })).catch(() => undefined); // the store went away
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
      const { rareEngineErrors } = await onDemand();
      throw rareEngineErrors.make('agent_too_old', { thread, agentVersion: version, version: agent.version });
    }
    if (this.#codec.parent !== null) {
      const { Children } = await onDemand();
      await new Children(this.#ports, this.#options).stopIfLeft(this.#codec, row);
    }
    const writer = new ThreadWriter(this.#ports, this.#codec, image, this.#fullDisk());
    this.#writer = writer;
    const stopped = this.#stopped.signal;
    const parts = { ports: this.#ports, options: this.#options, writer, emit: this.#emit, stopped };
    const stop = (why: StopReason) => this.#abort.abort(new Stop(why));
    const leased = await leasedParts(parts, this.#codec, row.status === 'running', stop);
    this.#leased = leased;
    const mayRun = row.status !== 'waiting' || (await this.#hasNews(leased));
    const suspect = row.resumes > maxResumes && mayRun ? await this.#suspect(leased, row) : undefined;
    if (suspect !== undefined) {
      await (await leased.runs.ends()).failSuspect(suspect, row.resumes - 1);
      // Inputs behind a poisoned one are taken up all the same; without any, the state is not decoded.
      if ((await firstOrder(this.#codec, leased.boundary.control)) === undefined)
        return restEnd(leased.boundary.control);
    }
    if ((image.state?.checkpoint.stateVersion ?? agent.stateVersion) !== agent.stateVersion) {
      const { commitMigration } = await onDemand();
      await commitMigration(this.#ports, this.#options, writer);
    }
    if (leased.boundary.control.past.choices.some(({ choice }) => choice === 'compensate')) {
      const { compensateAll } = await onDemand();
      await compensateAll({ ...parts, signal: this.#abort.signal }, writer);
    }
    await leased.waits.expire();
    return this.#loop(leased, await ThreadState.read(this.#codec, agent, writer.image.state, stopped));
  }

  #fullDisk(): FullDisk {
    return {
      tell: (error) => this.#emit({ type: 'full', error: error === null ? null : errorToData(error) }),
      free: async () => {
        const { freeSpace } = await onDemand();
        if (this.#writer !== undefined) await freeSpace(this.#ports, this.#options, this.#writer);
      },
      signal: this.#stopped.signal,
    };
  }

  /** What stopped the worker each time: the next step, or the input that is next. It is not decoded to find out (PROTOCOL 5). */
  async #suspect(
    { boundary }: Leased,
    { status }: ThreadRow,
  ): Promise<{ node: string; control: Partial<Control> } | undefined> {
    const next = boundary.position.next[0] ?? openLines(boundary.lines)[0];
    const isResumed = status === 'running' || status === 'waiting';
    if (isResumed && next !== undefined) return { node: next.node, control: {} };
    const order = await firstOrder(this.#codec, boundary.control);
    if (order === undefined) return undefined;
    return { node: this.#options.agent.start, control: withSettled(boundary.control, [order]) };
  }

  async #loop(leased: Leased, first: ThreadState): Promise<RunEnd> {
    const { boundary, runs, waits, lines } = leased;
    let state = first;
    let looked: AbortController | undefined;
    for (;;) {
      const items = await this.#readInbox(boundary);
      const { status } = boundary.control;
      const isUnderWay = status === 'running' || status === 'waiting';
      const stands = isUnderWay || halted.includes(status);
      const { cancel, extension, interrupting, input } = nextItems(items, stands);
      if (cancel !== undefined) {
        await this.#stopLines('cancelled', lines);
        state = await (await runs.ends()).cancel(state, cancel, items);
      }
      if (this.#isStopping) throw new Stop('stopped');
      if (cancel !== undefined) continue;
      const limit = isUnderWay ? this.#limitReached(lines) : undefined;
      if (limit !== undefined) {
        await this.#stopLines(limit, lines);
        await (await onDemand()).halt(boundary, limit);
      } else if (extension?.item.type === 'extend') {
        await (await onDemand()).extend(boundary, extension.order, extension.item.limits);
        await waits.expire(); // what was over while the run stood
      } else if (
        interrupting !== undefined &&
        (stands || (this.#codec.parent === null && takesBackAtLimit(boundary.control, interrupting)))
      ) {
        await this.#stopLines('interrupted', lines);
        const { order, item } = interrupting;
        const takesBack = item.type === 'input' && item.policy === 'roll_back';
        const ends = await runs.ends();
        state = await (takesBack ? ends.rollBack(state, order) : ends.interrupt(state, order));
      } else if (isUnderWay && this.#abort.signal.aborted) {
        // What stopped the steps came after this reading, or has gone with the thread: then this lease is of no thread.
        if (looked === this.#abort) await this.#beginAgain(lines);
        looked = this.#abort;
      } else if (isUnderWay) {
        await waits.deliver(items);
        const next = await this.#advance(leased, state);
        if (next instanceof ThreadState) state = next;
        else if (!this.#inbox.showNext(boundary.control)) return this.#rest(leased, next);
      } else {
        await this.#stopLines('interrupted', lines); // of a run that has failed: what its other lines still do goes nowhere
        if (halted.includes(status) || input?.item.type !== 'input') {
          if (this.#inbox.showNext(boundary.control)) continue;
          return this.#rest(leased, restEnd(boundary.control));
        }
        state = await runs.takeInput(state, input.order, input.item.update);
        this.#begin(); // a look may have seen this very input as it was being taken up
      }
    }
  }

  async #readInbox(boundary: Boundary): Promise<readonly OrderedItem[]> {
    const { all, due } = await this.#inbox.read(boundary.control);
    boundary.sawInbox(all);
    return due;
  }

  /** Makes all steps under way end, and waits until they have. */
  async #stopLines(why: StopReason, lines: RunLines): Promise<void> {
    if (!lines.isIdle) this.#abort.abort(new Stop(why));
    await lines.drain();
    this.#begin();
  }

  /** Steps from here on are stopped by what comes from here on. What came before is looked for in the inbox. */
  #begin(): void {
    if (!this.#isStopping) this.#abort = new AbortController();
  }

  /** Steps were stopped for a reason that is not there any more. @throws `lease_lost` */
  async #beginAgain(lines: RunLines): Promise<void> {
    await this.#writer?.touch(async () => ({})); // changes nothing, and is refused where the thread is not this runner's
    await this.#stopLines('interrupted', lines);
  }

  #limitReached(lines: RunLines): 'timed_out' | 'out_of_budget' | undefined {
    const { reason } = this.#abort.signal;
    if (reason instanceof Stop && (reason.why === 'timed_out' || reason.why === 'out_of_budget')) return reason.why;
    return lines.leftMs() <= 0 ? 'timed_out' : undefined;
  }

  /** Starts what can go on, and waits for an end. The state after it; or how the run ends, where nothing can go on. */
  async #advance({ boundary, waits, lines }: Leased, state: ThreadState): Promise<ThreadState | RunEnd> {
    const { steps, maxSteps } = boundary.control.run;
    const ready = await lines.ready();
    if (lines.isIdle && ready.length === 0) {
      if (boundary.control.status === 'running') await waits.rest();
      return { end: 'waiting' };
    }
    if (steps >= maxSteps) {
      await this.#stopLines('stopped', lines); // before it is committed: no step opens a wait behind that, and each may run again
      return lines.refuseMore(state, ready);
    }
    await lines.start(ready, state, this.#abort.signal);
    return lines.ended(state);
  }

  /** Nothing can be done before something comes: the row says so. */
  async #rest({ boundary }: Leased, end: RunEnd): Promise<RunEnd> {
    const seen = boundary.inboxSeen(boundary.control);
    if (seen > boundary.image.row.inboxTaken) await this.#writer?.touch(async () => ({ inboxTaken: seen }));
    return end;
  }

  /** Whether a wait of the steps that stand was answered. */
  async #hasNews({ boundary }: Leased): Promise<boolean> {
    const answers = await Promise.all(boundary.control.waits.map((id) => readAnswer(this.#codec, id)));
    return answers.some((answer) => answer !== undefined);
  }
}
