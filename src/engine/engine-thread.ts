/** One thread as its host sees it: takes what comes from outside, durably, runs it, and shows what is committed. */
import { randomId } from '../base/random.ts';
import { type InboxItem, sealInboxItem } from '../codec/inbox-codec.ts';
import { readLedger } from '../codec/ledger-codec.ts';
import type { Need, Share, ShareRights } from '../codec/shares.ts';
import { BlobBatch, type ThreadCodec } from '../codec/thread-codec.ts';
import { openThreadImage } from '../codec/thread-image.ts';
import { isSameAnswer, readAnswer, readWait, sealAnswer } from '../codec/wait-codec.ts';
import type { CheckpointInfo } from '../model/checkpoint.ts';
import type { CommitGroup, GroupResult } from '../model/commit.ts';
import type { EffectInfo } from '../model/effect.ts';
import type { LoggedEvent } from '../model/event.ts';
import type { Frame } from '../model/frame.ts';
import type { CheckpointId, CommitId, ThreadHash, ThreadId, WaitId } from '../model/ids.ts';
import type { ThreadRow } from '../model/records.ts';
import type { QuarantinedRecord } from '../model/repair.ts';
import { defaultRetention, type RetentionPolicy } from '../model/retention.ts';
import { decisionsFor, type Wait, type WaitAnswer } from '../model/wait.ts';
import { checkInput } from '../program/state.ts';
import { checkedInput } from '../program/tool-input.ts';
import type { Compaction } from './compact.ts';
import { createThread } from './create-thread.ts';
import { engineErrors } from './errors.ts';
import type { EventQuery } from './event-log.ts';
import { give } from './give.ts';
import { imageAt, listCheckpoints } from './list-checkpoints.ts';
import { controlOf } from './plans.ts';
import type { EngineOptions, EnginePorts } from './ports.ts';
import { isDamage, type RunEnd } from './run-end.ts';
import { effectInfo } from './step-ledger.ts';
import { ThreadRunner } from './thread-runner.ts';
import { type StateRecord, ThreadState } from './thread-state.ts';
import { withoutSecrets } from './without-secrets.ts';

/** Whoever sends or answers is told within this time that the store does not take it, and may ask again. */
const answerWithinMs = 5_000;

interface OpenThread {
  readonly row: ThreadRow;
  readonly codec: ThreadCodec;
}

export class EngineThread {
  readonly id: ThreadId;
  readonly #ports: EnginePorts;
  readonly #options: EngineOptions;
  readonly #emit: (frame: Frame) => void;
  #codec: ThreadCodec | undefined;
  #owner: string | undefined;
  #runner: ThreadRunner | undefined;
  #isStopping = false;

  constructor(ports: EnginePorts, options: EngineOptions, id: ThreadId, emit: (frame: Frame) => void) {
    this.#ports = ports;
    this.#options = options;
    this.id = id;
    this.#emit = (frame) => emit(withoutSecrets(frame, this.#codec));
  }

