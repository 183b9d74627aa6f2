/**
 * A world from a seed: one thread, the processes that run it one after another or side by side, the services it talks to, the
 * people who send and answer, and what goes wrong. Everything that happens is decided by the seed.
 */

import { codecErrors } from '../../../src/codec/errors.ts';
import type { EngineThread } from '../../../src/engine/engine-thread.ts';
import { engineErrors } from '../../../src/engine/errors.ts';
import type { RunEnd } from '../../../src/engine/run-end.ts';
import { travelErrors } from '../../../src/engine/time-travel-errors.ts';
import type { Frame } from '../../../src/model/frame.ts';
import type { Table } from '../../../src/model/records.ts';
import { storeErrors } from '../../../src/store/errors.ts';
import { MemoryData } from '../../../src/stores/memory/memory-data.ts';
import { MemoryKeyStore } from '../../../src/stores/memory/memory-key-store.ts';
import { plainCryptography } from '../../../src/testing/plain-cryptography.ts';
import { checkBegun } from '../oracles/begun.ts';
import type { Mood, Plan } from '../plan/plan.ts';
import { Client, type ClientAction } from './client.ts';
import { contentsOf } from './contents-of.ts';
import { Dice, randomFrom } from './dice.ts';
import type { Driver } from './driver.ts';
import { Findings } from './findings.ts';
import { giveRing } from './known-ring.ts';
import { type Interruption, Life, never, type Operation } from './life.ts';
import { Met } from './met.ts';
import { Outside } from './outside.ts';
import { Person } from './person.ts';
import { Process, threadId } from './process.ts';
import { Unflushed } from './sim-store.ts';
import { Timeline } from './timeline.ts';
import type { Watch } from './watch.ts';
import { Watches } from './watches.ts';

/** More operations than any run needs: what takes them does not end. */
const mostOperations = 2_500;

export interface Trouble {
  /** What happens to this operation, the `number`th of all. */
  meet(world: World, life: Life, operation: Operation, number: number): Interruption | undefined;
}

export interface WorldOptions {
  readonly seed: number;
  readonly plan: Plan;
  readonly actions: readonly ClientAction[];
  readonly trouble?: Trouble;
  readonly keepsLines?: boolean;
  readonly version?: number;
  readonly closesAlways?: boolean;
  readonly isOfTwoMinds?: boolean;
  /** Its database has keys already. */
  readonly hasRing?: boolean;
}

export class World {
  readonly timeline = new Timeline();
  readonly data = new MemoryData();
  readonly unflushed = new Unflushed();
  readonly findings: Findings;
  readonly watches: Watches;
  readonly outside: Outside;
  readonly person: Person;
  readonly client: Client;
  readonly random;
  readonly cryptography;
  readonly keys = new MemoryKeyStore<Uint8Array>();
  readonly dice: Dice;
  readonly plan: Plan;
  readonly counts = {
    operations: 0,
    outside: 0,
    crashes: 0,
    powerCuts: 0,
    storeFaults: 0,
    freezes: 0,
    steals: 0,
    jumps: 0,
    losses: 0,
    spoiled: 0,
    collections: 0,
    deletions: 0,
    stops: 0,
  };
  /** What of PROTOCOL 10 came to pass here, and how often. */
  readonly met = new Met();
  /** Version of the code that the next process runs. */
  version: number;
  #newestVersion: number;
  readonly #processes: Process[] = [];
  readonly #broken = new Map<string, number>();
  readonly #onStart: (() => void)[] = [];
  readonly #actions: readonly ClientAction[];
  readonly #trouble: Trouble | undefined;
  readonly #hasRing: boolean;
  /** Ends that were reached because records were lost: the thread stopped aloud. */
  stoppedAloud = false;

  constructor(options: WorldOptions) {
    const { seed, plan, actions, trouble, keepsLines, version = 1 } = options;
    const dice = new Dice(seed);
    this.random = randomFrom(dice.fork());
    this.cryptography = plainCryptography(this.random);
    this.dice = dice.fork();
    this.findings = new Findings(keepsLines);
    this.watches = new Watches(this.findings, this.data, {
      forked: (fork) => void checkBegun(this, fork),
      purged: () => this.threadIsGone(),
    });
    this.outside = new Outside(this.timeline, dice.fork(), this.findings);
    this.person = new Person(this, dice.fork());
    this.client = new Client(this);
    this.plan = plan;
    this.version = version;
    this.#newestVersion = version;
    this.#actions = actions;
    this.#trouble = trouble;
    this.#hasRing = options.hasRing ?? false;
    this.outside.closesAlways = options.closesAlways ?? false;
    this.person.isOfTwoMinds = options.isOfTwoMinds ?? false;
  }

