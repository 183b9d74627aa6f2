/** One process as a host has it: opens the thread, runs it whenever there is something to do, and shows what it asks. */

import { type Deferred, deferred } from '../../../src/base/deferred.ts';
import { errorToData } from '../../../src/base/errors.ts';
import { KeyRing } from '../../../src/codec/key-ring.ts';
import { Engine } from '../../../src/engine/engine.ts';
import type { EngineThread } from '../../../src/engine/engine-thread.ts';
import { isDamage, type RunEnd } from '../../../src/engine/run-end.ts';
import type { LeaseKind } from '../../../src/model/records.ts';
import { agentOf } from '../plan/interpret.ts';
import type { Plan } from '../plan/plan.ts';
import { type Life, never } from './life.ts';
import { storeOf } from './sim-store.ts';
import { clockOf } from './timeline.ts';
import type { World } from './world.ts';

/** How long a process rests before it tries a thread again that could not go on. */
const restMs = { blocked: 30_000, lost: 1_000 };
const threadId = 'the thread';

export class Process {
  readonly life: Life;
  readonly version: number;
  readonly #world: World;
  readonly #plan: Plan;
  readonly #opened = deferred<EngineThread>();
  #kicked: Deferred<void> = deferred<void>();
  #isRunning = false;
  #engine: Engine | undefined;
  readonly #chores: (() => Promise<void>)[] = [];
  #isStopped = false;
  /** How the last run ended. */
  lastEnd: RunEnd | undefined;

  constructor(world: World, life: Life, plan: Plan, version: number) {
    this.#world = world;
    this.life = life;
    this.#plan = plan;
    this.version = version;
    void this.#work(version);
  }

  get opened(): Promise<EngineThread> {
    return this.#opened.promise;
  }

  /** Does it where a run could be called, as retention asks for. Resolves once it is done. */
  between<Result>(work: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#chores.push(() => work().then(resolve, reject));
      this.#kicked.resolve();
    });
  }

  /** Once the thread was opened. */
  get engine(): Engine {
    if (this.#engine === undefined) throw new Error('The thread was not opened yet.');
    return this.#engine;
  }

  /** Something may have come from outside. */
  kick(): void {
    this.#kicked.resolve();
    if (this.#isRunning) void this.opened.then((thread) => thread.look()).catch(() => undefined); // the run meets it too
  }

  /** Stops as a host does that closes: gracefully. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const thread = await this.opened;
    thread.stop();
    this.#kicked.resolve();
  }

  /** A lock that is granted says that its holder is gone; one that is stolen does not. */
  get #lease(): LeaseKind {
    const mayLive = this.#world.processes.some((other) => other !== this && !other.life.isOver);
    return mayLive ? 'stolen' : 'free';
  }

  async #work(version: number): Promise<void> {
    const thread = await this.#open(version);
    this.#opened.resolve(thread);
    for (;;) {
      if (this.#isStopped) return this.#world.retire(this.life);
      this.#kicked = deferred<void>();
      for (const chore of this.#chores.splice(0)) await chore();
      this.#isRunning = true;
      const end = await thread.run(this.#lease);
      this.#isRunning = false;
      this.lastEnd = end;
      this.#world.ended(this, end);
      if (this.#isStopped) return this.#world.retire(this.life);
      await this.#rest(thread, end);
    }
  }

  async #rest(thread: EngineThread, end: RunEnd): Promise<void> {
    const { timeline } = this.#world;
    if (end.end === 'waiting') {
      const waits = await this.#insist(() => thread.waits().catch(noneWhereDamaged));
      if (waits === undefined) return; // whoever looks at it sees that it is blocked, and opens it again
      this.#world.person.sees(waits);
    }
    if (end.end === 'lost' && this.#world.newest() !== this) {
      await this.#kicked.promise; // another one has it; only its end is news
      return;
    }
    if (end.end === 'blocked' && this.#world.restsOnBlock(end.error.code)) return this.#kicked.promise;
    const rest = end.end === 'blocked' || end.end === 'lost' ? restMs[end.end] : undefined;
    const row = rest === undefined ? await this.#insist(() => thread.row()) : undefined;
    const wakeUpInMs = rest ?? (row?.wakeUpAtMs == null ? undefined : Math.max(1, row.wakeUpAtMs - timeline.wallMs));
    const kicked = this.#kicked;
    if (wakeUpInMs !== undefined) {
      timeline.after(
        wakeUpInMs,
        () => this.life.whenAwake(() => kicked.resolve()),
        () => this.life.isOver || this.#kicked !== kicked,
      );
    }
    await kicked.promise;
    if (this.life.isOver) await never();
  }

  async #open(version: number): Promise<EngineThread> {
    const world = this.#world;
    const store = storeOf(this.life, world.data, world.watch, world.unflushed);
    const clock = clockOf(world.timeline, this.life);
    const { random, cryptography, keys } = world;
    const keyRing = await this.#insist(() => KeyRing.open(store, keys, cryptography, random));
    const { outside, watch, timeline } = world;
    const leaves = <Result>(
      kind: 'call' | 'model' | 'about',
      name: string,
      key: string,
      attempt: number,
      go: () => Promise<Result>,
    ) => {
      const beganAtMs = timeline.nowMs;
      if (!this.life.isOver) watch.called(this.life, kind, name, key, attempt, timeline.wallMs);
      return this.life.pass({ kind: 'outside', name: `${kind} ${name}` }, async () => {
        // Who stood still in between and was not robbed finds its connection gone; what a robbed one sends, leaves.
        if (timeline.nowMs > beganAtMs && !watch.wasRobbed(this.life)) throw new Error('The connection was closed.');
        return go();
      });
    };
    const agent = agentOf(
      this.#plan,
      {
        call: (tool, args, call) => {
          const release = outside.holds(args.place);
          void this.life.death.then(release);
          return leaves('call', tool, call.effectKey, call.attempt, () => outside.call(tool, args, call)).finally(
            release,
          );
        },
        verify: (tool, args, call) =>
          leaves('about', tool, call.effectKey, call.attempt, () => outside.verify(tool, args, call)),
        compensate: (tool, args, call) =>
          leaves('about', tool, call.effectKey, call.attempt, () => outside.compensate(tool, args, call)),
      },
      world.moodOf(this),
      version,
    );
    const model = {
      name: 'fickle',
      stream: (request: Parameters<typeof outside.stream>[0], context: Parameters<typeof outside.stream>[1]) =>
        streamOf(() =>
          leaves('model', 'model', context.effectKey, context.attempt, async () => {
            const parts = [];
            for await (const part of outside.stream(request, context)) parts.push(part);
            return parts;
          }),
        ),
    };
    const { durability, maxResumes, snapshotEvery } = this.#plan;
    const engine = new Engine(
      { store, keyRing, clock, random, network: { isOnline: () => outside.isOnline } },
      {
        agent,
        model,
        durability,
        maxResumes,
        tiers: { everySteps: snapshotEvery },
        onFrame: (_, frame) => world.shows(this, frame),
      },
    );
    this.#engine = engine;
    return engine.thread(threadId);
  }

  /** What a store refuses is asked for again. */
  async #insist<Result>(work: () => Promise<Result>): Promise<Result> {
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

function noneWhereDamaged(error: unknown): undefined {
  if (!isDamage(errorToData(error))) throw error;
}

async function* streamOf<Part>(parts: () => Promise<readonly Part[]>): AsyncGenerator<Part, void, undefined> {
  yield* await parts();
}