  /**
   * Takes an input. Durable, and in the order in which inputs are kept, once it resolves; the same `dedupId` again changes
   * nothing. Makes the thread if there is none.
   *
   * @throws `field_unknown`, `state_invalid`, `value_not_storable`: nothing was kept.
   */
  async send(update: object, dedupId: string = randomId(this.#ports.random)): Promise<void> {
    checkInput(this.#options.agent.state, update);
    const opened = (await this.#open('write')) ?? (await this.#create());
    const item = { type: 'input', update: { ...update }, atMs: this.#ports.clock.nowMs() } as const;
    await this.#append(opened, dedupId, item);
  }

  /** Asks the run to stop. Durable once it resolves. @throws `thread_unknown` */
  async cancel(dedupId: string = randomId(this.#ports.random)): Promise<void> {
    await this.#append(await this.#opened('write'), dedupId, { type: 'cancel', atMs: this.#ports.clock.nowMs() });
  }

  /**
   * Answers a wait, once and for all. Durable once it resolves; the same answer again changes nothing. One that comes after
   * the wait's time is over is refused as `wait_closed`.
   *
   * @throws `wait_unknown`, `wait_closed` (with the winner), `answer_mismatch`, `answer_invalid`, `tool_input_invalid` for edited
   * arguments that the tool would refuse: nothing was kept.
   */
  async answer(id: string, digest: string, answer: WaitAnswer): Promise<void> {
    const { row, codec } = await this.#opened('write');
    const wait = await readWait(codec, id as WaitId);
    if (wait === undefined) throw engineErrors.make('wait_unknown', { thread: this.id, wait: id });
    const allowed = decisionsFor[wait.kind];
    if (!allowed.includes(answer.decision)) {
      throw engineErrors.make('answer_invalid', { wait: id, decision: answer.decision, allowed: allowed.join(', ') });
    }
    if (digest !== wait.digest) throw engineErrors.make('answer_mismatch', { wait: id, tool: wait.tool });
    const tool = this.#options.agent.tools[wait.tool];
    if (tool !== undefined && answer.decision === 'allow' && answer.args !== undefined) checkedInput(tool, answer.args);
    const nowMs = this.#ports.clock.nowMs();
    const isOver = wait.expiresAtMs !== null && wait.expiresAtMs <= nowMs;
    const blobs = new BlobBatch({ mayReuse: false });
    const record = await sealAnswer(codec, wait, isOver ? { decision: 'expired' } : answer, nowMs, blobs);
    const result = await this.#give(row, {
      conditions: [{ kind: 'wait_open', wait: wait.id }, ...blobs.conditions()],
      records: [record, ...blobs.writes()],
    });
    if (result.status === 'applied') this.#emit({ type: 'answered', wait: id });
    if (result.status !== 'applied' || isOver) {
      const winner = (await readAnswer(codec, wait.id))?.answer;
      if (winner !== undefined && (await isSameAnswer(codec, winner, answer))) return;
      throw engineErrors.make('wait_closed', { wait: id, winner: winner?.decision ?? 'its thread' });
    }
  }

  /** Runs the thread until it has nothing to do. One call at a time. Never rejects. */
  async run(): Promise<RunEnd> {
    this.#isStopping = false;
    const end = withoutSecrets(await this.#runOnce(), this.#codec);
    if (end.end !== 'blocked' || this.#isStopping || !isDamage(end.error)) return end;
    const { repairThread } = await import('./repair.ts');
    const codec = this.#codec;
    const isRepaired = codec !== undefined && (await repairThread(this.#ports, this.#options, codec, this.#emit));
    return isRepaired ? withoutSecrets(await this.#runOnce(), this.#codec) : end;
  }

  /** Records that were found damaged or missing, and what the thread goes on from without them; oldest mark first. */
  async quarantine(): Promise<readonly QuarantinedRecord[]> {
    const opened = await this.#open();
    if (opened === undefined) return [];
    const { readMarks } = await import('../codec/quarantine.ts');
    return readMarks(opened.codec);
  }

  /**
   * Takes away what no restore, fork, open wait or event needs any more. Call it where a run could be called: it takes the lease.
   * Does nothing while the thread runs. @throws `record_damaged`, `lease_lost`
   */
  async compact(policy: Partial<RetentionPolicy> = {}, pins: readonly CheckpointId[] = []): Promise<Compaction> {
    const opened = await this.#open('own');
    if (opened === undefined || opened.row.status === 'running' || this.#runner !== undefined) return { deleted: {} };
    const { compactThread } = await import('./compact.ts');
    const question = { policy: { ...defaultRetention, ...this.#options.retention, ...policy }, pins };
    return (await compactThread(this.#ports, opened.codec, question)) ?? { deleted: {} };
  }

  /** The event log, oldest first, by commits. */
  async events(query: EventQuery = {}): Promise<readonly LoggedEvent[]> {
    const opened = await this.#open();
    const { readEvents } = await import('./event-log.ts');
    return opened === undefined ? [] : readEvents(opened.codec, opened.row, query);
  }

  /** The whole event log as JSON Lines, with the data that the events refer to. Each text is one line. */
  async *exportLog(): AsyncGenerator<string, void, undefined> {
    const opened = await this.#open();
    const { exportLog } = await import('./export-log.ts');
    if (opened !== undefined) yield* exportLog(opened.codec, opened.row);
  }

  /** Lets another owner read the thread, or also write to it: send, cancel, answer and run. Replaces an earlier share. */
  async share(owner: string, rights: ShareRights): Promise<void> {
    const { row, codec } = await this.#opened('own');
    const { sealShare } = await import('../codec/shares.ts');
    const records = [await sealShare(codec, { owner, rights, atMs: this.#ports.clock.nowMs() })];
    const result = await this.#give(row, { conditions: [], records });
    if (result.status !== 'applied') throw engineErrors.make('thread_unknown', { thread: this.id });
  }

  /** Whom the thread is or was shared with; `none`: no more. */
  async shares(): Promise<readonly Share[]> {
    const { codec } = await this.#opened('own');
    const { readShares } = await import('../codec/shares.ts');
    return readShares(codec);
  }

  async #runOnce(): Promise<RunEnd> {
    const opened = await this.#openForRun();
    if ('end' in opened) return opened;
    if (this.#isStopping) return { end: 'stopped' };
    this.#runner = new ThreadRunner(this.#ports, this.#options, opened.codec, this.#emit);
    const end = await this.#runner.run();
    this.#runner = undefined;
    return end;
  }

  /** Tells a run that something may have come from outside. */
  async look(): Promise<void> {
    await this.#runner?.look();
  }

  /** Asks a run to stop at the next possible point, without committing anything. */
  stop(): void {
    this.#isStopping = true; // also where the thread is still being opened
    this.#runner?.stop();
  }

  /** The row, or `undefined` while there is no thread. */
  async row(): Promise<ThreadRow | undefined> {
    return (await this.#open())?.row;
  }

  /** The state at the head, or at a checkpoint. @throws `thread_unknown`, `checkpoint_unknown`, `record_damaged` */
  async state(checkpoint?: CheckpointId): Promise<StateRecord> {
    const { row, codec } = await this.#opened();
    const image =
      checkpoint === undefined ? (await openThreadImage(codec, row)).state : await imageAt(codec, this.id, checkpoint);
    return (await ThreadState.read(codec, this.#options.agent, image)).values;
  }

  /** The newest checkpoints, newest first; `before` goes on from the last one of an earlier list. */
  async checkpoints({
    limit = 100,
    before,
  }: {
    limit?: number;
    before?: CheckpointId;
  } = {}): Promise<readonly CheckpointInfo[]> {
    const opened = await this.#open();
    if (opened === undefined) return [];
    return listCheckpoints(opened.codec, opened.row, limit, before);
  }

  /** The waits that nobody has answered yet. */
  async waits(): Promise<readonly Wait[]> {
    const opened = await this.#open();
    if (opened === undefined) return [];
    const { codec } = opened;
    const { waits } = controlOf(await openThreadImage(codec, opened.row), 0);
    const open = await Promise.all(
      waits.map(async (id) => ((await readAnswer(codec, id)) === undefined ? readWait(codec, id) : undefined)),
    );
    return open.filter((wait) => wait !== undefined);
  }

  /** Every effect on record, oldest first, each attempt by itself; with the calls' ids (effect keys) and status (A2). */
  async effects(): Promise<readonly EffectInfo[]> {
    const opened = await this.#open();
    const { entries } = opened ? await readLedger(opened.codec, 0, opened.row.ledger) : { entries: [] };
    const calls = entries.filter(({ intent }) => intent.kind !== 'inputs' && intent.kind !== 'node');
    return calls.map((entry) => effectInfo(entry, this.#runner !== undefined));
  }

  async #openForRun(): Promise<OpenThread | RunEnd> {
    try {
      return (await this.#open('write')) ?? { end: 'idle' };
    } catch (error) {
      return ThreadRunner.blocked(error, this.#emit);
    }
  }

  async #opened(need: Need = 'read'): Promise<OpenThread> {
    const opened = await this.#open(need);
    if (opened === undefined) throw engineErrors.make('thread_unknown', { thread: this.id });
    return opened;
  }

  /** @throws `thread_of_another_agent`, `not_owner`, `key_missing` */
  async #open(need: Need = 'read'): Promise<OpenThread | undefined> {
    const row = await this.#ports.store.readThread(await this.hash());
    if (row === undefined) return undefined;
    const { agent } = this.#options;
    if (row.agent !== agent.name) {
      throw engineErrors.make('thread_of_another_agent', { thread: this.id, agent: row.agent, expected: agent.name });
    }
    if (this.#codec?.incarnation !== row.incarnation) {
      this.#codec = await this.#ports.keyRing.openThread(row.thread, row.incarnation);
      // Sealed, unlike the row's, which whoever writes to the store can change.
      this.#owner = (await this.#ports.keyRing.identityOf(row.thread, row.incarnation)).owner;
      for (const secret of this.#options.secrets?.() ?? []) this.#codec.secrets.add(secret);
    }
    const { owner = 'local' } = this.#options;
    if (this.#owner !== owner && !(await (await import('../codec/shares.ts')).isSharedWith(this.#codec, owner, need))) {
      throw engineErrors.make('not_owner', { thread: this.id, owner, needs: need });
    }
    return { row, codec: this.#codec };
  }

  /** How the store knows this thread. */
  hash(): Promise<ThreadHash> {
    return this.#ports.keyRing.threadHash(this.#options.namespace ?? 'default', this.id);
  }

  async #create(): Promise<OpenThread> {
    await createThread(this.#ports, this.#options, this.id, await this.hash());
    return this.#opened('write');
  }

  async #append({ row, codec }: OpenThread, dedupId: string, item: InboxItem): Promise<void> {
    const blobs = new BlobBatch({ mayReuse: false });
    const inbox = await sealInboxItem(codec, dedupId, item, blobs);
    const result = await this.#give(row, { conditions: blobs.conditions(), records: blobs.writes(), inbox });
    if (result.status !== 'applied') throw engineErrors.make('thread_unknown', { thread: this.id });
  }

  /** Commits what came from outside. */
  #give(
    { thread, incarnation }: ThreadRow,
    what: Pick<CommitGroup, 'conditions' | 'records' | 'inbox'>,
  ): Promise<GroupResult> {
    const id = randomId(this.#ports.random) as CommitId;
    return give(this.#ports, { id, thread, incarnation, durability: 'strict', ...what }, answerWithinMs);
  }
}
