/** One process as a host has it: opens the threads, runs them, and meets what happens to it. */
import { deferred } from '../../../src/base/deferred.ts';
import { KeyRing } from '../../../src/codec/key-ring.ts';
import { Engine } from '../../../src/engine/engine.ts';
import type { EngineThread } from '../../../src/engine/engine-thread.ts';
import type { EnginePorts } from '../../../src/engine/ports.ts';
import type { RunEnd } from '../../../src/engine/run-end.ts';
import type { ThreadHash } from '../../../src/model/ids.ts';
import type { LeaseKind } from '../../../src/model/records.ts';
import { agentOf } from '../plan/interpret.ts';
import type { Plan } from '../plan/plan.ts';
import { Driver } from './driver.ts';
import type { Life } from './life.ts';
import { FickleModel, reachOf, type WatchOf } from './reach.ts';
import { storeOf } from './sim-store.ts';
import { clockOf } from './timeline.ts';
import type { World } from './world.ts';

export const threadId = 'the thread';

export class Process {
  readonly life: Life;
  readonly version: number;
  readonly #world: World;
  readonly #plan: Plan;
  readonly #opened = deferred<EngineThread>();
  readonly #drivers = new Map<string, Driver>();
  readonly #working: Promise<void>[] = [];
  #engine: Engine | undefined;
  #ports: EnginePorts | undefined;
  #isStopped = false;

  constructor(world: World, life: Life, plan: Plan, version: number) {
    this.#world = world;
    this.life = life;
    this.#plan = plan;
    this.version = version;
    void this.#work();
  }

  get opened(): Promise<EngineThread> {
    return this.#opened.promise;
  }

  /** Does it where a run could be called, as retention asks for. Once the thread was opened. */
  between<Result>(work: () => Promise<Result>): Promise<Result> {
    const driver = this.#drivers.get(threadId);
    if (driver === undefined) throw new Error('The thread was not opened yet.');
    return driver.between(work);
  }

  /** Once the thread was opened. */
  get engine(): Engine {
    if (this.#engine === undefined) throw new Error('The thread was not opened yet.');
    return this.#engine;
  }

  /** Something may have come from outside: to one thread, or nobody knows to which. */
  kick(thread?: string): void {
    if (thread === undefined) {
      for (const driver of this.#drivers.values()) driver.kick();
      if (this.#engine !== undefined && this.#hasOthers) void this.#findThreads(this.#engine);
    } else if (this.#engine !== undefined) void this.#kick(this.#engine.thread(thread));
  }

  async #kick(thread: EngineThread): Promise<void> {
    this.#hear(thread.id, await thread.hash());
  }

  /** How the last run of the thread ended. */
  get lastEnd(): RunEnd | undefined {
    return this.#drivers.get(threadId)?.lastEnd;
  }

  /** Stops as a host does that closes: gracefully. */
  async stop(): Promise<void> {
    await this.opened;
    this.#isStopped = true;
    for (const driver of this.#drivers.values()) driver.stop();
  }

  /** A lock that is granted says that its holder is gone; one that is stolen does not. */
  get lease(): LeaseKind {
    const mayLive = this.#world.processes.some((other) => other !== this && !other.life.isOver);
    return mayLive ? 'stolen' : 'free';
  }

  async #work(): Promise<void> {
    const engine = await this.#open();
    this.#engine = engine;
    const thread = engine.thread(threadId);
    this.#drive(thread, this.#world.watch);
    this.#opened.resolve(thread);
    if (this.#hasOthers) await this.#findThreads(engine);
    for (let index = 0; index < this.#working.length; index += 1) await this.#working[index];
    this.#world.retire(this.life);
  }

  #drive(thread: EngineThread, watch: Driver['watch']): void {
    const driver = new Driver(this.#world, this, thread, watch);
    this.#drivers.set(thread.id, driver);
    this.#working.push(driver.work());
  }

  get #hasOthers(): boolean {
    return this.#plan.child !== undefined || this.#world.client.forks.isAny;
  }

  /** As a host does when it starts, or takes over from another: every thread that is there may have something to do. */
  async #findThreads(engine: Engine): Promise<void> {
    const all = await this.insist(() => engine.threads(1_000, { children: true }));
    for (const { id, row } of all) if (id !== undefined) this.#hear(id, row.thread);
  }

  #hear(id: string, hash: ThreadHash): void {
    const known = this.#drivers.get(id);
    if (known !== undefined) known.kick();
    else if (!this.#isStopped) this.#drive(this.#threadOf(id, hash), this.#world.watches.of(hash));
  }

  async #open(): Promise<Engine> {
    const { life } = this;
    const { random, cryptography, keys, outside, data, watches, unflushed, timeline } = this.#world;
    const store = storeOf(life, data, watches, unflushed);
    const keyRing = await this.insist(() => KeyRing.open(store, keys, cryptography, random));
    const network = { isOnline: () => outside.isOnline };
    this.#ports = { store, keyRing, clock: clockOf(timeline, life), random, network };
    return this.#engineFor(this.#ports, (key) => watches.ofEffect(key));
  }

  #engineFor(ports: EnginePorts, watchOf: WatchOf): Engine {
    const world = this.#world;
    const { durability, maxResumes, snapshotEvery } = this.#plan;
    const engine = new Engine(ports, {
      agent: agentOf(this.#plan, reachOf(world, this.life, watchOf), world.moodOf(this), this.version),
      model: new FickleModel(world, this.life, watchOf),
      durability,
      maxResumes,
      tiers: { everySteps: snapshotEvery },
      onFrame: (thread, frame) => world.shows(this, thread, frame),
      onNews: (hash) => {
        const told = this.insist(() => engine.idOf(hash));
        void told.then((id) => (id === undefined ? undefined : this.#hear(id, hash)));
      },
    });
    return engine;
  }

  /** Forks have an engine of their own: what leaves it is counted as theirs, with whatever key it comes. */
  #threadOf(id: string, hash: ThreadHash): EngineThread {
    const { watches } = this.#world;
    if (this.#ports === undefined || !watches.isFork(hash)) return this.engine.thread(id);
    return this.#engineFor(this.#ports, () => watches.of(hash)).thread(id);
  }

  /** What a store refuses is asked for again. */
  async insist<Result>(work: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        this.#world.refused(error);
        await new Promise<void>((resolve) =>
          this.#world.timeline.after(
            200,
            () => this.life.whenAwake(resolve),
            () => this.life.isOver,
          ),
        );
      }
    }
  }
}
