/**
 * Compaction (A12): takes away what no restore, fork, open wait or event needs any more. Invariants:
 *
 * - Under a lease: whoever writes with an older epoch is refused from then on, so nothing new refers to what goes, and only the
 *   lease's own holder could move the head (PROTOCOL 2 and 7). Whoever writes
 *   without an epoch (inputs, answers, outcomes) writes its blobs anew, which shows in the commit that a chunk bears; and a fork pins
 *   its checkpoint, which holds it in the transaction that deletes.
 * - A checkpoint gets its base record before its parent goes (PROTOCOL 4); checkpoints go before what they need. So a crash at
 *   any point leaves only things that nobody needs.
 * - The head's state was opened as a whole before; marked records stay.
 */

import { textOf } from '../base/errors.ts';
import { notPlain } from '../base/plain-object.ts';
import { randomId } from '../base/random.ts';
import { baseKey } from '../codec/checkpoint-codec.ts';
import { pinnedBy } from '../codec/pin-codec.ts';
import { marks } from '../codec/quarantine.ts';
import { sealBase } from '../codec/seal-base.ts';
import { recordFormat, type ThreadCodec } from '../codec/thread-codec.ts';
import type { CommitGroup } from '../model/commit.ts';
import { type CommitId, sequenceOf, sortable } from '../model/ids.ts';
import type { StoredRecord, Table, ThreadRow } from '../model/records.ts';
import { inboxItems } from '../store/apply-group.ts';
import { keyAbove } from '../store/thread-rules.ts';
import { engineErrors } from './errors.ts';
import { give } from './give.ts';
import { livingRecords } from './living-records.ts';
import type { EnginePorts } from './ports.ts';
import { type Retained, type RetentionQuestion, retainedBy } from './retained.ts';

export interface Compaction {
  /** Records that were deleted, by table; of `blobs` the large values whose bytes were freed. */
  readonly deleted: Readonly<Partial<Record<Table, number>>>;
}

type PortsOfCompaction = Pick<EnginePorts, 'store' | 'random' | 'clock'>;

/**
 * Compacts the thread. Call it where a run of the thread could be called: it takes the lease, and a run under way elsewhere would
 * lose it. `undefined` if there is no thread any more.
 *
 * @throws `lease_lost`: another runner began meanwhile. `record_damaged`, `record_missing`: the thread is to be repaired first. What
 *   was deleted until then was not needed. `checkpoint_unknown`: a pin that is no checkpoint of the thread; nothing was deleted.
 * `id`: the thread's, for messages.
 */
export async function compactThread(
  ports: PortsOfCompaction,
  codec: ThreadCodec,
  question: Pick<RetentionQuestion, 'policy' | 'pins'>,
  id: string = codec.thread,
): Promise<Compaction | undefined> {
  if (!Array.isArray(question.pins))
    throw engineErrors.make('retention_invalid', {
      problem: `its pins are ${notPlain(question.pins)}, not a list of ids`,
    });
  for (const pin of question.pins) {
    const isId = sequenceOf(pin) !== undefined;
    if (isId && (await codec.source.get('checkpoints', codec.thread, pin)) !== undefined) continue;
    throw engineErrors.make('checkpoint_unknown', { thread: id, checkpoint: textOf(pin) });
  }
  const row = await ports.store.takeLease(codec.thread, codec.incarnation);
  if (row === undefined) return undefined;
  try {
    return await compactLeased(ports, codec, row, question);
  } finally {
    await ports.store.releaseLease(row.thread, row.incarnation, row.epoch).catch(() => undefined); // as after a crash
  }
}

/** The same for whoever holds the lease, with its row. */
export async function compactLeased(
  ports: PortsOfCompaction,
  codec: ThreadCodec,
  row: ThreadRow,
  question: Pick<RetentionQuestion, 'policy' | 'pins'>,
  blobs?: 'keep_blobs',
): Promise<Compaction> {
  for (;;) {
    const retained = await retainedBy(ports.store, codec, row, { ...question, nowMs: ports.clock.nowMs() });
    if (retained === undefined) return { deleted: {} };
    const deleted = await new Compactor(ports, codec, row, retained).run(blobs === 'keep_blobs');
    if (deleted !== 'pinned') return { deleted };
  }
}

class Compactor {
  readonly #ports: PortsOfCompaction;
  readonly #codec: ThreadCodec;
  readonly #row: ThreadRow;
  readonly #retained: Retained;

  constructor(ports: PortsOfCompaction, codec: ThreadCodec, row: ThreadRow, retained: Retained) {
    this.#ports = ports;
    this.#codec = codec;
    this.#row = row;
    this.#retained = retained;
  }

