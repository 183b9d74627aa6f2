/** How one thread is reached: whose it is, its keys, and what comes to it from outside. */
import { randomId } from '../base/random.ts';
import { textProblem } from '../base/text.ts';
import { type InboxItem, sealInboxItem } from '../codec/inbox-codec.ts';
import { readAgain, readWhole } from '../codec/read-again.ts';
import type { Need } from '../codec/shares.ts';
import { BlobBatch, type ThreadCodec } from '../codec/thread-codec.ts';
import { openThreadImage } from '../codec/thread-image.ts';
import type { CommitGroup, Condition, GroupResult } from '../model/commit.ts';
import type { Frame } from '../model/frame.ts';
import type { CommitId, ThreadHash, ThreadId } from '../model/ids.ts';
import { endStatuses, type ThreadRow } from '../model/records.ts';
import type { AnyAgent } from '../program/agent.ts';
import { secretsOf } from './check-options.ts';
import { createThread } from './create-thread.ts';
import { engineErrors } from './errors.ts';
import { give } from './give.ts';
import { onDemand } from './load-on-demand.ts';
import type { EngineOptions, RunPorts } from './ports.ts';
import { withoutSecrets } from './without-secrets.ts';

/** Whoever sends or answers is told within this time that the store does not take it, and may ask again. */
const answerWithinMs = 5_000;

export interface OpenThread {
  readonly row: ThreadRow;
  readonly codec: ThreadCodec;
}

export interface ThreadParts {
  readonly ports: RunPorts;
  readonly options: EngineOptions;
  /** The engine's agent and those that it starts, by name. */
  readonly agents: ReadonlyMap<string, AnyAgent>;
  readonly id: ThreadId;
  readonly emit: (frame: Frame) => void;
}

export class ThreadAccess {
  readonly id: ThreadId;
  protected readonly ports: RunPorts;
  protected readonly emit: (frame: Frame) => void;
  readonly #agents: ReadonlyMap<string, AnyAgent>;
  #options: EngineOptions;
  #codec: ThreadCodec | undefined;
  #hash: ThreadHash | undefined;

  constructor({ ports, options, agents, id, emit }: ThreadParts) {
    this.#agents = agents;
    this.ports = ports;
    this.#options = options;
    this.id = id;
    this.emit = ThreadAccess.#masked(this, emit);
  }

  static #masked(thread: ThreadAccess, emit: ThreadParts['emit']): ThreadParts['emit'] {
    return (frame) => emit(withoutSecrets(frame, thread.#codec));
  }

  /** With the agent that the thread belongs to, once it was opened. */
  protected get options(): EngineOptions {
    return this.#options;
  }

  /** The codec, once the thread was opened. */
  protected get codec(): ThreadCodec | undefined {
    return this.#codec;
  }

  /** How the store knows this thread. */
  async hash(): Promise<ThreadHash> {
    this.#hash ??= await this.ports.keyRing.threadHash(this.#options.namespace ?? 'default', this.id);
    return this.#hash;
  }

  /** The row, or `undefined` while there is no thread. */
  async row(): Promise<ThreadRow | undefined> {
    return (await this.open())?.row;
  }

  /** @throws `thread_unknown` and as `open` */
  protected async opened(need: Need = 'read'): Promise<OpenThread> {
    const opened = await this.open(need);
    if (opened === undefined) throw engineErrors.make('thread_unknown', { thread: this.id });
    return opened;
  }

  /** Reads what may be read without a lease; `undefined` while there is no thread. @throws as `open` */
  protected async read<Result>(work: (opened: OpenThread) => Promise<Result>): Promise<Result | undefined> {
    return this.#read(readAgain, work);
  }

  /** The same for lists, in which what was collected meanwhile leaves no hole. @throws as `open` */
  protected async readWhole<Result>(work: (opened: OpenThread) => Promise<Result>): Promise<Result | undefined> {
    return this.#read(readWhole, work);
  }

  async #read<Result>(
    how: typeof readAgain,
    work: (opened: OpenThread) => Promise<Result>,
  ): Promise<Result | undefined> {
    const opened = await this.open();
    if (opened === undefined) return undefined;
    const { row, codec } = opened;
    return how(this.ports.store, row, (now) => work({ row: now, codec }));
  }

