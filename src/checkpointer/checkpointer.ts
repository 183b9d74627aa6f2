/**
 * The public facade of checkpoints (A1), for anyone with a loop of their own: no engine, no agent. Every save is sealed and
 * goes in with its new head in one transaction (I2); it is durable once its promise resolves (I1).
 */
import { randomId } from '../base/random.ts';
import { checkpointInfo, isLogImage, openCheckpoint } from '../codec/checkpoint-codec.ts';
import { type BuiltGroup, buildCheckpoint, type CheckpointPlan, type StateChange } from '../codec/commit-builder.ts';
import { codecErrors } from '../codec/errors.ts';
import { LogView } from '../codec/log-codec.ts';
import { newThread } from '../codec/new-thread.ts';
import { readAgain } from '../codec/read-again.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { openStateImage, openThreadImage, type StateImage, type ThreadImage } from '../codec/thread-image.ts';
import type { CheckpointInfo } from '../model/checkpoint.ts';
import { emptyControl, emptyPosition } from '../model/empty-control.ts';
import type { Fields } from '../model/fields.ts';
import { type CheckpointId, checkpointIdFor, sequenceOf } from '../model/ids.ts';
import type { StoredRecord, ThreadRow } from '../model/records.ts';
import { chooseKind, defaultTiers } from '../model/tiers.ts';
import { checkConflict, checkLimit, checkNames, checkOptions } from './check-options.ts';
import { checkedId } from './checked-id.ts';
import { deleteCheckpoint } from './delete-checkpoint.ts';
import { checkpointerErrors } from './errors.ts';
import type { CheckpointerOptions, CheckpointerParts, SaveOptions } from './options.ts';
import { ownState } from './own-state.ts';
import {
  type Baseline,
  baselineOf,
  changeBetween,
  checkState,
  type PlainState,
  type Remembered,
  storedPart,
} from './remembered.ts';

const maxRebases = 10;

export class Checkpointer<State extends object = Record<string, unknown>> {
  readonly #parts: CheckpointerParts;
  readonly #options: Omit<CheckpointerOptions, 'fields'> & { readonly fields?: Fields };
  readonly #threads = new Map<string, Remembered>();

  constructor(parts: CheckpointerParts, options: CheckpointerOptions<State> = {}) {
    checkOptions(options);
    this.#parts = parts;
    this.#options = options;
  }

