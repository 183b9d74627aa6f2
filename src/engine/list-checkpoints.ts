import { type Checkpoint, checkpointInfo, openCheckpoint } from '../codec/checkpoint-codec.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { CheckpointInfo } from '../model/checkpoint.ts';
import { type CheckpointId, sequenceOf } from '../model/ids.ts';
import type { StoredRecord } from '../model/records.ts';
import { engineErrors } from './errors.ts';

export interface Page {
  /** Default 100. */
  readonly limit?: number;
  /** The last one of an earlier page. */
  readonly before?: CheckpointId;
}

/** Newest first. A page is full, or the last. @throws `limit_invalid` */
export async function listCheckpoints(
  codec: ThreadCodec,
  { limit = 100, before }: Page,
): Promise<readonly CheckpointInfo[]> {
  if (!Number.isSafeInteger(limit) || limit < 1) throw engineErrors.make('limit_invalid', { limit: String(limit) });
  const made: StoredRecord[] = [];
  for (let to: string | undefined = before, isMore = true; isMore && made.length < limit; ) {
    const range = { reverse: true, limit: limit - made.length, ...(to !== undefined && { to }) };
    const records = await codec.source.range('checkpoints', codec.thread, range);
    for (const record of records) if (sequenceOf(record.key) !== undefined) made.push(record); // without bases and pins
    to = records.at(-1)?.key;
    isMore = records.length === range.limit;
  }
  const checkpoints = await Promise.all(made.map((record): Promise<Checkpoint> => openCheckpoint(codec, record)));
  return checkpoints.map(checkpointInfo);
}
