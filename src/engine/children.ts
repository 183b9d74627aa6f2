/**
 * Child threads (B2, PROTOCOL 1 and 6). A child's id is made of its parent's step and place, and making it is create-if-absent,
 * so that it is safe to make it again after any crash. The parent waits at a wait slot; the child's last commit and the answer
 * to that wait are one group.
 */

import type { ErrorData } from '../base/errors.ts';
import { randomId } from '../base/random.ts';
import { codecErrors } from '../codec/errors.ts';
import { type InboxItem, sealInboxItem } from '../codec/inbox-codec.ts';
import { newThread } from '../codec/new-thread.ts';
import { BlobBatch, type ThreadCodec } from '../codec/thread-codec.ts';
import { readAnswer, readWait, sealAnswer } from '../codec/wait-codec.ts';
import type { OtherThread } from '../model/commit.ts';
import type { CommitId, ThreadHash, ThreadId } from '../model/ids.ts';
import type { ParentThread } from '../model/parent-thread.ts';
import type { ThreadRow } from '../model/records.ts';
import type { Wait } from '../model/wait.ts';
import type { AnyAgent } from '../program/agent.ts';
import { engineErrors } from './errors.ts';
import { give } from './give.ts';
import type { EngineOptions, EnginePorts } from './ports.ts';

/** What a wait for a child shows. */
export interface ChildArgs {
  readonly thread: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** How a child ended: the answer to its parent's wait. */
export interface ChildOutcome {
  readonly status: 'done' | 'failed' | 'cancelled';
  /** The value fields of its state, for one that is done. */
  readonly state: Readonly<Record<string, unknown>> | null;
  readonly failure: ErrorData | null;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly cost: number };
}

export class Children {
  readonly #ports: EnginePorts;
  readonly #options: EngineOptions;

  constructor(ports: EnginePorts, options: EngineOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  /**
   * Makes the child that this wait is for, and gives it its input, unless that was done before. Its end, if it was deleted: it is not
   * made a second time.
   */
  async start(parent: ThreadCodec, wait: Wait): Promise<ChildOutcome | undefined> {
    const { input } = wait.args as ChildArgs;
    const row = await this.#made(parent, wait);
    if (row === undefined) return deleted;
    const item = { type: 'input', update: input, policy: 'queue', atMs: this.#ports.clock.nowMs() } as const;
    await this.#append(row, inputId(wait), item);
    this.#options.onNews?.(row.thread); // also where it has its input: nobody may be running it any more
  }

  /**
   * Asks the child to stop. One that has no input yet gets none: a runner that stood still may still be about to make it and to
   * send it its input. The place of that is taken, once and for all.
   */
  async cancel(parent: ThreadCodec, wait: Wait): Promise<void> {
    const row = await this.#made(parent, wait);
    if (row === undefined) return;
    const item = { type: 'cancel', atMs: this.#ports.clock.nowMs() } as const;
    await this.#append(row, inputId(wait), item);
    await this.#append(row, `parent-cancel:${wait.id}`, item);
    this.#options.onNews?.(row.thread);
  }

  /** `undefined` for one that was deleted. */
  async #made(parent: ThreadCodec, wait: Wait): Promise<ThreadRow | undefined> {
    const { store } = this.#ports;
    const hash = await this.#hash((wait.args as ChildArgs).thread);
    const known = await store.readThread(hash);
    if (known !== undefined) return known;
    return (await store.readTombstone(hash)) === undefined ? this.#create(parent, wait) : undefined;
  }

  /**
   * Asks this child to stop if its parent went on without it: whoever left it may have died before it could say so.
   */
  async stopIfLeft(child: ThreadCodec, row: ThreadRow): Promise<void> {
    const { store, keyRing } = this.#ports;
    const { parent } = child;
    const isAtWork = row.status === 'running' || row.status === 'waiting' || row.inbox > row.inboxTaken;
    if (parent === null || !isAtWork) return;
    if ((await store.readThread(parent.thread))?.incarnation !== parent.incarnation) return; // deleted: its children live on
    const codec = await keyRing.openThread(parent.thread, parent.incarnation);
    const answered = await readAnswer(codec, parent.wait).catch((error: unknown) => {
      if (!codecErrors.is(error)) throw error; // what does not open says nothing: the parent's own run meets it
    });
    if (answered?.answer.decision !== 'cancelled') return;
    await this.#append(row, `parent-cancel:${parent.wait}`, { type: 'cancel', atMs: this.#ports.clock.nowMs() });
  }

  #hash(id: string): Promise<ThreadHash> {
    return this.#ports.keyRing.threadHash(this.#options.namespace ?? 'default', id as ThreadId);
  }

  async #create(parent: ThreadCodec, wait: Wait): Promise<ThreadRow> {
    const { keyRing, store, random, clock } = this.#ports;
    const { namespace = 'default', owner = 'local', agent } = this.#options;
    const id = (wait.args as ChildArgs).thread as ThreadId;
    const link: ParentThread = {
      thread: parent.thread,
      incarnation: parent.incarnation,
      wait: wait.id,
      ancestors: [...(parent.parent?.ancestors ?? []), agent.name],
    };
    const made = await newThread(keyRing, random, {
      hash: await this.#hash(id),
      id,
      namespace,
      owner,
      agent: wait.tool,
      nowMs: clock.nowMs(),
      parent: link,
    });
    const result = await store.createThread(made.row, made.commit, [made.wrap], [made.condition]);
    if (result.status === 'missing') {
      throw engineErrors.make('lease_lost', { thread: id, reason: 'the key ring changed meanwhile; try again' });
    }
    return result.row;
  }

