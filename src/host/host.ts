/** The worker's side of the protocol: an engine, and the threads that are run or watched. */
import { errorToData } from '../base/errors.ts';
import { Engine } from '../engine/engine.ts';
import type { EngineOptions, EnginePorts } from '../engine/ports.ts';
import type { HostApi, StreamMessage, ThreadSummary, ThreadView } from '../protocol/host-api.ts';
import { protocolVersion } from '../protocol/host-api.ts';
import { replyOf } from '../protocol/reply.ts';
import { HostedThread } from './hosted-thread.ts';
import { plainState, withFileRefs } from './plain-state.ts';
import type { Hints, Locks } from './ports.ts';

export interface HostParts {
  readonly ports: EnginePorts;
  readonly options: Omit<EngineOptions, 'onFrame'>;
  readonly locks: Locks;
  readonly hints: Hints;
  readonly lifeLock: string | null;
  /** `auto`: threads that were running go on by themselves; `on-request`: on `resume` or new input. */
  readonly resume: 'auto' | 'on-request';
}

export class Host {
  readonly #parts: HostParts;
  readonly #engine: Engine;
  readonly #hosted = new Map<string, HostedThread>();
  readonly #byHash = new Map<string, HostedThread>();

  constructor(parts: HostParts) {
    this.#parts = parts;
    this.#engine = new Engine(parts.ports, {
      ...parts.options,
      onFrame: (id, frame) => this.#hosted.get(id)?.onFrame(frame),
    });
    parts.hints.listen((hash) => {
      void this.#byHash
        .get(hash)
        ?.hinted()
        .catch(() => undefined); // only a hint: whoever needs the thread meets the fault itself
    });
  }

  /** Goes on with every thread that has something to do. */
  async start(): Promise<void> {
    if (this.#parts.resume !== 'auto') return;
    for (const { id, row } of await this.#engine.threads()) {
      const hasWork = row.status === 'running' || row.status === 'waiting' || row.inbox > row.inboxTaken;
      if (id !== undefined && hasWork) (await this.#thread(id)).kick();
    }
  }

  /** The functions that a page may call. */
  api(): HostApi {
    const { options, lifeLock } = this.#parts;
    const { agent } = options;
    const hello = { protocol: protocolVersion, agent: agent.name, version: agent.version, lifeLock };
    return {
      hello: () => replyOf(() => hello),
      threads: () => replyOf(() => this.#threads()),
      send: (id, update, dedupId) =>
        replyOf(async () => {
          const thread = await this.#thread(id);
          await thread.engineThread.send((await withFileRefs(update)) as object, dedupId);
          thread.kick();
        }),
      cancel: (id, dedupId) =>
        replyOf(async () => {
          const thread = await this.#thread(id);
          await thread.engineThread.cancel(dedupId);
          thread.kick();
        }),
      answer: (id, wait, digest, answer) =>
        replyOf(async () => {
          const thread = await this.#thread(id);
          await thread.engineThread.answer(wait, digest, answer);
          thread.kick();
        }),
      view: (id) => replyOf(async () => this.#viewOf(id)),
      state: (id, checkpoint) =>
        replyOf(async () => {
          const state = await this.#engine.thread(id).state(checkpoint ?? undefined);
          const secrets = Object.entries(agent.state).filter(([, { kind }]) => kind === 'secret');
          return plainState(state, new Set(secrets.map(([name]) => name)));
        }),
      checkpoints: (id, query) => replyOf(() => this.#engine.thread(id).checkpoints(query)),
      effects: (id) => replyOf(() => this.#engine.thread(id).effects()),
      watch: (id, port) => replyOf(() => this.#watch(id, port)),
      resume: (id) => replyOf(async () => (await this.#thread(id)).kick()),
      close: () => replyOf(() => this.close()),
    };
  }

  async close(): Promise<void> {
    this.#parts.hints.close();
    await Promise.all([...this.#hosted.values()].map((thread) => thread.close()));
    await this.#parts.ports.store.close();
  }

  async #viewOf(id: string): Promise<ThreadView | null> {
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
      hint: (hash) => hints.post(hash),
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
