/**
 * The public facade of checkpoints (A1), for anyone with a loop of their own: no engine, no agent. Every save is sealed and
 * goes in with its new head in one transaction (I2); it is durable once its promise resolves (I1).
 */
import type { Clock } from '../base/clock.ts';
import { type Random, randomId } from '../base/random.ts';
import { checkpointInfo, isLogImage, openCheckpoint, sealBase } from '../codec/checkpoint-codec.ts';
import { type BuiltGroup, buildCheckpoint, type CheckpointPlan, type StateChange } from '../codec/commit-builder.ts';
import { codecErrors } from '../codec/errors.ts';
import type { KeyRing } from '../codec/key-ring.ts';
import { LogView } from '../codec/log-codec.ts';
import { newThread } from '../codec/new-thread.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { openStateImage, openThreadImage, type StateImage } from '../codec/thread-image.ts';
import type { CheckpointInfo } from '../model/checkpoint.ts';
import { emptyControl, emptyPosition } from '../model/empty-control.ts';
import type { Fields } from '../model/fields.ts';
import {
  type CheckpointId,
  type CommitId,
  checkpointIdFor,
  sequenceOf,
  type ThreadId,
  threadIdProblem,
} from '../model/ids.ts';
import type { StoredRecord, ThreadRow } from '../model/records.ts';
import { chooseKind, defaultTiers, type TierPolicy } from '../model/tiers.ts';
import type { Store } from '../store/store.ts';
import { checkpointerErrors } from './errors.ts';
import { changeBetween, type PlainState, type Remembered, storedPart } from './remembered.ts';

export interface CheckpointerParts {
  readonly store: Store;
  readonly keyRing: KeyRing;
  readonly clock: Clock;
  readonly random: Random;
}

export interface CheckpointerOptions {
  /** Which fields of the state are stored, and how; without it every field is, as a value. */
  readonly fields?: Fields;
  readonly namespace?: string;
  readonly owner?: string;
  readonly tiers?: Partial<TierPolicy>;
}

export interface SaveOptions {
  /** The head this state was made from. Default: the one that this checkpointer last loaded or saved; none at first. */
  readonly parent?: CheckpointId | null;
  /** `rebase`: what changed is applied again to the new head, through the fields' reducers. Default `fail`. */
  readonly onConflict?: 'fail' | 'rebase';
}

const maxRebases = 10;

export class Checkpointer<State extends object = Record<string, unknown>> {
  readonly #parts: CheckpointerParts;
  readonly #options: CheckpointerOptions;
  readonly #threads = new Map<string, Remembered>();

  constructor(parts: CheckpointerParts, options: CheckpointerOptions = {}) {
    this.#parts = parts;
    this.#options = options;
  }

