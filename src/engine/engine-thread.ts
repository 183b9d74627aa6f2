/** One thread as its host sees it: takes what comes from outside, durably, runs it, and shows what is committed. */
import { textOf } from '../base/errors.ts';
import { ownCopy } from '../base/own-copy.ts';
import { randomId } from '../base/random.ts';
import { textProblem } from '../base/text.ts';
import { readAgain } from '../codec/read-again.ts';
import type { ShareRights } from '../codec/shares.ts';
import type { FieldDiff } from '../model/field-diff.ts';
import type { CheckpointId } from '../model/ids.ts';
import { type Extension, type InboxPolicy, inboxPolicies } from '../model/inbox.ts';
import type { LeaseKind } from '../model/records.ts';
import { defaultRetention, type RetentionPolicy } from '../model/retention.ts';
import type { WaitAnswer } from '../model/wait.ts';
import { checkInput } from '../program/state.ts';
import type { AnswerParts } from './answer-wait.ts';
import { checkRetention } from './check-retention.ts';
import type { Compaction } from './compact.ts';
import { engineErrors } from './errors.ts';
import { onDemand, runCode } from './load-on-demand.ts';
import { blockedBy, isDamage, type RunEnd } from './run-end.ts';
import type { ThreadRunner } from './thread-runner.ts';
import type { StateRecord } from './thread-state.ts';
import { ThreadViews } from './thread-views.ts';
import type { Comparison } from './time-travel-compare.ts';
import type { DiffSide, Inspection } from './time-travel-diff.ts';
import type { ForkOptions } from './time-travel-fork.ts';
import type { GoBackOptions, TravelParts } from './time-travel-parts.ts';
import { Turns } from './turns.ts';
import { withoutSecrets } from './without-secrets.ts';

interface AskedRun {
  hasBegun: boolean;
  isStopped: boolean;
}

export class EngineThread<State extends object = StateRecord> extends ThreadViews<State> {
  #runner: ThreadRunner | undefined;
  /** Runs that were asked for and have not ended: at most one of them has begun, and it may still be opening the thread. */
  readonly #asked = new Set<AskedRun>();
  readonly #turns = new Turns();

  protected override get isLive(): boolean {
    return this.#runner !== undefined;
  }

  /**
   * Takes an input. Durable, and in the order in which inputs are kept, once it resolves; the same `dedupId` again changes
   * nothing. Makes the thread if there is none.
   *
   * @throws `field_unknown`, `state_invalid`, `value_not_storable`, `id_taken` (by another item): nothing was kept.
   */
  async send(
    given: object,
    dedupId: string = randomId(this.ports.random),
    policy: InboxPolicy = 'queue',
  ): Promise<void> {
    const update = ownCopy(given) as StateRecord;
    await this.checkId(dedupId);
    let opened = await this.open('write'); // whose input it is, is known then
    checkInput(this.options.agent.state, update);
    if (!inboxPolicies.includes(policy)) {
      const { rareEngineErrors } = await onDemand();
      throw rareEngineErrors.make('policy_unknown', { policy: textOf(policy), known: inboxPolicies.join(', ') });
    }
    const item = { type: 'input', update, policy, atMs: this.ports.clock.nowMs() } as const;
    for (;;) {
      opened ??= await this.create();
      if (policy !== 'reject') {
        await this.append(opened, dedupId, item);
        return;
      }
      if (await this.appendIfFree(opened, dedupId, item)) return;
      opened = await this.open('write');
    }
  }

  /**
   * Tells the thread of something outside that it waits for, or will. Durable once it resolves, also where nobody waits yet.
   *
   * @throws `thread_unknown`, `value_not_storable`, `id_taken`: nothing was kept.
   */
  async signal(event: string, value?: unknown, dedupId: string = randomId(this.ports.random)): Promise<void> {
    if (typeof event !== 'string' || event === '' || textProblem(event))
      throw (await onDemand()).rareEngineErrors.make('event_name_invalid', { name: textOf(event) });
    const item = { type: 'event', name: event, value: ownCopy(value), atMs: this.ports.clock.nowMs() } as const;
    await this.append(await this.opened('write'), dedupId, item);
  }