  async #append(row: ThreadRow, dedupId: string, item: InboxItem): Promise<void> {
    const { thread, incarnation } = row;
    const codec = await this.#ports.keyRing.openThread(thread, incarnation);
    const blobs = new BlobBatch();
    const inbox = await sealInboxItem(codec, dedupId, item, blobs);
    const id = randomId(this.#ports.random) as CommitId;
    await give(this.#ports, {
      id,
      thread,
      incarnation,
      durability: 'strict',
      conditions: blobs.conditions(),
      records: blobs.writes(),
      inbox,
    });
  }
}

/** What is left of a child that somebody deleted. */
const deleted: ChildOutcome = {
  status: 'cancelled',
  state: null,
  failure: null,
  usage: { inputTokens: 0, outputTokens: 0, cost: 0 },
};

function inputId({ id }: Wait): string {
  return `parent:${id}`;
}

/** What a child shows of the state it ends with: the value fields. */
export function childState(
  { state }: AnyAgent,
  endState: Readonly<Record<string, unknown>> | undefined,
): ChildOutcome['state'] {
  const fields = Object.entries(state).filter(([, { kind }]) => kind === 'value');
  return endState === undefined ? null : Object.fromEntries(fields.map(([name]) => [name, endState[name]]));
}

/** What a child's last commit writes to its parent; `undefined` where nobody waits for it any more, or nobody is there. */
export async function answerToParent(
  { store, keyRing, clock }: EnginePorts,
  { thread, incarnation, wait: id }: ParentThread,
  outcome: ChildOutcome,
): Promise<OtherThread | undefined> {
  const row = await store.readThread(thread);
  const isOther =
    row === undefined ? (await store.readTombstone(thread)) !== undefined : row.incarnation !== incarnation;
  if (isOther) return undefined; // deleted; a row that is only lost leaves no tombstone, and its child is blocked
  const parent = await keyRing.openThread(thread, incarnation);
  const wait = await readWait(parent, id);
  if (wait === undefined || (await readAnswer(parent, id)) !== undefined) return undefined;
  const blobs = new BlobBatch();
  const nowMs = clock.nowMs();
  const record = await sealAnswer(parent, wait, { decision: 'ended', value: outcome }, nowMs, blobs);
  return {
    thread,
    incarnation,
    conditions: [{ kind: 'wait_open', wait: id }, ...blobs.conditions()],
    records: [record, ...blobs.writes()],
    row: { wakeUpAtMs: nowMs },
  };
}