  /**
   * Saves the state as the next checkpoint and makes it the head.
   *
   * @throws `head_moved` (both heads in its details), `value_not_storable` (the path in its details): nothing was saved.
   */
  async save(threadId: string, state: State, { parent, onConflict = 'fail' }: SaveOptions = {}): Promise<CheckpointId> {
    const known = this.#threads.get(threadId);
    const expected = parent === undefined ? (known?.image.row.head ?? null) : parent;
    const stored = storedPart(this.#options.fields, state as PlainState);
    const base = await this.#remembered(threadId, expected);
    const change = await changeBetween(base, this.#options.fields, stored);
    const result = await this.#commit(threadId, base, change, stored);
    if (!('moved' in result)) return result.id;
    if (onConflict === 'fail') throw movedError(threadId, expected, result.moved);
    return this.#rebase(threadId, expected, change);
  }

  /** The state at the head; `undefined` if there is no such thread. Later saves go on from it. */
  async load(threadId: string): Promise<State | undefined> {
    const opened = await this.#open(threadId);
    if (opened === undefined) return undefined;
    const image = await openThreadImage(opened.codec, opened.row);
    if (image.state === null) return undefined;
    const values = await this.#values(opened.codec, image.state);
    this.#threads.set(threadId, { codec: opened.codec, image, values: storedPart(this.#options.fields, values) });
    return values as State;
  }

  /** The state at one checkpoint. @throws `checkpoint_unknown`, `record_damaged` */
  async loadCheckpoint(threadId: string, checkpointId: CheckpointId): Promise<State> {
    const opened = await this.#open(threadId);
    if (opened === undefined) throw unknown(threadId, checkpointId);
    await this.#record(opened.codec, threadId, checkpointId);
    return (await this.#values(opened.codec, await openStateImage(opened.codec, checkpointId))) as State;
  }

  /** The checkpoints in commit order; of a long thread the newest `limit` (default 1000). */
  async list(
    threadId: string,
    { limit = 1_000 }: { readonly limit?: number } = {},
  ): Promise<readonly CheckpointInfo[]> {
    const opened = await this.#open(threadId);
    if (opened === undefined) return [];
    const { codec } = opened;
    const records = await codec.source.range('checkpoints', codec.thread, { reverse: true, limit });
    const checkpoints = records.filter(({ key }) => sequenceOf(key) !== undefined).reverse();
    return Promise.all(checkpoints.map(async (record) => checkpointInfo(await openCheckpoint(codec, record))));
  }

  /**
   * Deletes the thread with everything in it, its key first; or one checkpoint, after its children were made independent of
   * it. What does not exist is deleted already.
   *
   * @throws `checkpoint_needed` for the head: nothing was deleted.
   */
  async delete(threadId: string, checkpointId?: CheckpointId): Promise<void> {
    const opened = await this.#open(threadId);
    if (opened === undefined) return;
    const { row, codec } = opened;
    if (checkpointId === undefined) {
      this.#threads.delete(threadId);
      return this.#parts.store.deleteThread(row.thread, row.incarnation, this.#parts.clock.nowMs());
    }
    if (checkpointId === row.head)
      throw checkpointerErrors.make('checkpoint_needed', { thread: threadId, checkpoint: checkpointId });
    const later = await codec.source.range('checkpoints', codec.thread, { from: checkpointId });
    for (const child of later.filter(({ plain }) => plain.parent === checkpointId && plain.kind === 'delta')) {
      await this.#makeIndependent(codec, row, child);
    }
    const keys = later
      .filter(({ key }) => key.startsWith(checkpointId))
      .map(({ key }) => ({ table: 'checkpoints', key }) as const);
    await this.#parts.store.deleteRecords(row.thread, row.incarnation, row.epoch, keys);
  }

  async #makeIndependent(codec: ThreadCodec, row: ThreadRow, child: StoredRecord): Promise<void> {
    const { checkpoint, fields } = await openStateImage(codec, child.key as CheckpointId);
    const record = await sealBase(codec, checkpoint, fields);
    const [result] = await this.#parts.store.commit([
      {
        id: randomId(this.#parts.random) as CommitId,
        thread: row.thread,
        incarnation: row.incarnation,
        durability: 'strict',
        conditions: [{ kind: 'present', table: 'checkpoints', key: child.key }],
        records: [record],
      },
    ]);
    if (result?.status !== 'applied') throw unknown(child.key, child.key);
  }

  async #commit(
    threadId: string,
    base: Remembered | undefined,
    change: StateChange,
    values: PlainState,
  ): Promise<{ id: CheckpointId } | { moved: CheckpointId | null }> {
    const before = base ?? (await this.#create(threadId));
    if ('moved' in before) return before;
    const { agent } = before.image.row;
    if (agent !== '') throw checkpointerErrors.make('thread_of_an_agent', { thread: threadId, agent });
    const built = await this.#build(before, change);
    const [result] = await this.#parts.store.commit([built.group]);
    if (result?.status === 'head_moved') return { moved: result.actual };
    if (result?.status !== 'applied') throw checkpointerErrors.make('thread_deleted', { thread: threadId });
    this.#threads.set(threadId, { codec: before.codec, image: built.image, values });
    return { id: built.group.id as string as CheckpointId };
  }

  #build({ codec, image }: Remembered, change: StateChange): Promise<BuiltGroup> {
    const { clock, random } = this.#parts;
    const nowMs = clock.nowMs();
    const { row, state, control } = image;
    const stepsSince = (state?.sinceBase ?? 0) + 1;
    const policy = { ...defaultTiers, ...this.#options.tiers };
    const question = {
      heavy: state === null,
      stepsSince,
      msSince: nowMs - (state?.baseAtMs ?? nowMs),
      stepMs: 0,
      stepTokens: 0,
    };
    const lastSpan = [...(state?.fields.values() ?? [])].flatMap((field) =>
      isLogImage(field) ? field.spans.slice(-1) : [],
    );
    const goesOn = (change.restart?.size ?? 0) === 0;
    const plan: CheckpointPlan = {
      id: checkpointIdFor(row.sequence + 1, random),
      kind: chooseKind(policy, question),
      cause: 'saved',
      change,
      position: state?.checkpoint.position ?? emptyPosition,
      control: emptyControl(row, control.ledgerDigest),
      agent: '',
      agentVersion: 0,
      stateVersion: 1,
      atMs: nowMs,
      span: (goesOn ? lastSpan[0]?.span : undefined) ?? randomId(random, 6),
      events: [{ type: 'saved', atMs: nowMs, details: {} }],
      durability: 'strict',
    };
    return buildCheckpoint(codec, image, plan);
  }

  /** Applies what changed to the newest head, until nobody is in between. */
  async #rebase(threadId: string, expected: CheckpointId | null, change: StateChange): Promise<CheckpointId> {
    let actual: CheckpointId | null = null;
    for (let round = 0; round < maxRebases; round += 1) {
      const current = await this.load(threadId);
      const base = this.#threads.get(threadId);
      if (current === undefined || base === undefined)
        throw checkpointerErrors.make('thread_deleted', { thread: threadId });
      const set = new Map(
        [...change.set].map(([name, value]) => [name, this.#reduced(name, base.values[name], value)]),
      );
      const append = new Map(change.append);
      const values: Record<string, unknown> = { ...base.values, ...Object.fromEntries(set) };
      for (const [name, items] of append)
        values[name] = [...((values[name] as readonly unknown[] | undefined) ?? []), ...items];
      for (const name of change.remove) delete values[name];
      const result = await this.#commit(threadId, base, { set, append, remove: change.remove }, values);
      if (!('moved' in result)) return result.id;
      actual = result.moved;
    }
    throw movedError(threadId, expected, actual);
  }

  #reduced(name: string, current: unknown, update: unknown): unknown {
    const field = this.#options.fields?.[name];
    return field?.kind === 'value' && field.reduce ? field.reduce(current, update as never) : update;
  }

  /** The thread at `head`: from memory if that is the one, else from the store. */
  async #remembered(threadId: string, head: CheckpointId | null): Promise<Remembered | undefined> {
    const known = this.#threads.get(threadId);
    if (known?.image.row.head === head) return known;
    if (head === null) return undefined;
    const opened = await this.#open(threadId);
    if (opened === undefined) throw unknown(threadId, head);
    const { row, codec } = opened;
    if (row.head === head) await this.load(threadId);
    else {
      await this.#record(codec, threadId, head);
      const image = await openThreadImage(codec, row);
      const state = await openStateImage(codec, head);
      const values = storedPart(this.#options.fields, await this.#values(codec, state));
      return { codec, image: { ...image, row: { ...row, head }, state }, values };
    }
    return this.#threads.get(threadId);
  }

  async #create(threadId: string): Promise<Remembered | { moved: CheckpointId | null }> {
    const { keyRing, store, random, clock } = this.#parts;
    const { namespace = 'default', owner = 'local' } = this.#options;
    const id = checkedId(threadId);
    const hash = await keyRing.threadHash(namespace, id);
    const made = await newThread(keyRing, random, { hash, id, namespace, owner, agent: '', nowMs: clock.nowMs() });
    const result = await store.createThread(made.row, made.commit, [made.wrap], [made.condition]);
    if (result.status === 'missing') {
      throw codecErrors.make('record_missing', { table: 'wraps', key: 'ring', needed: 'a new thread' });
    }
    if (result.row.head !== null) return { moved: result.row.head };
    const codec = await keyRing.openThread(hash, result.row.incarnation);
    return { codec, image: await openThreadImage(codec, result.row), values: {} };
  }