  /** @throws `thread_of_another_agent`, `not_owner`, `key_missing` */
  protected async open(need: Need = 'read'): Promise<OpenThread | undefined> {
    const { store, keyRing } = this.ports;
    const hash = await this.hash();
    // At once: whoever opens a thread for the first time waits for one answer of the store, not for two.
    const [row, wraps] = await Promise.all([
      store.readThread(hash),
      this.#codec === undefined ? keyRing.wrapsOf(hash) : [],
    ]);
    if (row === undefined) return undefined;
    const agent = this.#agents.get(row.agent);
    if (agent === undefined) {
      const expected = this.#options.agent.name;
      const { rareEngineErrors } = await onDemand();
      throw rareEngineErrors.make('thread_of_another_agent', { thread: this.id, agent: row.agent, expected });
    }
    if (this.#codec?.incarnation !== row.incarnation) {
      const codec = await keyRing.openThread(row.thread, row.incarnation, wraps);
      for (const secret of secretsOf(this.#options)) codec.secrets.add(secret);
      this.#codec = codec;
    }
    const codec = this.#codec;
    const { owner: asker = 'local' } = this.#options;
    if (codec.owner !== asker && !(await (await onDemand()).isSharedWith(codec, asker, need))) {
      throw (await onDemand()).rareEngineErrors.make('not_owner', { thread: this.id, owner: asker, needs: need });
    }
    this.#options = { ...this.#options, agent: await this.#versionOf(agent, row, codec) };
    return { row, codec };
  }

  /** A thread of an agent that keeps its earlier versions stays with the one that began it. */
  async #versionOf(agent: AnyAgent, row: ThreadRow, codec: ThreadCodec): Promise<AnyAgent> {
    if (agent.earlier === undefined || row.head === null) return agent;
    const { versionFor } = await onDemand();
    const { state } = await readAgain(this.ports.store, row, (now) => openThreadImage(codec, now));
    return versionFor(agent, state?.checkpoint.agentVersion);
  }

  protected async create(): Promise<OpenThread> {
    await createThread(this.ports, this.#options, this.id, await this.hash());
    return this.opened('write');
  }

  /** @throws `dedup_id_invalid` */
  protected async checkId(dedupId: unknown): Promise<void> {
    if (typeof dedupId !== 'string' || dedupId === '' || textProblem(dedupId))
      throw (await onDemand()).dedupIdInvalid(this.id, dedupId);
  }

  /** Keeps an inbox item; `false` if one of the conditions failed. @throws `thread_unknown`, `value_not_storable`, `id_taken` */
  protected async append(
    opened: OpenThread,
    dedupId: string,
    item: InboxItem,
    conditions: readonly Condition[] = [],
  ): Promise<boolean> {
    await this.checkId(dedupId);
    const { row, codec } = opened;
    const blobs = new BlobBatch({ mayReuse: false });
    const inbox = await sealInboxItem(codec, dedupId, item, blobs);
    const all = [...conditions, ...blobs.conditions()];
    const result = await this.give(row, { conditions: all, records: blobs.writes(), inbox });
    if (result.status === 'head_moved' || result.status === 'inbox_moved') return false;
    if (result.status !== 'applied') throw engineErrors.make('thread_unknown', { thread: this.id });
    const { order = 0 } = result;
    if (order > 0 && order <= row.inbox) {
      const { refuseOtherItem } = await onDemand(); // the store knew the id already
      await refuseOtherItem(codec, order, { thread: this.id, dedupId, item });
    }
    return true;
  }

  /** Keeps the input unless a run is under way; `false` if that could not be told. @throws `thread_busy` */
  protected async appendIfFree(opened: OpenThread, dedupId: string, item: InboxItem): Promise<boolean> {
    const { row, codec } = opened;
    const isKnown = (await codec.source.get('inbox', codec.thread, `id:${dedupId}`)) !== undefined;
    const isBusy = row.status !== 'idle' && !endStatuses.includes(row.status);
    if (!isKnown && (isBusy || row.inbox > row.inboxTaken)) {
      throw (await onDemand()).rareEngineErrors.make('thread_busy', { thread: this.id, status: row.status });
    }
    const conditions = [
      { kind: 'head', is: row.head },
      { kind: 'inbox', is: row.inbox },
    ] as const;
    return this.append(opened, dedupId, item, conditions);
  }

  /** Commits what came from outside. */
  protected give(
    { thread, incarnation }: ThreadRow,
    what: Pick<CommitGroup, 'conditions' | 'records' | 'inbox'>,
  ): Promise<GroupResult> {
    const id = randomId(this.ports.random) as CommitId;
    return give(this.ports, { id, thread, incarnation, durability: 'strict', ...what }, answerWithinMs);
  }
}
