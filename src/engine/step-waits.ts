/**
 * The waits of one step. Entering one commits a full snapshot with the wait in it before anyone is asked (I1, A4). Waits
 * that are asked together are opened together. An answer is a record of its own; whoever finds it, later and elsewhere,
 * goes on with it.
 */
import type { Deferred } from '../base/deferred.ts';
import { deferred } from '../base/deferred.ts';
import type { StoredValue } from '../codec/thread-codec.ts';
import { BlobBatch, type ThreadCodec } from '../codec/thread-codec.ts';
import { readAnswer, readWait, sealWait } from '../codec/wait-codec.ts';
import type { RecordWrite } from '../model/commit.ts';
import type { WaitId } from '../model/ids.ts';
import type { Wait, WaitAnswer } from '../model/wait.ts';
import { programErrors } from '../program/errors.ts';
import type { Activity } from './activity.ts';
import { describeWait } from './describe-wait.ts';
import { onDemand } from './load-on-demand.ts';

export interface NewWait extends Omit<Wait, 'openedAtMs' | 'expiresAtMs'> {
  readonly expiresInMs: number | null;
}

interface Opening {
  readonly wait: Wait;
  readonly opened: Deferred<void>;
}

/** Commits the snapshot that opens these waits. `check` is called right before, when nothing else can come in between. */
export type OpenWaits = (waits: readonly Wait[], records: readonly RecordWrite[], check: () => void) => Promise<void>;

export interface StepWaitsParts {
  readonly codec: ThreadCodec;
  /** Never settles where the step has ended before: a wait that it opened then would be one of no step. */
  open(waits: readonly Wait[], records: readonly RecordWrite[]): Promise<void>;
  readonly activity: Activity;
  /** True once the node was given up: an answer is then for its next run. */
  isSuspended(): boolean;
  nowMs(): number;
  /** Whether the thread's head says that this wait is open. */
  isListed(id: WaitId): boolean;
  /** Whether a person had gone back or edited, and that is lost in a repair: what was closed then is asked anew. */
  isTravelLost(): boolean;
  /** The name that a recorded tool has in this version of the agent. */
  nowName(recorded: string): string;
  /** Whether a person allowed this tool for the rest of the thread. */
  isGranted(tool: string): boolean;
  /** Answers an open wait with `allow`; whoever answered before has won. */
  allow(wait: Pick<Wait, 'id' | 'digest'>): Promise<void>;
}

export class StepWaits {
  readonly #parts: StepWaitsParts;
  readonly #approvals = new Map<WaitId, NewWait>();
  readonly #codec: ThreadCodec;
  readonly #parked = new Map<WaitId, Deferred<WaitAnswer>>();
  /** Those of the parked whose line has stopped. */
  readonly #paused = new Set<WaitId>();
  readonly #consumed: number[] = [];
  readonly #asked = new Set<WaitId>();
  #queued: Opening[] = [];
  #opening: Promise<void> = Promise.resolve();

  constructor(parts: StepWaitsParts) {
    this.#parts = parts;
    this.#codec = parts.codec;
  }

  /**
   * The answer, at once if there is one. Else the wait is opened, and the line that asked stops until the answer comes or
   * the node is given up.
   *
   * @throws `replay_mismatch`: on record is a wait for another call. `answer_mismatch`: the answer was given for another.
   */
  async answerTo(asked: NewWait): Promise<WaitAnswer> {
    const answer = await this.#answerTo(asked);
    if (answer.decision === 'arrived') this.#consumed.push(answer.order);
    return answer;
  }