  /**
   * Raises limits of the run, and lets one that had reached them go on. Durable once it resolves.
   *
   * @throws `thread_unknown`, `extension_invalid`, `id_taken`: nothing was kept.
   */
  async extend(limits: Extension, dedupId: string = randomId(this.ports.random)): Promise<void> {
    (await onDemand()).checkExtension(limits);
    const item = { type: 'extend', limits: { ...limits }, atMs: this.ports.clock.nowMs() } as const;
    await this.append(await this.opened('write'), dedupId, item);
  }

  /** Asks the run to stop. Durable once it resolves. @throws `thread_unknown`, `id_taken` */
  async cancel(dedupId: string = randomId(this.ports.random)): Promise<void> {
    await this.append(await this.opened('write'), dedupId, { type: 'cancel', atMs: this.ports.clock.nowMs() });
  }

  /**
   * Answers a wait, once and for all (PROTOCOL 6). Durable once it resolves; the same answer again changes nothing. One that comes
   * after the wait's time is over is refused as `wait_closed`.
   *
   * @throws `wait_unknown`, `wait_closed` (with the winner), `answer_mismatch`, `answer_invalid`, `tool_input_invalid` for edited
   * arguments that the tool would refuse: nothing was kept.
   */
  async answer(id: string, digest: string, given: WaitAnswer): Promise<void> {
    const answer = ownCopy(given);
    const { answerWait } = await onDemand();
    const { ports, options, emit } = this;
    const give: AnswerParts['give'] = (row, what) => this.give(row, what);
    const parts = { ports, options, emit, give, id: this.id, ...(await this.opened('write')) };
    await answerWait(parts, { id, digest, answer });
  }

