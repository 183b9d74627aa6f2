/** The watches of a world: that of its own thread, those of the children of that one, and those of the forks made of it. */
import type { ThreadHash } from '../../../src/model/ids.ts';
import type { StoredRecord, Table, ThreadRow } from '../../../src/model/records.ts';
import type { MemoryData } from '../../../src/stores/memory/memory-data.ts';
import { childName } from '../plan/plan.ts';
import type { Findings } from './findings.ts';
import { ForkWatch } from './fork-watch.ts';
import { Watch } from './watch.ts';

export interface Heard {
  /** A fork is there. */
  forked(fork: ForkWatch): void;
  /** The engine deleted the world's own thread. */
  purged(): void;
}

export class Watches {
  readonly own: Watch;
  readonly children = new Map<ThreadHash, Watch>();
  /** In the order in which they were made; those that were deleted since included. */
  readonly forks: ForkWatch[] = [];
  readonly #findings: Findings;
  readonly #data: MemoryData;
  readonly #heard: Heard;

  constructor(findings: Findings, data: MemoryData, heard: Heard) {
    this.#findings = findings;
    this.#data = data;
    this.#heard = heard;
    this.own = new Watch(findings, data, () => this.#ownRow(), heard.purged);
  }

  get all(): readonly Watch[] {
    return [this.own, ...this.children.values(), ...this.forks];
  }

  isFork(thread: ThreadHash): boolean {
    return this.#forkOf(thread) !== undefined;
  }

  of(thread: ThreadHash): Watch {
    const child = this.children.get(thread);
    if (child !== undefined) return child;
    const fork = this.#forkOf(thread);
    if (fork !== undefined) return fork;
    const row = this.#data.threads.get(thread);
    if (row === undefined || row.agent !== childName) return this.own;
    const watch = new Watch(this.#findings, this.#data, () => this.#data.threads.get(thread));
    this.children.set(thread, watch);
    return watch;
  }

  /** That of the thread which this effect is of. */
  ofEffect(key: string): Watch {
    const { own } = this;
    if (this.children.size === 0 && this.forks.length === 0) return own;
    const knows = (watch: Watch) => watch.knows(key);
    return [...this.children.values()].find(knows) ?? this.forks.find(knows) ?? own;
  }

  /** A thread is there that was not there before. One that begins with a state is a fork. */
  made(row: ThreadRow): void {
    const isThere = this.#data.threads.get(row.thread)?.incarnation === row.incarnation;
    if (!isThere || row.head === null || this.#forkOf(row.thread)?.row !== undefined) return;
    const number = this.forks.length + 1;
    const fork = new ForkWatch(this.#findings, this.#data, row, this.own.hash, number);
    this.forks.push(fork);
    this.#heard.forked(fork);
  }

  /** A record was taken away to free its space. */
  collected(table: Table, thread: ThreadHash, record: StoredRecord): void {
    this.of(thread).collected(table, thread, record);
    if (table !== 'checkpoints') return;
    const [checkpoint = '', , pinnedFor] = record.key.split('.');
    const isMade = this.forks.some(({ from, row }) => from === checkpoint && row !== undefined);
    const isBeingMade = pinnedFor !== undefined && !this.isFork(pinnedFor as ThreadHash);
    if (isMade || isBeingMade) this.#findings.violate('a-pin-holds', `${record.key} was taken away, and is needed.`);
  }

  #forkOf(thread: ThreadHash): ForkWatch | undefined {
    return this.forks.length === 0 ? undefined : this.forks.findLast((fork) => fork.thread === thread);
  }

  #ownRow(): ThreadRow | undefined {
    for (const row of this.#data.threads.values()) {
      if (row.agent !== childName && this.#forkOf(row.thread) === undefined) return row;
    }
    return undefined;
  }
}