  async isKnown(id: WaitId): Promise<boolean> {
    return (await readWait(this.#codec, id)) !== undefined;
  }

  /** The answer on record, also to what was closed and asked anew since; `undefined` while there is none. */
  async recorded(id: WaitId): Promise<WaitAnswer | undefined> {
    const known = await readWait(this.#codec, id);
    const found = known && (await this.#find(known));
    return found?.decision === 'cancelled' ? this.recorded(await this.#idAnew(id)) : found;
  }

  /** The node asked for it on this run, and was given what its answer was recorded as. */
  recall(id: WaitId): void {
    this.#asked.add(id);
  }

  /** Whether the node asked for it on this run. */
  hasAsked(id: WaitId): boolean {
    return this.#asked.has(id);
  }

  /** Orders of the inbox items that were the answers: settled with the step. */
  consumed(): readonly number[] {
    return this.#consumed;
  }

  async #answerTo(asked: NewWait): Promise<WaitAnswer> {
    this.#asked.add(asked.id);
    const known = await readWait(this.#codec, asked.id);
    if (known !== undefined) refuseOtherWait({ ...known, tool: this.#parts.nowName(known.tool) }, asked);
    const found = known && (await this.#find(known));
    if (found?.decision === 'cancelled' && this.#isAskedAnew(asked)) {
      return this.#answerTo({ ...asked, id: await this.#idAnew(asked.id) });
    }
    if (found !== undefined) return found;
    if (known === undefined) await this.#openSoon(asked);
    else if (!this.#parts.isListed(known.id)) await this.#parts.open([known], []); // after a repair: asked before
    // Parked before this look: an answer that came in between is found by it, a later one by `look`.
    const parked = deferred<WaitAnswer>();
    this.#parked.set(asked.id, parked);
    await this.#take(asked.id);
    if (asked.kind === 'approval') this.#approvals.set(asked.id, asked);
    if (this.#parts.isGranted(asked.tool)) await this.grant(asked.tool);
    if (this.#parked.has(asked.id)) {
      this.#paused.add(asked.id);
      this.#parts.activity.pause();
    }
    return parked.promise;
  }

  /**
   * Whether what was closed is a question that nobody has said anything to, in a step that runs again: of a child that ended at
   * its step limit and was extended, about a call that is still to be made or in doubt; of any kind behind a repair.
   */
  #isAskedAnew({ kind }: NewWait): boolean {
    return kind === 'approval' || kind === 'in_doubt' || (kind !== 'child' && this.#parts.isTravelLost());
  }

  async #idAnew(id: WaitId): Promise<WaitId> {
    return (await this.#codec.sealer.hash('wait', id)) as WaitId;
  }

  /** A grant for the thread answers what is asked already, on record, so that nobody can answer it otherwise any more. */
  async grant(tool: string): Promise<void> {
    for (const wait of this.#approvals.values()) {
      if (wait.tool !== tool || !this.#parked.has(wait.id)) continue;
      await this.#parts.allow(wait);
      await this.#take(wait.id);
    }
  }

  /** Looks for answers to what is parked. */
  async look(): Promise<void> {
    for (const id of [...this.#parked.keys()]) await this.#take(id);
  }

  /** Hands the answer over, if there is one and the node still waits for it. */
  async #take(id: WaitId): Promise<void> {
    const found = await readAnswer(this.#codec, id);
    const parked = this.#parked.get(id);
    if (found === undefined || parked === undefined || this.#parts.isSuspended()) return;
    this.#parked.delete(id);
    if (this.#paused.delete(id)) this.#parts.activity.resume();
    parked.resolve(found.answer);
  }

  /** Whether one of the waits that nobody waits for any more has its answer by now. */
  async hasUnseenAnswer(): Promise<boolean> {
    const answers = await Promise.all([...this.#parked.keys()].map((id) => readAnswer(this.#codec, id)));
    return answers.some((answer) => answer !== undefined);
  }

  async #find(wait: Wait): Promise<WaitAnswer | undefined> {
    const found = await readAnswer(this.#codec, wait.id);
    if (found === undefined) return undefined;
    if (found.digest !== wait.digest)
      throw (await onDemand()).rareEngineErrors.make('answer_mismatch', { wait: wait.id, tool: wait.tool });
    return found.answer;
  }

  /** Everything that is asked while the last opening is under way is opened together after it. */
  async #openSoon(asked: NewWait): Promise<void> {
    const { expiresInMs, ...question } = asked;
    const openedAtMs = this.#parts.nowMs();
    const expiresAtMs = expiresInMs === null ? null : openedAtMs + expiresInMs;
    const opening: Opening = { wait: { ...question, openedAtMs, expiresAtMs }, opened: deferred<void>() };
    this.#queued.push(opening);
    this.#opening = this.#opening.then(() => this.#openQueued());
    await opening.opened.promise;
  }

  async #openQueued(): Promise<void> {
    const batch = this.#queued;
    if (batch.length === 0) return;
    this.#queued = [];
    try {
      const blobs = new BlobBatch();
      const records = await Promise.all(batch.map(({ wait }) => this.#seal(wait, blobs)));
      await this.#parts.open(
        batch.map(({ wait }) => wait),
        [...records, ...blobs.writes()],
      );
      for (const { opened } of batch) opened.resolve();
    } catch (error) {
      for (const { opened } of batch) opened.reject(error);
    }
  }

  async #seal(wait: Wait, blobs: BlobBatch): Promise<RecordWrite> {
    const args: StoredValue = await this.#codec.encodeValue(wait.args, 'args', blobs);
    return sealWait(this.#codec, { ...wait, args });
  }
}

function refuseOtherWait(known: Wait, asked: NewWait): void {
  if (known.tool === asked.tool && known.digest === asked.digest && known.kind === asked.kind) return;
  throw programErrors.make('replay_mismatch', {
    step: asked.step,
    recorded: describeWait(known),
    called: describeWait(asked),
  });
}
