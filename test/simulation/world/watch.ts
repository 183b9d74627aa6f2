/**
 * Sees every group of one thread in the moment in which it is applied, and every call in the moment in which it leaves, and holds
 * them against the rules. Knows nothing of the engine: only what is stored and what leaves.
 */
import type { CommitGroup, RecordWrite } from '../../../src/model/commit.ts';
import type { ThreadHash } from '../../../src/model/ids.ts';
import type { StoredRecord, Table, ThreadRow } from '../../../src/model/records.ts';
import type { MemoryData } from '../../../src/stores/memory/memory-data.ts';
import type { Findings } from './findings.ts';
import type { Life } from './life.ts';
import {
  isCheckpoint,
  isPin,
  type SeenCheckpoint,
  type SeenIntent,
  type SeenOutcome,
  seeCheckpoint,
  seeIntent,
  seeOutcome,
} from './peek.ts';

/** The newest lease of the thread that a process took. */
interface Lease {
  readonly epoch: number;
  readonly incarnation: string;
  /** How many groups had been applied by then. */
  readonly at: number;
}

const noLease: Lease = { epoch: 0, incarnation: '', at: 0 };

export interface Applied {
  readonly life: Life;
  readonly group: CommitGroup;
  readonly rowBefore: ThreadRow | undefined;
  readonly row: ThreadRow | undefined;
  /** What the group's records took the place of, in their order. */
  readonly replaced: readonly (StoredRecord | undefined)[];
}

/** Checkpoints whose parent need not be the head. */
const goesBack: readonly string[] = ['rolled_back', 'policy', 'edited'];

export class Watch {
  /** What intentions of this thread begin with outside; those of the world's own begin with nothing. */
  readonly marks: string = '';
  /** Entries of the ledger that it began with. */
  readonly carried: number = 0;
  readonly #findings: Findings;
  readonly #data: MemoryData;
  readonly intents = new Map<number, SeenIntent>();
  readonly outcomes = new Map<number, SeenOutcome>();
  /** Effect keys whose result is on record, with the process that wrote it and how many groups had been applied by then. */
  readonly settled = new Map<
    string,
    { readonly life: Life | undefined; readonly at: number; readonly epoch: number }
  >();
  /** Processes in a row that a node took away without a step in between. */
  poisonings = 0;
  mostPoisonings = 0;
  /** Once records were lost, what is known of the past no longer binds. */
  hasLosses = false;
  commits = 0;
  /** Keys of ledger records that were damaged on purpose. */
  readonly damaged = new Set<string>();
  /** Tables and keys of records of the state that were damaged, or lost, on purpose: a repair does without them. */
  readonly spoiled = new Set<string>();
  /** Every checkpoint as it was written, whatever became of its record. */
  readonly seen = new Map<string, SeenCheckpoint>();
  /** What was taken away because nothing needs it any more: the oracles look at all that ever was. */
  readonly #collected: { readonly table: Table; readonly thread: ThreadHash; readonly record: StoredRecord }[] = [];
  /** How many groups had been applied when a ledger entry got its outcome, and when a checkpoint was made. */
  readonly outcomeAt = new Map<number, number>();
  readonly checkpointAt = new Map<string, number>();
  /** The same of each wait, by its id. */
  readonly waitAt = new Map<string, number>();
  readonly #leases = new Map<Life, Lease>();
  readonly #row: () => ThreadRow | undefined;
  readonly #purged: () => void;

  /** `row`: of the thread that is watched, while there is one. `purged`: called when the engine deleted it, by itself. */
  constructor(
    findings: Findings,
    data: MemoryData,
    row: () => ThreadRow | undefined,
    purged: () => void = () => undefined,
  ) {
    this.#findings = findings;
    this.#data = data;
    this.#row = row;
    this.#purged = purged;
  }

  get row(): ThreadRow | undefined {
    return this.#row();
  }

  get hash(): ThreadHash | undefined {
    return this.row?.thread;
  }

  /** Forgets what is not stored any more: a suffix was lost, records were lost, or the thread was deleted. */
  rescan(): void {
    this.intents.clear();
    this.outcomes.clear();
    this.settled.clear();
    const { hash } = this;
    if (hash === undefined) return;
    const records = this.#data.records('ledger', hash).range({});
    for (const record of records) if (record.key.endsWith('.i')) this.#knowIntent(record);
    for (const record of records) if (record.key.endsWith('.o')) this.#knowOutcome(record);
  }

