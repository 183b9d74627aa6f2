/** Hosts as several workers on one database have them: locks and hints of one browser, engines of their own. */
import { Engine } from '../../src/engine/engine.ts';
import type { EngineOptions } from '../../src/engine/ports.ts';
import { Host } from '../../src/host/host.ts';
import type { Hints, Locks } from '../../src/host/ports.ts';
import type { AnyAgent } from '../../src/program/agent.ts';
import type { LanguageModel } from '../../src/program/model.ts';
import type { HostMethods } from '../../src/protocol/host-api.ts';
import type { Store } from '../../src/store/store.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';

/** Locks by name, each held by one and given on in the order of asking. */
class SharedLocks implements Locks {
  readonly #turns = new Map<string, Promise<unknown>>();

  async hold<Result>(name: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const before = this.#turns.get(name) ?? Promise.resolve();
    const turn = Promise.race([before, aborted(signal)]).then(() => {
      signal.throwIfAborted();
      return work();
    });
    // Whoever comes next waits for all before it, and does not care how their turns ended.
    this.#turns.set(name, Promise.allSettled([before, turn]));
    return turn;
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

class SharedHints {
  readonly posted: string[] = [];
  readonly #listeners = new Set<(thread: string) => void>();

  /** The hints of one worker: it hears the others, not itself. */
  port(): Hints {
    let mine: ((thread: string) => void) | undefined;
    return {
      post: (thread) => {
        this.posted.push(thread);
        for (const listener of this.#listeners) if (listener !== mine) listener(thread);
      },
      listen: (onHint) => {
        mine = onHint;
        this.#listeners.add(onHint);
      },
      close: () => {
        if (mine !== undefined) this.#listeners.delete(mine);
      },
    };
  }
}

export class Workers {
  readonly world: TestWorld;
  readonly hints = new SharedHints();
  readonly #locks = new SharedLocks();
  readonly #agent: AnyAgent;
  readonly #model: LanguageModel | undefined;

  constructor(agent: AnyAgent, model?: LanguageModel, world = new TestWorld()) {
    this.world = world;
    this.#agent = agent;
    this.#model = model;
  }

  /** An engine that belongs to no worker: what it does, nobody is told. */
  async engine(): Promise<Engine> {
    return new Engine(await this.world.ports(), { agent: this.#agent });
  }

  /** A worker that has just started. */
  async start({
    resume = 'auto',
    store,
    ...retention
  }: {
    resume?: 'auto' | 'on-request';
    store?: Store;
  } & Pick<EngineOptions, 'retention' | 'archive'> = {}): Promise<HostMethods> {
    const host = new Host({
      ports: await this.world.ports(store),
      options: { agent: this.#agent, ...(this.#model && { model: this.#model }), ...retention },
      locks: this.#locks,
      hints: this.hints.port(),
      lifeLock: 'life',
      resume,
    });
    await host.start();
    return host.methods();
  }
}
