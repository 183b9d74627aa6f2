/** The worker's side of the protocol: an engine, and the threads that are run or watched. */
import { errorToData } from '../base/errors.ts';
import { Engine } from '../engine/engine.ts';
import { engineErrors } from '../engine/errors.ts';
import { defaultMaxResumes } from '../engine/limits.ts';
import type { EngineOptions, EnginePorts } from '../engine/ports.ts';
import type { CheckpointId, ThreadHash } from '../model/ids.ts';
import type { HostMethods, StreamMessage, ThreadSummary, ThreadView } from '../protocol/host-api.ts';
import { protocolVersion } from '../protocol/host-api.ts';
import { storeErrors } from '../store/errors.ts';
import { HostedThread } from './hosted-thread.ts';
import { purgeFromTimeToTime } from './housekeeping.ts';
import { plainState, withFileRefs } from './plain-state.ts';
import type { Hints, Locks } from './ports.ts';
import { hasWork } from './row-work.ts';
import { isSuspect, openOneByOne } from './suspects.ts';

export interface HostParts {
  readonly ports: EnginePorts;
  readonly options: Omit<EngineOptions, 'onFrame'>;
  readonly locks: Locks;
  readonly hints: Hints;
  readonly lifeLock: string;
  /** `auto`: threads that were running go on by themselves; `on-request`: on `resume` or new input. */
  readonly resume: 'auto' | 'on-request';
}

/** How long a store that could not be read is left alone. */
const newsRestMs = 5_000;

export class Host {
  readonly #parts: HostParts;
  readonly #engine: Engine;
  readonly #hosted = new Map<string, HostedThread>();
  readonly #byHash = new Map<string, HostedThread>();
  readonly #closing = new AbortController();
  #isTakingUp = false;
  /** Those that are opened alone, or are going to be. */
  readonly #suspects = new Set<HostedThread>();
  #opening: Promise<void> = Promise.resolve();