  /** Lives until nothing moves any more. */
  async live(): Promise<void> {
    if (this.#hasRing) await giveRing(this);
    this.start();
    this.client.begin(this.#actions);
    await this.#settle();
    if (this.watch.spoiled.size === 0) return;
    this.start(); // a record that was damaged last is found by whoever opens the thread next
    await this.#settle();
  }

  async #settle(): Promise<void> {
    for (let still = 0; still < 2; ) {
      await turn();
      still = this.timeline.step() ? 0 : still + 1;
    }
  }

  /** That of the world's own thread. */
  get watch(): Watch {
    return this.watches.own;
  }

  /** Whether newer code was there before. */
  isOld({ version }: Process): boolean {
    return version < this.#newestVersion;
  }

  /** Another version of the code takes the place of whatever runs. */
  deploy(version: number): void {
    this.version = version;
    this.#newestVersion = Math.max(version, this.#newestVersion);
    for (const { life } of this.#processes) life.end();
    this.afterDeath(10);
  }

  start(): Process {
    const life = new Life(this.#processes.length + 1, (met, operation) => this.#meet(met, operation));
    this.findings.trace(`${this.timeline.nowMs} life ${life.number} begins`);
    const process = new Process(this, life, this.plan, this.version);
    this.#processes.push(process);
    for (const run of this.#onStart.splice(0)) run();
    return process;
  }

  /**
   * Whether calls that are not of class once may have been made again under new keys: by the plan's policy, or by the default
   * one, which runs a step once more when the network is back (PROTOCOL 4: going back on purpose salts the lineage).
   */
  get redoes(): boolean {
    return this.plan.redoes === true || (this.outside.wasOffline && this.plan.policy === undefined);
  }

  /** The newest living process. */
  newest(): Process | undefined {
    return this.#processes.findLast(({ life }) => !life.isOver);
  }

  get processes(): readonly Process[] {
    return this.#processes;
  }

  /** Ends a process. Where none is left, the next one starts after a while; else the newest goes on. */
  kill(life: Life, restartMs = this.dice.between(5, 1_500)): void {
    if (life.isOver) return;
    this.findings.trace(`${this.timeline.nowMs} life ${life.number} dies`);
    life.end();
    this.afterDeath(restartMs);
  }

  /** A process that ended by itself. */
  retire(life: Life): void {
    life.end();
    this.afterDeath(this.dice.between(5, 500));
  }

  afterDeath(restartMs: number): void {
    const heir = this.newest();
    if (heir !== undefined) heir.kick();
    else this.timeline.after(restartMs, () => this.newest() ?? this.start());
  }

  /** The thread was deleted, and what was acknowledged of it with it. */
  threadIsGone(): void {
    this.counts.deletions += 1;
    this.client.acknowledged.clear();
    this.person.acknowledged.clear();
    this.watch.forget();
  }

  /** All that is not flushed is lost with every process. */
  cutPower(): void {
    this.counts.powerCuts += 1;
    const lost = this.unflushed.lose();
    if (lost > 0 && this.outside.carried.size > 0)
      this.met.add('a suffix that is lost while the outside keeps what happened');
    this.findings.trace(`${this.timeline.nowMs} power is cut, ${lost} groups are lost`);
    for (const { life } of this.#processes) if (!life.isOver) this.kill(life);
    for (const watch of this.watches.all) watch.rescan();
    this.person.forgets();
  }

  /** Does it with the newest process, with the next one if that dies, and again where the store is in trouble. */
  async insist(
    what: string,
    act: (thread: EngineThread, process: Process) => Promise<void>,
    { isHeard = true, about = threadId } = {},
  ): Promise<unknown> {
    for (let tries = 0; tries < 60; tries += 1) {
      const process = this.newest() ?? (await this.#nextProcess());
      const acted = process.opened
        .then((thread) => act(thread, process))
        .then(
          () => undefined,
          (error: unknown) => error ?? new Error('nothing was thrown'),
        );
      const outcome = await Promise.race([acted, process.life.death]);
      if (outcome === 'died') continue;
      this.findings.trace(
        `${this.timeline.nowMs} ${what}: ${outcome === undefined ? 'acknowledged' : String(outcome)}`,
      );
      const hasStopped = travelErrors.is(outcome); // going back stops a run before it finds that it cannot
      if ((outcome === undefined && isHeard) || hasStopped || engineErrors.is(outcome, 'wait_closed'))
        process.kick(about);
      if (!storeErrors.is(outcome) && !engineErrors.is(outcome, 'lease_lost')) {
        if (codecErrors.is(outcome)) this.refused(outcome);
        return outcome;
      }
      process.kick(about); // it may be on record all the same
      await this.timeline.wait(300);
    }
    this.findings.violate('nothing-is-stuck', `"${what}" was never acknowledged.`);
    return new Error('stuck');
  }

  /** I1: what was acknowledged is there. */
  mustBeStored(table: Table, key: string): void {
    if (this.data.threads.size === 0 || this.#isStored(table, key)) return;
    if (this.counts.deletions > 0) return; // gone with the thread that it was given to
    this.findings.violate('acknowledged-is-durable', `${table}/${key} was acknowledged and is not stored (I1).`);
  }

  #isStored(table: Table, key: string): boolean {
    return [...this.data.threads.keys()].some((hash) => this.data.records(table, hash).get(key) !== undefined);
  }

  ended(process: Process, { watch }: Driver, end: RunEnd): void {
    const code = end.end === 'blocked' ? ` ${end.error.code}: ${end.error.message}` : '';
    const of = watch === this.watch ? '' : watch.marks === '' ? ' of a child' : ` of ${watch.marks}`;
    this.findings.trace(`${this.timeline.nowMs} life ${process.life.number} ends a run${of}: ${end.end}${code}`);
    const isStale = watch.isStale(process.life); // it has lost its lease, and does not know yet
    const isOld = end.end === 'blocked' && end.error.code === 'agent_too_old' && this.isOld(process);
    if (
      end.end === 'blocked' &&
      !isOld &&
      !isStale &&
      !isStoreTrouble(end.error.code) &&
      !this.#isToBeRepaired(end.error.code) &&
      !this.watch.hasLosses &&
      this.counts.deletions === 0
    ) {
      this.findings.violate('never-blocked', `A run was blocked by ${end.error.code}: ${end.error.message}`);
    }
    if (end.end !== 'lost' || this.client.travels) return; // going back takes a lease of its own, in the same process
    if (watch.row !== undefined && !isStale && this.counts.deletions === 0) {
      this.findings.violate(
        'conflict-has-a-winner',
        `Life ${process.life.number} lost a lease that nobody took (PROTOCOL 2).`,
      );
    }
  }

  /** Where records were lost, stopping aloud is an end (PROTOCOL 1). */
  restsOnBlock(code: string | undefined): boolean {
    if (isStoreTrouble(code)) return false;
    if (this.watch.hasLosses) this.stoppedAloud = true;
    return this.watch.hasLosses || (this.counts.deletions === 0 && !this.#isToBeRepaired(code));
  }

  refused(error: unknown): void {
    if (storeErrors.is(error) || this.watch.hasLosses || this.counts.deletions > 0) return;
    if (this.watch.spoiled.size > 0) return; // a record that is damaged is a typed error (I10), until a run has repaired it
    this.findings.violate('reads-are-whole', `The thread could not be read: ${String(error)}`);
  }

  shows(process: Process, thread: string, frame: Frame): void {
    if (frame.type !== 'wait' || process.life.isOver) return;
    // One that was stored may be collected by the time that a frozen runner shows it.
    const wasStored = this.watches.all.some(({ waitAt }) => waitAt.has(frame.wait.id));
    if (!wasStored && !this.#isStored('waits', `w:${frame.wait.id}`)) {
      if (this.counts.deletions === 0)
        this.findings.violate(
          'wait-is-durable-when-shown',
          `Wait for ${frame.wait.tool} was shown before it was stored.`,
        );
    }
    if (this.dice.percent(50)) this.person.sees(thread, [frame.wait]);
  }

  moodOf({ life }: Process): Mood {
    return {
      breaks: (place, times) => {
        const visit = place.split('/').slice(0, 2).join('/'); // a node may break so often in all, wherever it does
        const count = this.#broken.get(visit) ?? 0;
        this.#broken.set(visit, count + 1);
        return count < times;
      },
      kill: async (place) => {
        this.findings.trace(`${place} kills its process`);
        this.counts.crashes += 1;
        this.met.add('a poisoned process');
        this.watch.poisoned(life);
        this.kill(life, 50);
        await never();
      },
    };
  }

  /** A repair that the store kept from its work leaves the thread as it was, and is tried again by the next run (A11). */
  #isToBeRepaired(code: string | undefined): boolean {
    return this.watch.spoiled.size > 0 && (code === 'record_damaged' || code === 'record_missing');
  }

  #meet(life: Life, operation: Operation): Interruption | undefined {
    this.counts.operations += 1;
    if (operation.kind === 'outside') this.counts.outside += 1;
    const number = this.counts.operations;
    this.findings.trace(`${number} ${this.timeline.nowMs} life ${life.number} ${operation.name}`, () =>
      contentsOf(operation),
    );
    const most = this.plan.child === undefined ? mostOperations : 4 * mostOperations; // of several threads
    if (number > most) {
      if (number === most + 1) this.findings.violate('nothing-is-stuck', `${number} operations, and no end.`);
      life.end();
      return undefined;
    }
    for (const action of this.#actions) if (action.atOperation === number) this.client.act(action);
    return this.#trouble?.meet(this, life, operation, number);
  }

  #nextProcess(): Promise<Process> {
    return new Promise((resolve) => {
      const look = () => {
        const process = this.newest();
        if (process !== undefined) resolve(process);
        else this.#onStart.push(look); // it died in the moment it began
      };
      this.#onStart.push(look);
    });
  }
}

function isStoreTrouble(code: string | undefined): boolean {
  return code === 'store_failed' || code === 'quota_exceeded' || code === 'timed_out';
}

/**
 * Everything that can happen without time passing has happened: a tick comes once no promise has anything left to do, and costs a
 * tenth of a turn of the event loop, which nothing in here needs.
 */
function turn(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
