/**
 * The state at a checkpoint whose records need not all be good: where a snapshot cannot be read, what its step changed stands
 * in the event log, and what came before it in its parent (PROTOCOL 8).
 */
import { equalBytes } from '../base/bytes.ts';
import type { CheckpointId } from '../model/ids.ts';
import { baseKey, type Checkpoint, openBase, openCheckpoint } from './checkpoint-codec.ts';
import { codecErrors } from './errors.ts';
import { openEvents } from './open-events.ts';
import type { ThreadCodec } from './thread-codec.ts';
import { fieldsAfter, type StateImage } from './thread-image.ts';

export type Fault = { readonly table: string; readonly key: string; readonly reason: string };

export interface Recovered {
  readonly image: StateImage;
  /** Records on the way that are damaged or gone, and were not needed. */
  readonly faults: readonly Fault[];
}

/** @param tag what the checkpoint's tag must be, where that is known. */
export async function recoverState(
  codec: ThreadCodec,
  id: CheckpointId,
  tag: Uint8Array | undefined,
): Promise<Recovered> {
  const lineage: Checkpoint[] = [];
  const faults: Fault[] = [];
  let next: CheckpointId | null = id;
  let expected = tag ?? null;
  while (next !== null) {
    const { checkpoint, fault }: Awaited<ReturnType<typeof openOrRecover>> = await openOrRecover(codec, next, expected);
    if (fault !== undefined) faults.push(fault);
    const base = checkpoint.kind === 'snapshot' ? undefined : await openOwnBase(codec, checkpoint);
    lineage.push(base ?? checkpoint);
    next = checkpoint.kind === 'snapshot' || base !== undefined ? null : checkpoint.parent;
    expected = checkpoint.parentTag;
  }
  const [checkpoint] = lineage;
  if (checkpoint === undefined) throw missing(id);
  lineage.reverse();
  const baseAtMs = lineage[0]?.atMs ?? checkpoint.atMs;
  const image = { checkpoint, fields: fieldsAfter(lineage), baseAtMs, sinceBase: lineage.length - 1 };
  return { image, faults };
}

async function openOrRecover(
  codec: ThreadCodec,
  id: CheckpointId,
  tag: Uint8Array | null,
): Promise<{ readonly checkpoint: Checkpoint; readonly fault?: Fault }> {
  try {
    const record = await codec.source.get('checkpoints', codec.thread, id);
    if (record === undefined) throw missing(id);
    const checkpoint = await openCheckpoint(codec, record);
    if (tag !== null && !equalBytes(checkpoint.tag, tag)) throw foreign(id);
    return { checkpoint };
  } catch (error) {
    const fault = faultOf(error);
    const record = await codec.source.get('events', codec.thread, id);
    const change = record && (await openEvents(codec, record)).change;
    if (change === undefined || (tag !== null && !equalBytes(change.tag, tag))) throw error;
    return { checkpoint: change, fault };
  }
}

async function openOwnBase(codec: ThreadCodec, checkpoint: Checkpoint): Promise<Checkpoint | undefined> {
  const record = await codec.source.get('checkpoints', codec.thread, baseKey(checkpoint.id));
  return record && openBase(codec, record, checkpoint);
}

/** What is wrong with a record. Any other error, a key or a format that is not known, is not damage, and goes on. */
export function faultOf(error: unknown): Fault {
  if (codecErrors.is(error, 'record_damaged')) return error.details;
  if (codecErrors.is(error, 'record_missing')) return { ...error.details, reason: 'it is missing' };
  throw error;
}

function missing(id: CheckpointId) {
  return codecErrors.make('record_missing', { table: 'checkpoints', key: id, needed: 'the state' });
}

function foreign(id: CheckpointId) {
  const reason = 'it is not the checkpoint that its child, or the thread, names';
  return codecErrors.make('record_damaged', { table: 'checkpoints', key: id, reason });
}