  async #open(threadId: string): Promise<{ row: ThreadRow; codec: ThreadCodec } | undefined> {
    const { keyRing, store } = this.#parts;
    const hash = await keyRing.threadHash(this.#options.namespace ?? 'default', checkedId(threadId));
    const row = await store.readThread(hash);
    return row && { row, codec: await keyRing.openThread(hash, row.incarnation) };
  }

  async #record(codec: ThreadCodec, threadId: string, id: CheckpointId): Promise<StoredRecord> {
    const record = sequenceOf(id) === undefined ? undefined : await codec.source.get('checkpoints', codec.thread, id);
    if (record === undefined) throw unknown(threadId, id);
    return record;
  }

  async #values(codec: ThreadCodec, { fields }: StateImage): Promise<PlainState> {
    const values = await Promise.all(
      [...fields].map(async ([name, image]) => {
        if (!isLogImage(image)) return [name, await codec.decodeValue(image)] as const;
        return [name, await new LogView(codec, name, image).slice(0)] as const;
      }),
    );
    return Object.fromEntries(values);
  }
}

function movedError(thread: string, expected: CheckpointId | null, actual: CheckpointId | null) {
  return checkpointerErrors.make('head_moved', { thread, expected, actual });
}

function checkedId(id: string): ThreadId {
  const problem = threadIdProblem(id);
  if (problem !== undefined) throw checkpointerErrors.make('thread_id_invalid', { problem });
  return id as ThreadId;
}

function unknown(thread: string, checkpoint: string) {
  return checkpointerErrors.make('checkpoint_unknown', { thread, checkpoint });
}
