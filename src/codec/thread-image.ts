/** A thread as it stands at one checkpoint: its row and the fields, by reference, of its state. */
import { equalBytes } from '../base/bytes.ts';
import type { CheckpointId } from '../model/ids.ts';
import type { StoredRecord, ThreadRow } from '../model/records.ts';
import { baseKey, type Checkpoint, type FieldImage, isBaseKey, openBase, openCheckpoint } from './checkpoint-codec.ts';
import { openRowControl, type RowControl } from './control-codec.ts';
import { codecErrors } from './errors.ts';
import type { ThreadCodec } from './thread-codec.ts';

/** Twice as many checkpoints as come between two snapshots unless an app says otherwise. */
const openedAtOnce = 64;

export interface StateImage {
  readonly checkpoint: Checkpoint;
  readonly fields: ReadonlyMap<string, FieldImage>;
  /** When the newest snapshot in the lineage was made. */
  readonly baseAtMs: number;
  /** Checkpoints since that snapshot. */
  readonly sinceBase: number;
}

export interface ThreadImage {
  readonly row: ThreadRow;
  readonly control: RowControl;
  /** `null` before the first checkpoint. */
  readonly state: StateImage | null;
}

/**
 * `known`: the state at a head that was opened before: it is not read again where the row still names it, by its tag.
 *
 * @throws `record_damaged`, `record_missing`, `format_unknown`
 */
export async function openThreadImage(
  codec: ThreadCodec,
  row: ThreadRow,
  known: StateImage | null = null,
): Promise<ThreadImage> {
  const control = await openRowControl(codec, row);
  if (row.head === null) return { row, control, state: null };
  const isKnown = known?.checkpoint.id === row.head && equalBytes(known.checkpoint.tag, control.headTag);
  if (isKnown) return { row, control, state: known };
  const state = await openStateImage(codec, row.head, control.base ?? row.head);
  if (!equalBytes(state.checkpoint.tag, control.headTag))
    throw damaged(row.head, 'it is not the head that the thread names');
  return { row, control, state };
}

/**
 * The state at a checkpoint: the newest snapshot in its lineage, and the deltas after it (PROTOCOL 8). `base` is that snapshot where
 * it is known; else the checkpoint itself says.
 */
export async function openStateImage(codec: ThreadCodec, id: CheckpointId, base?: CheckpointId): Promise<StateImage> {
  const lineage = await openLineage(codec, id, base ?? (await openById(codec, id)).base);
  const [snapshot] = lineage;
  const checkpoint = lineage.at(-1);
  if (snapshot === undefined || checkpoint === undefined) throw missing(id);
  return { checkpoint, fields: fieldsAfter(lineage), baseAtMs: snapshot.atMs, sinceBase: lineage.length - 1 };
}

/** The fields after these checkpoints, the first of which holds them all. */
export function fieldsAfter(lineage: readonly Checkpoint[]): ReadonlyMap<string, FieldImage> {
  const fields = new Map<string, FieldImage>();
  for (const step of lineage) {
    for (const [name, image] of step.fields) fields.set(name, image);
    for (const name of step.removed) fields.delete(name);
  }
  return fields;
}

/**
 * The checkpoints from `base`, a snapshot, to `id`, each the parent of the next, their tags compared. A base record on the
 * way takes the place of all that came before it.
 */
async function openLineage(codec: ThreadCodec, id: CheckpointId, base: CheckpointId): Promise<readonly Checkpoint[]> {
  const records = await codec.source.range('checkpoints', codec.thread, { from: base, to: `${id}~` });
  const byKey = new Map(records.map((record) => [record.key, record]));
  const open = opener(codec, records);
  const lineage: Checkpoint[] = [];
  let next: CheckpointId | null = id;
  while (next !== null) {
    const record = byKey.get(next);
    if (record === undefined) throw missing(next);
    const checkpoint: Checkpoint = await open(record);
    const child = lineage.at(-1);
    if (child !== undefined && !sameTag(child.parentTag, checkpoint.tag)) {
      throw damaged(next, `it is not the parent that ${child.id} was made from`);
    }
    const baseRecord = byKey.get(baseKey(next));
    lineage.push(baseRecord === undefined ? checkpoint : await openBase(codec, baseRecord, checkpoint));
    next = checkpoint.id === base || baseRecord !== undefined ? null : checkpoint.parent;
  }
  if (lineage.at(-1)?.kind !== 'snapshot') throw damaged(base, 'it should be a snapshot');
  return lineage.reverse();
}

/** Opens all at once where they are few: between snapshots that lineages have left, most are none of this one. */
function opener(codec: ThreadCodec, records: readonly StoredRecord[]): (record: StoredRecord) => Promise<Checkpoint> {
  if (records.length > openedAtOnce) return (record) => openCheckpoint(codec, record);
  const ids = records.filter(({ key }) => !isBaseKey(key));
  const opened = new Map(ids.map((record) => [record.key, openCheckpoint(codec, record)]));
  for (const promise of opened.values()) promise.catch(() => undefined); // of no matter unless it is on the way
  return (record) => opened.get(record.key) ?? openCheckpoint(codec, record);
}

async function openById(codec: ThreadCodec, id: CheckpointId): Promise<Checkpoint> {
  const record = await codec.source.get('checkpoints', codec.thread, id);
  if (record === undefined) throw missing(id);
  return openCheckpoint(codec, record);
}

function sameTag(a: Uint8Array | null, b: Uint8Array): boolean {
  return a !== null && equalBytes(a, b);
}

function missing(id: CheckpointId) {
  return codecErrors.make('record_missing', { table: 'checkpoints', key: id, needed: 'the state' });
}

function damaged(id: CheckpointId, reason: string) {
  return codecErrors.make('record_damaged', { table: 'checkpoints', key: id, reason });
}
