/** Runs one thread whenever there is something to do, as a host does, and shows what it asks. */

import { type Deferred, deferred } from '../../../src/base/deferred.ts';
import { errorToData } from '../../../src/base/errors.ts';
import type { EngineThread } from '../../../src/engine/engine-thread.ts';
import { isDamage, type RunEnd } from '../../../src/engine/run-end.ts';
import { never } from './life.ts';
import type { Process } from './process.ts';
import type { Watch } from './watch.ts';
import type { World } from './world.ts';

/** How long a process rests before it tries a thread again that could not go on. */
const restMs = { blocked: 30_000, lost: 1_000 };

export class Driver {
  readonly thread: EngineThread;
  readonly watch: Watch;
  readonly #world: World;
  readonly #process: Process;
  #kicked: Deferred<void> = deferred<void>();
  #isRunning = false;
  #isStopped = false;
  readonly #chores: (() => Promise<void>)[] = [];
  /** How the last run ended. */
  lastEnd: RunEnd | undefined;

  constructor(world: World, process: Process, thread: EngineThread, watch: Watch) {
    this.#world = world;
    this.#process = process;
    this.thread = thread;
    this.watch = watch;
  }

  /** Does it where a run could be called, as retention asks for. Resolves once it is done. */
  between<Result>(work: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#chores.push(() => work().then(resolve, reject));
      this.#kicked.resolve();
    });
  }

  /** Something may have come from outside. */
  kick(): void {
    this.#kicked.resolve();
    if (this.#isRunning) void this.thread.look().catch(() => undefined); // the run meets it too
  }

  stop(): void {
    this.#isStopped = true;
    this.thread.stop();
    this.#kicked.resolve();
  }

  /** Resolves once it was stopped. */
  async work(): Promise<void> {
    for (;;) {
      if (this.#isStopped) return;
      this.#kicked = deferred<void>();
      for (const chore of this.#chores.splice(0)) await chore();
      this.#isRunning = true;
      const end = await this.thread.run(this.#process.lease);
      this.#isRunning = false;
      this.lastEnd = end;
      this.#world.ended(this.#process, this, end);
      if (this.#isStopped) return;
      await this.#rest(end);
    }
  }

  async #rest(end: RunEnd): Promise<void> {
    const { timeline, person } = this.#world;
    const { life } = this.#process;
    if (end.end === 'waiting') {
      const waits = await this.#process.insist(() => this.thread.waits().catch(noneWhereDamaged));
      if (waits === undefined) return; // whoever looks at it sees that it is blocked, and opens it again
      person.sees(this.thread.id, waits);
    }
    if (end.end === 'lost' && this.#world.newest() !== this.#process) {
      await this.#kicked.promise; // another one has it; only its end is news
      return;
    }
    if (end.end === 'blocked' && this.#world.restsOnBlock(end.error.code)) return this.#kicked.promise;
    const rest = end.end === 'blocked' || end.end === 'lost' ? restMs[end.end] : undefined;
    const wakeUpAtMs = this.watch.row?.wakeUpAtMs; // seen from outside: reading it changes nothing, and worlds rest often
    const wakeUpInMs = rest ?? (wakeUpAtMs == null ? undefined : Math.max(1, wakeUpAtMs - timeline.wallMs));
    const kicked = this.#kicked;
    if (wakeUpInMs !== undefined) {
      timeline.after(
        wakeUpInMs,
        () => life.whenAwake(() => kicked.resolve()),
        () => life.isOver || this.#kicked !== kicked,
      );
    }
    await kicked.promise;
    if (life.isOver) await never();
  }
}

function noneWhereDamaged(error: unknown): undefined {
  if (!isDamage(errorToData(error))) throw error;
}