  constructor(parts: HostParts) {
    this.#parts = parts;
    this.#engine = new Engine(parts.ports, {
      ...parts.options,
      onFrame: (id, frame) => this.#hosted.get(id)?.onFrame(frame),
      onNews: (hash) => {
        parts.hints.post(hash);
        void this.#hasNews(hash).catch(() => undefined); // closing: whoever starts next looks at every thread with work
      },
    });
    parts.hints.listen((hash) => {
      void this.#hinted(hash).catch(() => undefined); // only a hint: whoever needs the thread meets the fault itself
    });
  }

  /** Goes on with every thread that has something to do: with suspects one after the other, in their own time (PROTOCOL 5). */
  async start(): Promise<void> {
    if (this.#retains) void this.#purge();
    if (this.#parts.resume === 'auto') await this.#takeUp();
  }

  /** Threads that have something to do, and are not known here yet. A worker that died may have told nobody of them. */
  async #takeUp(): Promise<void> {
    const { maxResumes = defaultMaxResumes } = this.#parts.options;
    const suspects: HostedThread[] = [];
    for (const { id, row } of await this.#engine.threads(Infinity, { children: true })) {
      if (this.#closing.signal.aborted) return;
      if (id === undefined || !hasWork(row)) continue;
      const known = this.#hosted.get(id);
      const thread = known ?? (await this.#thread(id));
      if (this.#suspects.has(thread)) continue;
      if (isSuspect(row, maxResumes)) suspects.push(thread);
      else if (known === undefined) thread.kick();
      else void known.hinted().catch(() => undefined); // as where a hint is heard
    }
    void this.#openAlone(suspects);
  }

  /** Behind those that wait for it already. */
  async #openAlone(suspects: readonly HostedThread[]): Promise<void> {
    for (const suspect of suspects) this.#suspects.add(suspect);
    const before = this.#opening;
    this.#opening = before.then(() => openOneByOne(suspects, () => this.#closing.signal.aborted));
    await this.#opening;
    for (const suspect of suspects) this.#suspects.delete(suspect);
  }

  /** Of many threads that are taken over together, the first one leads to all. */
  #tookOver(): void {
    if (this.#isTakingUp) return;
    this.#isTakingUp = true;
    void this.#takeUp()
      .catch(() => undefined) // whoever starts next looks again
      .finally(() => {
        this.#isTakingUp = false;
      });
  }

  get #retains(): boolean {
    return this.#parts.options.retention !== undefined;
  }

  #purge(): Promise<void> {
    const { hints, ports } = this.#parts;
    return purgeFromTimeToTime(this.#engine, ports.clock, this.#closing.signal, (hash) => {
      hints.post(hash);
      void this.#byHash
        .get(hash)
        ?.purged()
        .catch(() => undefined); // the next view shows it
    });
  }

  /** Something that any thread may wait for has changed: the network is back. */
  kickAll(): void {
    for (const thread of this.#hosted.values()) thread.kick();
  }

  /** The functions that a page may call. */
  methods(): HostMethods {
    const { options, lifeLock } = this.#parts;
    const { agent } = options;
    const thread = (id: string) => this.#engine.thread(id);
    const secrets = new Set(Object.keys(agent.state).filter((name) => agent.state[name]?.kind === 'secret'));
    return {
      hello: () => ({ protocol: protocolVersion, agent: agent.name, version: agent.version, lifeLock }),
      threads: () => this.#threads(),
      send: async (id, update, dedupId, policy) => {
        const given = (await withFileRefs(update)) as object;
        await this.#then(id, ({ engineThread }) => engineThread.send(given, dedupId, policy));
      },
      signal: async (id, event, value, dedupId) => {
        const given = await withFileRefs(value);
        await this.#then(id, ({ engineThread }) => engineThread.signal(event, given, dedupId));
      },
      extend: (id, limits, dedupId) => this.#then(id, ({ engineThread }) => engineThread.extend(limits, dedupId)),
      cancel: (id, dedupId) => this.#then(id, ({ engineThread }) => engineThread.cancel(dedupId)),
      answer: (id, wait, digest, answer) =>
        this.#then(id, ({ engineThread }) => engineThread.answer(wait, digest, answer)),
      view: (id) => this.#view(id),
      state: async (id, checkpoint) => plainState(await thread(id).state(checkpoint ?? undefined), secrets),
      inspect: async (id, checkpoint) => {
        const { info, state, events, forks } = await thread(id).inspect(checkpoint);
        return {
          info,
          state: await plainState(state, secrets),
          events,
          forks: forks.map((fork) => fork?.thread ?? null),
        };
      },
      diff: (id, before, after) => thread(id).diff(before as CheckpointId, after as CheckpointId),
      rollBack: (id, checkpoint, back) => this.#then(id, ({ engineThread }) => engineThread.rollBack(checkpoint, back)),
      edit: async (id, update, back) => {
        const given = (await withFileRefs(update)) as object;
        return this.#then(id, ({ engineThread }) => engineThread.edit(given, back));
      },
      fork: async (id, checkpoint, to, options) => {
        await thread(id).fork(checkpoint, { ...options, id: to });
        (await this.#thread(to)).kick();
      },
      events: (id, query) => thread(id).events(query),
      exportLog: async (id) => {
        let text = '';
        for await (const line of thread(id).exportLog()) text += line;
        return text;
      },
      checkpoints: (id, query) => thread(id).checkpoints(query),
      effects: (id) => thread(id).effects(),
      watch: (id, port) => this.#watch(id, port),
      resume: (id) => this.#then(id, () => undefined),
      close: () => this.close(),
    };
  }

  async #hinted(hash: string): Promise<void> {
    const thread = await this.#known(hash);
    if (!this.#closing.signal.aborted) await thread?.hinted();
  }

  /** A child that was made, or a parent whose child has ended: nobody else tells of it, so that the store is asked until it answers. */
  async #hasNews(hash: string): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        const thread = await this.#known(hash);
        if (!signal.aborted) thread?.kick();
        return;
      } catch {
        await this.#parts.ports.clock.sleep(newsRestMs, signal);
      }
    }
  }

  async #known(hash: string): Promise<HostedThread | undefined> {
    const hosted = this.#byHash.get(hash);
    if (hosted !== undefined) return hosted;
    const id = await this.#engine.idOf(hash as ThreadHash);
    return id === undefined ? undefined : this.#thread(id);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#hosted.values()].map((thread) => thread.close()));
    this.#parts.hints.close();
    await this.#parts.ports.store.close();
  }

  /** Does it, and lets the thread run if that gave it something to do: here, or where it runs already. */
  async #then<Result>(id: string, work: (thread: HostedThread) => Promise<Result> | Result): Promise<Result> {
    const thread = await this.#thread(id);
    let result: Result;
    try {
      result = await work(thread);
    } catch (error) {
      // What was asked may be on record all the same; and a wait whose time is over may be the last.
      if (storeErrors.is(error) || engineErrors.is(error, 'wait_closed')) thread.kick();
      throw error;
    }
    thread.hint();
    thread.kick();
    return result;
  }

  async #view(id: string): Promise<ThreadView | null> {
    const thread = await this.#thread(id);
    return (await thread.engineThread.row()) === undefined ? null : thread.view();
  }

  async #watch(id: string, port: MessagePort): Promise<void> {
    const thread = await this.#thread(id);
    const stop = await thread.watch((message: StreamMessage) => port.postMessage(message));
    port.onmessage = () => {
      stop();
      port.close();
    };
  }

  async #thread(id: string): Promise<HostedThread> {
    const known = this.#hosted.get(id);
    if (known !== undefined) return known;
    const { ports, locks, hints } = this.#parts;
    const thread = new HostedThread({
      thread: this.#engine.thread(id),
      locks,
      clock: ports.clock,
      database: ports.store.name,
      takesOver: this.#parts.resume === 'auto',
      compacts: this.#retains,
      hint: (hash) => hints.post(hash),
      tookOver: () => this.#tookOver(),
    });
    const hash = await thread.engineThread.hash();
    const first = this.#hosted.get(id);
    if (first !== undefined) return first; // made while the hash was computed
    this.#hosted.set(id, thread);
    this.#byHash.set(hash, thread);
    return thread;
  }

  async #threads(): Promise<readonly ThreadSummary[]> {
    const entries = await this.#engine.threads();
    return entries.map(({ id, row, error }) => ({
      id: id ?? null,
      status: row.status,
      createdAtMs: row.createdAtMs,
      updatedAtMs: row.updatedAtMs,
      error: error === undefined ? null : errorToData(error),
    }));
  }
}