  /** `pinned`: a fork was begun from a checkpoint that was to go, after it was decided what stays. Nothing was deleted. */
  async run(keepsBlobs: boolean): Promise<Compaction['deleted'] | 'pinned'> {
    await this.#makeIndependent();
    const { eventsFrom, ledgerAfter, inboxAfter } = this.#retained;
    const checkpoints = await this.#deleteCheckpoints();
    if (checkpoints === 'pinned') return 'pinned';
    const events = await this.#delete('events', await this.#range('events', { to: eventsFrom }), marks.from);
    const ledger = await this.#delete('ledger', await this.#range('ledger', { to: sortable(ledgerAfter + 1) }));
    const { from } = inboxItems;
    const inbox = await this.#delete(
      'inbox',
      await this.#range('inbox', { from, to: `${from}${sortable(inboxAfter + 1)}` }),
    );
    const living = await livingRecords(this.#codec, this.#retained);
    const waits = await this.#delete('waits', living.deadWaits);
    const segments = await this.#delete('segments', living.deadSegments);
    const blobs = await this.#free(keepsBlobs ? [] : living.deadBlobs);
    return { checkpoints, events, ledger, inbox, waits, segments, blobs };
  }

  async #makeIndependent(): Promise<void> {
    for (const id of this.#retained.leaning) {
      const image = this.#retained.images.get(id);
      if (image === undefined) continue;
      const record = await sealBase(this.#codec, image.checkpoint, image.fields);
      const condition = { kind: 'present', table: 'checkpoints', key: id } as const;
      const result = await this.#commit({ conditions: [condition], records: [record] });
      if (result.status !== 'applied') throw this.#lost(`${baseKey(id)}: ${result.status}`);
    }
  }

  /** Without those under which a record stays. */
  async #deleteCheckpoints(): Promise<number | 'pinned'> {
    const { records, kept, stalePins, marked } = this.#retained;
    const isOld = ({ key }: StoredRecord) => !kept.has(keyAbove(key) ?? key) && !marked.has(`checkpoints/${key}`);
    const old = new Set(records.filter((record) => stalePins.has(record) || isOld(record)));
    const staying = new Set(records.filter((record) => !old.has(record)).map(({ key }) => keyAbove(key)));
    const doomed = [...old]
      .filter(({ key }) => !staying.has(key))
      .map(({ key, commit }) => ({
        table: 'checkpoints' as const,
        key,
        ...(pinnedBy(key) !== undefined && { commit }),
      }));
    if (doomed.length === 0) return 0;
    const { thread, incarnation, epoch } = this.#row;
    const result = await this.#ports.store.deleteRecords(thread, incarnation, epoch, doomed);
    if (result.status === 'held') return 'pinned';
    if (result.status !== 'applied') throw this.#lost(result.status);
    return doomed.length;
  }

  #range(table: Table, range: { readonly from?: string; readonly to: string }): Promise<readonly StoredRecord[]> {
    return this.#codec.source.range(table, this.#codec.thread, range);
  }

  async #delete(table: Table, records: readonly StoredRecord[], before?: string): Promise<number> {
    const { marked } = this.#retained;
    const doomed = records
      .filter(({ key }) => !marked.has(`${table}/${key}`) && (before === undefined || key < before))
      .map(({ key }) => ({ table, key }));
    if (doomed.length === 0) return 0;
    const { thread, incarnation, epoch } = this.#row;
    const result = await this.#ports.store.deleteRecords(thread, incarnation, epoch, doomed);
    if (result.status !== 'applied') throw this.#lost(result.status);
    return doomed.length;
  }

  /**
   * Frees the bytes of large values. Their records stay, empty: a chunk that was written anew since it was read bears another
   * commit, and is left alone in the same transaction (PROTOCOL 7).
   */
  async #free(blobs: readonly (readonly StoredRecord[])[]): Promise<number> {
    let freed = 0;
    for (const chunks of blobs) {
      const conditions = chunks.map(({ key, commit }) => ({ kind: 'present', table: 'blobs', key, commit }) as const);
      const empty = {
        table: 'blobs',
        format: recordFormat,
        plain: {},
        body: new Uint8Array(0),
        mode: 'replace',
      } as const;
      const result = await this.#commit({ conditions, records: chunks.map(({ key }) => ({ ...empty, key })) });
      if (result.status === 'epoch_stale' || result.status === 'gone') throw this.#lost(result.status);
      if (result.status === 'applied') freed += 1;
    }
    return freed;
  }

  #commit({ conditions, records }: Pick<CommitGroup, 'conditions' | 'records'>) {
    const { thread, incarnation, epoch } = this.#row;
    return give(this.#ports, {
      id: randomId(this.#ports.random) as CommitId,
      thread,
      incarnation,
      durability: 'strict',
      conditions: [{ kind: 'epoch', is: epoch }, ...conditions],
      records,
    });
  }

  #lost(reason: string) {
    return engineErrors.make('lease_lost', { thread: this.#row.thread, reason: `while it was compacted: ${reason}` });
  }
}