  /**
   * Saves the state as the next checkpoint and makes it the head. Its parent is the head that this instance last loaded or saved,
   * none if there is none, unless `parent` says another (PROTOCOL 2). The state is taken as it is when this is called. A log goes on where
   * its list was added to; with an item that was changed, replaced or taken away it is written anew, at the cost of its whole length.
   *
   * @throws `head_moved` (both heads in its details), `value_not_storable` (the path in its details), `state_invalid`,
   * `field_unknown`, `state_not_an_object`, `log_not_a_list`, `option_invalid`: nothing was saved.
   */
  async save(threadId: string, state: State, options: SaveOptions = {}): Promise<CheckpointId> {
    checkNames(options, ['parent', 'onConflict']);
    const { parent, onConflict = 'fail' } = options;
    checkConflict(onConflict);
    const expected = parent === undefined ? (this.#threads.get(threadId)?.image.row.head ?? null) : parent;
    checkState(this.#options.fields, state as PlainState);
    const stored = ownState(storedPart(this.#options.fields, state as PlainState)); // as it is in this moment
    const before = await this.#remembered(threadId, expected);
    if ('moved' in before) throw movedError(threadId, expected, before.moved);
    const { change, baseline } = await changeBetween(before.codec, before.baseline, this.#options.fields, stored);
    const result = await this.#commit(threadId, before, change, baseline);
    if (!('moved' in result)) return result.id;
    // A state that was made from no head, or that rewrote a log, is no change that could be applied again.
    const isChange = expected !== null && change.restart?.size === 0;
    if (onConflict === 'fail' || !isChange) throw movedError(threadId, expected, result.moved);
    return this.#rebase(threadId, expected, change, baseline);
  }

  /** The state at the head; `undefined` if there is no such thread. Later saves go on from it. */
  async load(threadId: string): Promise<State | undefined> {
    const opened = await this.#open(threadId);
    const image = opened && (await this.#image(opened));
    if (opened === undefined || !image?.state) {
      this.#threads.delete(threadId); // deleted elsewhere: the next save makes it anew
      return undefined;
    }
    const values = storedPart(this.#options.fields, await this.#values(opened.codec, image.state));
    const baseline = baselineOf(this.#options.fields, values, image.state);
    // A save of this instance that came meanwhile has a newer head than the one read here.
    const known = this.#threads.get(threadId)?.image.row;
    const isOlder = known?.incarnation === image.row.incarnation && known.sequence > image.row.sequence;
    if (!isOlder) this.#threads.set(threadId, { codec: opened.codec, image, baseline });
    return values as State;
  }

  /** The state at one checkpoint. @throws `checkpoint_unknown`, `record_damaged` */
  async loadCheckpoint(threadId: string, checkpointId: CheckpointId): Promise<State> {
    const opened = await this.#open(threadId);
    if (opened === undefined) throw unknown(threadId, checkpointId);
    await this.#record(opened.codec, threadId, checkpointId);
    const values = await this.#values(opened.codec, await openStateImage(opened.codec, checkpointId));
    return storedPart(this.#options.fields, values) as State;
  }

  /** The checkpoints in commit order; of a long thread the newest `limit` (default 1000). @throws `option_invalid` */
  async list(threadId: string, options: { readonly limit?: number } = {}): Promise<readonly CheckpointInfo[]> {
    checkNames(options, ['limit']);
    const { limit = 1_000 } = options;
    checkLimit(limit);
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
   * @throws `checkpoint_unknown` for an id that is given as `undefined`, `checkpoint_needed` for the head, `checkpoint_pinned` for one that a thread was forked from: nothing was deleted.
   */
  async delete(threadId: string, ...which: [checkpointId?: CheckpointId]): Promise<void> {
    const [checkpointId] = which;
    // An id that went astray, as of a list that is shorter than thought, must not mean the whole thread.
    if (which.length > 0 && checkpointId === undefined) throw unknown(threadId, 'undefined');
    const opened = await this.#open(threadId);
    if (opened === undefined) return;
    const { row, codec } = opened;
    if (checkpointId === undefined) {
      this.#threads.delete(threadId);
      return this.#parts.store.deleteThread(row.thread, row.incarnation, this.#parts.clock.nowMs());
    }
    if (checkpointId === row.head)
      throw checkpointerErrors.make('checkpoint_needed', { thread: threadId, checkpoint: checkpointId });
    await deleteCheckpoint(this.#parts, codec, row, threadId, checkpointId);
  }

  async #commit(
    threadId: string,
    before: Pick<Remembered, 'codec' | 'image'>,
    change: StateChange,
    baseline: Baseline,
  ): Promise<{ id: CheckpointId } | { moved: CheckpointId | null }> {
    const { agent } = before.image.row;
    if (agent !== '') throw checkpointerErrors.make('thread_of_an_agent', { thread: threadId, agent });
    const built = await this.#build(before, change);
    const [result] = await this.#parts.store.commit([built.group]);
    if (result?.status === 'head_moved') return { moved: result.actual };
    if (result?.status !== 'applied') throw checkpointerErrors.make('thread_deleted', { thread: threadId });
    this.#threads.set(threadId, { codec: before.codec, image: built.image, baseline });
    return { id: built.group.id as string as CheckpointId };
  }

  #build({ codec, image }: Pick<Remembered, 'codec' | 'image'>, change: StateChange): Promise<BuiltGroup> {
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

  /**
   * Applies what changed to the newest head, until nobody is in between. The caller's next state is compared with the one it
   * saved, not with the merged one: what others changed is not taken back.
   */
  async #rebase(
    threadId: string,
    expected: CheckpointId,
    change: StateChange,
    baseline: Baseline,
  ): Promise<CheckpointId> {
    let actual: CheckpointId | null = null;
    for (let round = 0; round < maxRebases; round += 1) {
      const opened = await this.#open(threadId);
      if (opened === undefined) throw checkpointerErrors.make('thread_deleted', { thread: threadId });
      const { codec } = opened;
      const image = await this.#image(opened);
      const entries = [...change.set].map(
        async ([name, value]) => [name, await this.#reduced(codec, image, name, value)] as const,
      );
      const set = new Map(await Promise.all(entries));
      const result = await this.#commit(threadId, { codec, image }, { ...change, set }, baseline);
      if (!('moved' in result)) return result.id;
      actual = result.moved;
    }
    throw movedError(threadId, expected, actual);
  }

  /** Others save and delete meanwhile. */
  #image({ codec, row }: { readonly codec: ThreadCodec; readonly row: ThreadRow }): Promise<ThreadImage> {
    return readAgain(this.#parts.store, row, (now) => openThreadImage(codec, now));
  }

  /** The value that the new head gets: yours, or what the field's reducer makes of the head's and yours. */
  async #reduced(codec: ThreadCodec, { state }: ThreadImage, name: string, value: unknown): Promise<unknown> {
    const field = this.#options.fields?.[name];
    const stored = state?.fields.get(name);
    if (field?.kind !== 'value' || !field.reduce || stored === undefined || isLogImage(stored)) return value;
    return field.reduce(await codec.decodeValue(stored), value as never);
  }

  /** The thread at `head`: from memory if that is the one, else from the store; a new thread for none. */
  async #remembered(
    threadId: string,
    head: CheckpointId | null,
  ): Promise<Remembered | { readonly moved: CheckpointId | null }> {
    const known = this.#threads.get(threadId);
    if (head === null) return this.#create(threadId);
    if (known?.image.row.head === head) return known;
    const opened = await this.#open(threadId);
    if (opened === undefined) throw unknown(threadId, head);
    const { codec } = opened;
    await this.#record(codec, threadId, head);
    const image = await this.#image(opened);
    const state = await openStateImage(codec, head);
    const values = storedPart(this.#options.fields, await this.#values(codec, state));
    const baseline = baselineOf(this.#options.fields, values, state);
    return { codec, image: { ...image, row: { ...image.row, head }, state }, baseline };
  }

  async #create(threadId: string): Promise<Remembered | { readonly moved: CheckpointId | null }> {
    const { keyRing, store, random, clock } = this.#parts;
    const { namespace = 'default', owner = 'local' } = this.#options;
    const id = checkedId(threadId);
    const hash = await keyRing.threadHash(namespace, id);
    const made = await newThread(keyRing, random, { hash, id, namespace, owner, agent: '', nowMs: clock.nowMs() });
    const result = await store.createThread(made.row, made.commit, [made.wrap], [made.condition]);
    if (result.status === 'missing') {
      throw codecErrors.make('record_missing', { table: 'wraps', key: 'ring', needed: 'a new thread' });
    }
    this.#refuseOther(threadId, result.row);
    if (result.row.head !== null) return { moved: result.row.head };
    const codec = await keyRing.openThread(hash, result.row.incarnation);
    const image = await openThreadImage(codec, result.row);
    return { codec, image, baseline: { values: {}, stored: new Map(), names: [] } };
  }

  #refuseOther(thread: string, row: ThreadRow | undefined): void {
    const { owner = 'local' } = this.#options;
    if (row !== undefined && row.owner !== owner) throw checkpointerErrors.make('not_owner', { thread, owner });
  }

  async #open(threadId: string): Promise<{ row: ThreadRow; codec: ThreadCodec } | undefined> {
    const { keyRing, store } = this.#parts;
    const hash = await keyRing.threadHash(this.#options.namespace ?? 'default', checkedId(threadId));
    const row = await store.readThread(hash);
    this.#refuseOther(threadId, row);
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

function unknown(thread: string, checkpoint: string) {
  return checkpointerErrors.make('checkpoint_unknown', { thread, checkpoint });
}