  /**
   * Runs the thread until it has nothing to do. One call at a time. Never rejects. `lease`: say `stolen` where the runner before
   * may live, and only stand still.
   */
  async run(lease: LeaseKind = 'free'): Promise<RunEnd> {
    const asked: AskedRun = { hasBegun: false, isStopped: false };
    this.#asked.add(asked);
    try {
      return await this.#turns.run(() => {
        asked.hasBegun = true;
        return this.#run(lease, asked);
      });
    } finally {
      this.#asked.delete(asked);
    }
  }

  async #run(lease: LeaseKind, asked: AskedRun): Promise<RunEnd> {
    const end = withoutSecrets(await this.#runOnce(lease, asked), this.codec);
    if (end.end !== 'blocked' || asked.isStopped || !isDamage(end.error)) return end;
    const { codec } = this;
    let isRepaired = false;
    try {
      const { repairThread } = await onDemand();
      isRepaired = codec !== undefined && (await repairThread(this.ports, this.options, codec, this.emit));
    } catch (error) {
      return blockedBy(error, this.emit);
    }
    return isRepaired ? withoutSecrets(await this.#runOnce('free', asked), codec) : end;
  }

  async #runOnce(lease: LeaseKind, asked: AskedRun): Promise<RunEnd> {
    const runner = await this.#openForRun();
    if ('end' in runner) return runner;
    if (asked.isStopped) return { end: 'stopped' };
    this.#runner = runner;
    const end = await runner.run(lease);
    this.#runner = undefined;
    return end;
  }

  async #openForRun(): Promise<ThreadRunner | RunEnd> {
    try {
      const opened = await this.open('write');
      if (opened === undefined) return { end: 'idle' };
      const { ThreadRunner } = await runCode();
      return new ThreadRunner(this.ports, this.options, opened.codec, this.emit);
    } catch (error) {
      return blockedBy(error, this.emit);
    }
  }

  /** Tells a run that something may have come from outside. */
  async look(): Promise<void> {
    await this.#runner?.look();
  }

  /** Asks a run to stop at the next possible point, without committing anything. */
  stop(): void {
    this.#stopAsked(() => true);
  }

  #stopAsked(fits: (run: AskedRun) => boolean): void {
    for (const run of this.#asked) run.isStopped ||= fits(run);
    this.#runner?.stop();
  }

  /**
   * Takes away what no restore, fork, open wait or event needs any more. Call it where a run could be called: it takes the lease.
   * Does nothing while the thread runs. @throws `retention_invalid`, `record_damaged`, `lease_lost`
   */
  async compact(policy: Partial<RetentionPolicy> = {}, pins: readonly CheckpointId[] = []): Promise<Compaction> {
    checkRetention(policy);
    const opened = await this.open('own');
    if (opened === undefined || opened.row.status === 'running' || this.isLive) return { deleted: {} };
    const { compactThread } = await onDemand();
    const question = { policy: { ...defaultRetention, ...this.options.retention, ...policy }, pins };
    return (await compactThread(this.ports, opened.codec, question, this.id)) ?? { deleted: {} };
  }

  /** Lets another owner read the thread, or also write to it: send, cancel, answer and run. Replaces an earlier share. @throws `share_invalid` */
  async share(owner: string, rights: ShareRights): Promise<void> {
    const { row, codec } = await this.opened('own');
    const { checkShare, sealShare } = await onDemand();
    checkShare(owner, rights);
    const records = [await sealShare(codec, { owner, rights, atMs: this.ports.clock.nowMs() })];
    const result = await this.give(row, { conditions: [], records });
    if (result.status !== 'applied') throw engineErrors.make('thread_unknown', { thread: this.id });
  }

  /** One checkpoint with its state, events and forks. @throws as `inspect` of `time-travel-diff.ts` */
  async inspect(checkpoint: CheckpointId): Promise<Inspection> {
    return this.#look(async (parts) => (await onDemand()).inspect(parts, checkpoint));
  }

  /** What differs between two checkpoints, or a checkpoint and a state. @throws as `diff` of `time-travel-diff.ts` */
  async diff(before: DiffSide, after: DiffSide): Promise<readonly FieldDiff[]> {
    return this.#look(async (parts) => (await onDemand()).diff(parts, before, after));
  }

  /** Makes the state at an earlier checkpoint the state again. @throws as `rollBack` of `time-travel.ts` */
  async rollBack(checkpoint: CheckpointId, options: GoBackOptions = {}): Promise<CheckpointId> {
    const own = ownCopy(options);
    return (await onDemand()).rollBack(await this.#travelParts(), checkpoint, own);
  }

  /** Changes the state at the head. @throws as `edit` of `time-travel.ts` */
  async edit(update: object, options: GoBackOptions = {}): Promise<CheckpointId> {
    const [own, how] = [ownCopy(update), ownCopy(options)];
    return (await onDemand()).edit(await this.#travelParts(), own, how);
  }

  /** Makes a new thread from a checkpoint. @throws as `fork` of `time-travel-fork.ts` */
  async fork(checkpoint: CheckpointId, options: ForkOptions): Promise<void> {
    const own = ownCopy(options);
    return this.#look(async (parts) => (await onDemand()).fork(parts, checkpoint, own)); // the same again is the same fork
  }

  /** This thread's head against another's. @throws as `compare` of `time-travel-compare.ts` */
  async compare(other: string): Promise<Comparison> {
    return this.#look(async (parts) => (await onDemand()).compare(parts, other));
  }

  async #look<Result>(work: (parts: TravelParts) => Promise<Result>): Promise<Result> {
    const parts = await this.#travelParts();
    return readAgain(this.ports.store, parts.row, (row) => work({ ...parts, row }));
  }

  async #travelParts(): Promise<TravelParts> {
    const world = { ports: this.ports, options: this.options, id: this.id, emit: this.emit };
    const alone: TravelParts['alone'] = (work) => this.#turns.apart(() => this.#stopAsked((run) => run.hasBegun), work);
    return { ...(await this.opened('write')), ...world, isLive: this.isLive, alone };
  }
}
