/**
 * Pins: `<checkpoint>.pin.<thread hash of the fork>` beside a checkpoint says that a thread was, or is being, made from it.
 * A pinned checkpoint is not deleted (PROTOCOL 4).
 */
import type { RecordWrite } from '../model/commit.ts';
import type { CheckpointId, Incarnation, ThreadHash } from '../model/ids.ts';
import type { StoredRecord } from '../model/records.ts';
import { BodyReader } from './body.ts';
import { packBody } from './packer.ts';
import type { ThreadCodec } from './thread-codec.ts';

export interface Pin {
  /** The id of the thread that was made. */
  readonly thread: string;
  readonly incarnation: Incarnation;
  readonly atMs: number;
}

export function pinKey(checkpoint: CheckpointId, fork: ThreadHash): string {
  return `${checkpoint}.pin.${fork}`;
}

export function sealPin(codec: ThreadCodec, key: string, pin: Pin, mode: RecordWrite['mode']): Promise<RecordWrite> {
  const body = packBody([pin.thread, pin.incarnation, pin.atMs]);
  return codec.sealRecord('checkpoints', key, body, { plain: { parent: null, kind: 'pin' }, mode });
}

/** The pins of one checkpoint. @throws `record_damaged` */
export async function readPins(codec: ThreadCodec, checkpoint: CheckpointId): Promise<readonly Pin[]> {
  const range = { from: `${checkpoint}.pin.`, to: `${checkpoint}.pin.~` };
  const records = await codec.source.range('checkpoints', codec.thread, range);
  return Promise.all(records.map((record) => openPin(codec, record)));
}

export async function openPin(codec: ThreadCodec, record: StoredRecord): Promise<Pin> {
  const { plaintext } = await codec.openRecord('checkpoints', record);
  const reader = BodyReader.of(plaintext, { table: 'checkpoints', key: record.key });
  return { thread: reader.text(), incarnation: reader.text() as Incarnation, atMs: reader.number() };
}