  applied(applied: Applied): void {
    this.commits += 1;
    const { group } = applied;
    if (group.row !== undefined) this.#checkOwner(applied);
    if (group.inbox !== undefined) this.#checkStrict(group, 'an inbox item');
    for (const [index, record] of group.records.entries()) {
      const replaced = applied.replaced[index];
      this.#checkDestroys(record, replaced);
      if (record.body.length === 0 && replaced !== undefined) this.collected(record.table, group.thread, replaced);
      if (record.table === 'ledger') this.#seeLedger(applied, record, replaced);
      if (record.table === 'waits' && record.key.startsWith('w:')) this.waitAt.set(record.key.slice(2), this.commits);
      if (record.table === 'waits' && record.key.startsWith('a:')) this.#checkStrict(group, 'an answer');
      if (record.table === 'checkpoints' && isCheckpoint(record)) this.#seeCheckpoint(applied, record);
      if (record.table === 'checkpoints' && isPin(record)) this.#checkPin(applied);
      const isFreed = record.body.length === 0 && (replaced !== undefined || record.key.endsWith('.r'));
      if (!isFreed && (record.body[0] !== 0x48 || record.body[1] !== 0x46)) {
        this.#findings.violate('sealed-below-engine', `${record.table}/${record.key} is not sealed (I9).`);
      }
    }
    if (group.row?.head !== undefined && group.row.head !== applied.rowBefore?.head) this.#checkHead(applied);
  }

  /** A child's last commit writes its end to this thread, in one group (PROTOCOL 6). */
  told(group: CommitGroup): void {
    const isAnswer = group.also?.records.some(({ table, key }) => table === 'waits' && key.startsWith('a:'));
    if (isAnswer) this.#checkStrict(group, 'the end of a child');
  }

  /** The thread was deleted. */
  forget(): void {
    this.poisonings = 0;
    this.#collected.length = 0; // another one of the same id has nothing to do with it
    this.rescan();
  }

  /** A12: what goes by itself has come to its end, and nothing is to come. */
  purged({ status, inbox, inboxTaken }: ThreadRow): void {
    if (!['done', 'failed', 'cancelled'].includes(status) || inbox !== inboxTaken) {
      const items = `${inbox - inboxTaken} items in its inbox`;
      this.#findings.violate('only-ended-threads-are-purged', `A thread was purged that is ${status}, with ${items}.`);
    }
    this.#purged();
  }

  /** A record that was taken away to free its space. */
  collected(table: Table, thread: ThreadHash, record: StoredRecord): void {
    this.#collected.push({ table, thread, record });
  }

  /** At the end of a world: puts back what was taken away. */
  restoreCollected(): void {
    for (const { table, thread, record } of this.#collected) {
      const records = this.#data.records(table, thread);
      const there = records.get(record.key);
      if (this.#data.threads.has(thread) && (there === undefined || there.body.length === 0)) records.put(record);
    }
  }

  /** A checkpoint as it was written. */
  checkpoint(record: StoredRecord): SeenCheckpoint {
    return this.seen.get(record.key) ?? seeCheckpoint(record);
  }

  leased(life: Life, before: ThreadRow | undefined, after: ThreadRow): void {
    this.#leases.set(life, { epoch: after.epoch.local, incarnation: after.incarnation, at: this.commits });
    if (before !== undefined && after.epoch.local <= before.epoch.local) {
      this.#findings.violate('lease-raises-epoch', `Epoch ${before.epoch.local} was leased as ${after.epoch.local}.`);
    }
  }

  /** A node takes its process away. One that has lost its lease meanwhile is no process that was resumed. */
  poisoned(life: Life): void {
    if (life.isOver || !this.isNewest(life)) return;
    this.poisonings += 1;
    this.mostPoisonings = Math.max(this.mostPoisonings, this.poisonings);
  }

  /** A call leaves for the outside. */
  called(
    life: Life,
    kind: 'call' | 'model' | 'about',
    name: string,
    key: string,
    attempt: number,
    wallMs: number,
  ): void {
    const isRead = name === 'look';
    if (kind === 'about' || isRead || this.#isOfDeleted(life)) return;
    const intent = [...this.intents.values()].findLast((known) => known.key === key && known.attempt === attempt);
    if (intent === undefined && this.hasLosses) return;
    if (intent === undefined) {
      this.#findings.violate(
        'intent-before-call',
        `${name} was called (attempt ${attempt}) without a durable intent (I5).`,
      );
      return;
    }
    if (wallMs > intent.notAfterMs) {
      this.#findings.violate('not-after', `${name} was called ${wallMs - intent.notAfterMs} ms after its notAfter.`);
    }
    if (this.#knowsResult(life, key) && this.isNewest(life)) {
      this.#findings.violate(
        'no-call-after-result',
        `${name} was called (attempt ${attempt}) with its result on record (I6).`,
      );
    }
  }

