/**
 * Pins: `<checkpoint>.pin.<thread hash of the fork>` under a checkpoint says that a thread was, or is being, made from it.
 * A pinned checkpoint is not deleted (PROTOCOL 4).
 */
import type { RecordWrite } from '../model/commit.ts';
import type { CheckpointId, Incarnation, ThreadHash } from '../model/ids.ts';
import type { StoredRecord, ThreadRow, Tombstone } from '../model/records.ts';
import { BodyReader } from './body.ts';
import { packBody } from './packer.ts';
import { faultOf } from './recover-lineage.ts';
import type { ThreadCodec } from './thread-codec.ts';

export interface Pin {
  /** The id of the thread that was made. */
  readonly thread: string;
  readonly incarnation: Incarnation;
  readonly atMs: number;
  /** Digests of the edit and of the keys of the results that it was to take along; `null` for a pin of before they were kept. */
  readonly asked: readonly [edit: string, reused: string] | null;
}

export function pinKey(checkpoint: CheckpointId, fork: ThreadHash): string {
  return `${checkpoint}.pin.${fork}`;
}

/** The checkpoint that the record under this key pins; `undefined` if it is no pin. */
export function pinnedBy(key: string): CheckpointId | undefined {
  const [checkpoint, kind] = key.split('.');
  return kind === 'pin' ? (checkpoint as CheckpointId) : undefined;
}

/** Which threads there are, and which there were. */
export interface KnownThreads {
  readThread(thread: ThreadHash): Promise<Pick<ThreadRow, 'incarnation'> | undefined>;
  readTombstone(thread: ThreadHash): Promise<Pick<Tombstone, 'incarnation'> | undefined>;
}

/**
 * Whether nothing is, or can still be, made with the pin: its thread was deleted, or its id is, or since was, another thread's. A
 * tombstone names only who was deleted last: where it is another than when the pin was set, the pin has had its time.
 */
export async function isStale(store: KnownThreads, codec: ThreadCodec, record: StoredRecord): Promise<boolean> {
  const { incarnation } = await openPin(codec, record);
  const fork = record.key.slice(record.key.lastIndexOf('.') + 1) as ThreadHash;
  const row = await store.readThread(fork);
  if (row !== undefined) return row.incarnation !== incarnation;
  const last = (await store.readTombstone(fork))?.incarnation ?? null;
  const { after } = record.plain;
  return after === undefined ? last === incarnation : last !== after; // pins of earlier versions say nothing of it
}

/** `after`: the thread of that id that was deleted last, by then. */
export function sealPin(
  codec: ThreadCodec,
  key: string,
  pin: Pin & { readonly after: Incarnation | null },
  mode: RecordWrite['mode'],
): Promise<RecordWrite> {
  const body = packBody([pin.thread, pin.incarnation, pin.atMs, ...(pin.asked ?? [])]);
  return codec.sealRecord('checkpoints', key, body, { plain: { parent: null, kind: 'pin', after: pin.after }, mode });
}

/** The pins of one checkpoint; `null` for one that is damaged: a thread was made there, and its id is not known any more. */
export async function readPins(codec: ThreadCodec, checkpoint: CheckpointId): Promise<readonly (Pin | null)[]> {
  const range = { from: `${checkpoint}.pin.`, to: `${checkpoint}.pin.~` };
  const records = await codec.source.range('checkpoints', codec.thread, range);
  return Promise.all(records.map((record) => openPinIfWhole(codec, record)));
}

export async function openPinIfWhole(codec: ThreadCodec, record: StoredRecord): Promise<Pin | null> {
  try {
    return await openPin(codec, record);
  } catch (error) {
    faultOf(error);
    return null;
  }
}

export async function openPin(codec: ThreadCodec, record: StoredRecord): Promise<Pin> {
  const { plaintext } = await codec.openRecord('checkpoints', record);
  const reader = BodyReader.of(plaintext, { table: 'checkpoints', key: record.key });
  const [thread, incarnation, atMs] = [reader.text(), reader.text() as Incarnation, reader.number()];
  return { thread, incarnation, atMs, asked: reader.hasMore ? [reader.text(), reader.text()] : null };
}