  /** The intent went with the thread that it was made for. */
  #isOfDeleted(life: Life): boolean {
    return this.row?.incarnation !== this.#leaseOf(life).incarnation;
  }

  /** A result that an earlier runner wrote later, also one of the same process, need not be known to the one that took over. */
  #knowsResult(life: Life, key: string): boolean {
    const settled = this.settled.get(key);
    const { at, epoch } = this.#leaseOf(life);
    return settled !== undefined && ((settled.life === life && settled.epoch === epoch) || settled.at <= at);
  }

  /** Whether this process took up the thread and has committed nothing since. */
  isRecovering(life: Life): boolean {
    return life.number > 1 && this.#leaseOf(life).at === this.commits;
  }

  /** Whether there is a thread that another process took up since. */
  isStale(life: Life): boolean {
    return this.row !== undefined && !this.isNewest(life);
  }

  /** Whether this effect was ever begun. */
  knows(key: string): boolean {
    return [...this.intents.values()].some((intent) => intent.key === key);
  }

  #leaseOf(life: Life): Lease {
    return this.#leases.get(life) ?? noLease;
  }

  /** Whether no other runner took the lease of this one. */
  isNewest(life: Life): boolean {
    return this.row?.epoch.local === this.#leaseOf(life).epoch;
  }

  #checkOwner({ life, group, rowBefore }: Applied): void {
    const { epoch } = this.#leaseOf(life);
    if (rowBefore === undefined || rowBefore.epoch.local === epoch) return;
    const what = `Life ${life.number} of epoch ${epoch} moved a thread of epoch ${rowBefore.epoch.local}`;
    this.#findings.violate('no-stale-commit', `${what} by commit ${group.id} (I4).`);
  }

  #checkStrict(group: CommitGroup, what: string): void {
    if (group.durability === 'strict') return;
    this.#findings.violate(
      'strict-where-due',
      `${what} was committed with durability ${group.durability} (PROTOCOL 8).`,
    );
  }

  /** I10: only a doubt, a blob of the same content, a base record and reserved space may take a place that is taken. */
  #checkDestroys(record: RecordWrite, replaced: StoredRecord | undefined): void {
    if (replaced === undefined) return;
    const { table, key } = record;
    if (table === 'blobs' || (table === 'ledger' && /\.[dr]$/.test(key)) || key.endsWith('.base')) return;
    if (isPin(record)) return; // the fork that it named was deleted, and is made again
    if (table === 'events' && key.startsWith('q:')) return; // the mark of a damaged record: the next repair that meets it renews it
    this.#findings.violate('write-once', `${table}/${key} was written over (I10).`);
  }

  #seeLedger({ life, group, rowBefore }: Applied, record: RecordWrite, replaced: StoredRecord | undefined): void {
    if (record.key.endsWith('.i')) {
      const intent = seeIntent(record);
      if (intent.number !== (rowBefore?.ledger ?? 0) + 1 || group.row?.ledger !== intent.number) {
        this.#findings.violate(
          'ledger-counts',
          `Intent ${intent.number} was written where ${rowBefore?.ledger} are counted.`,
        );
      }
      if (intent.effectClass !== 'read') this.#checkStrict(group, `the intent of ${intent.name}`);
      this.#checkAttempt(life, intent);
      this.#knowIntent(record);
    }
    if (record.key.endsWith('.o') && replaced === undefined) {
      this.#knowOutcome(record, life);
      this.outcomeAt.set(Number.parseInt(record.key, 16), this.commits);
      const intent = this.intents.get(Number.parseInt(record.key, 16));
      if (intent !== undefined && intent.effectClass !== 'read')
        this.#checkStrict(group, `the result of ${intent.name}`);
    }
  }

  /** PROTOCOL 3: what is in doubt and may only happen once is not tried again. */
  #checkAttempt(life: Life, intent: SeenIntent): void {
    if (this.hasLosses || intent.kind === 'node' || intent.kind === 'inputs') return;
    const earlier = [...this.intents.values()].filter(({ key }) => key === intent.key);
    const settled = this.settled.get(intent.key); // one that came while the intent was being written is seen before the call
    if (settled !== undefined && settled.at <= this.#leaseOf(life).at) {
      this.#findings.violate(
        'no-intent-after-result',
        `${intent.name} begins attempt ${intent.attempt} of a settled effect.`,
      );
    }
    if (intent.attempt !== earlier.length + 1) {
      const expected = `attempt ${intent.attempt} of ${intent.name} follows ${earlier.length} others`;
      this.#findings.violate('attempts-count', expected);
    }
    if (intent.effectClass !== 'once') return;
    for (const { number, attempt } of earlier) {
      if (this.outcomes.get(number)?.status === 'failed') continue;
      const message = `Attempt ${intent.attempt} of ${intent.name} began while attempt ${attempt} was in doubt.`;
      this.#findings.violate('in-doubt-is-not-retried', message);
    }
  }

  #seeCheckpoint({ group, rowBefore }: Applied, record: RecordWrite): void {
    const seen = seeCheckpoint(record);
    this.seen.set(seen.id, seen);
    this.poisonings = 0;
    this.checkpointAt.set(seen.id, this.commits);
    if (seen.parent !== (rowBefore?.head ?? null) && goesBack.includes(seen.cause)) this.#checkPast(seen, rowBefore);
    else if (seen.parent !== (rowBefore?.head ?? null) && !this.#isRepair(seen)) {
      this.#findings.violate(
        'parent-is-head',
        `${seen.id} names ${seen.parent} as parent; the head was ${rowBefore?.head}.`,
      );
    }
    if (seen.kind === 'delta') this.#checkCost(group, seen);
  }

  /** PROTOCOL 4: a repair goes on from an ancestor of a head that is damaged, and from nowhere else. */
  #isRepair({ cause }: SeenCheckpoint): boolean {
    return cause === 'repaired' && this.spoiled.size > 0;
  }

  /** PROTOCOL 4: whoever goes back leaves behind what came between, and says so. */
  #checkPast({ id, parent, abandoned }: SeenCheckpoint, rowBefore: ThreadRow | undefined): void {
    const record = rowBefore && this.#data.records('checkpoints', rowBefore.thread).get(parent ?? '');
    if (rowBefore === undefined || record === undefined) return;
    const { ledger } = seeCheckpoint(record);
    for (let entry = ledger + 1; entry <= rowBefore.ledger; entry += 1) {
      if (abandoned.some(({ after, to }) => entry > after && entry <= to)) continue;
      this.#findings.violate('what-is-left-is-said', `${id} went back behind entry ${entry}, and does not say so.`);
      return;
    }
  }

  /** Whoever forks a thread pins the checkpoint, and changes nothing of it. */
  #checkPin({ group, row, rowBefore }: Applied): void {
    this.#checkStrict(group, 'a pin');
    if (row === rowBefore && group.records.length === 1) return;
    this.#findings.violate('a-fork-leaves-its-source-alone', `Commit ${group.id} pins a checkpoint, and does more.`);
  }

  /** I8: a step that does not touch what is large costs little. */
  #checkCost({ records }: CommitGroup, { id, fields }: SeenCheckpoint): void {
    if (fields.includes('big')) return;
    const bytes = records.reduce((sum, { body }) => sum + body.length, 0);
    if (bytes > 6_000 && !records.some(({ table }) => table === 'segments' || table === 'blobs')) {
      this.#findings.violate('cost-follows-change', `${id} wrote ${bytes} bytes for ${fields.join(', ')} (I8).`);
    }
  }

  #checkHead({ group, row }: Applied): void {
    const head = group.row?.head;
    const isWhole = group.records.some(({ table, key }) => table === 'checkpoints' && key === head);
    if (isWhole && row?.head === head) return;
    this.#findings.violate('one-commit-one-transaction', `Head ${head} was set apart from its checkpoint (I2).`);
  }

  #knowIntent(record: Pick<StoredRecord, 'key' | 'body'>): void {
    if (this.damaged.has(record.key)) return;
    const intent = seeIntent(record);
    this.intents.set(intent.number, intent);
  }

  #knowOutcome(record: Pick<StoredRecord, 'key' | 'body'>, life?: Life): void {
    if (this.damaged.has(record.key)) return;
    const number = Number.parseInt(record.key, 16);
    const outcome = seeOutcome(record);
    this.outcomes.set(number, outcome);
    const intent = this.intents.get(number);
    if (intent === undefined || (outcome.status === 'failed' && !outcome.final) || this.settled.has(intent.key)) return;
    this.settled.set(intent.key, { life, at: life === undefined ? 0 : this.commits, epoch: intent.epoch });
  }
}
