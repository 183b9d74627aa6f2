import { type Checkpoint, checkpointInfo, openCheckpoint } from '../codec/checkpoint-codec.ts';
import { codecErrors } from '../codec/errors.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { CheckpointInfo } from '../model/checkpoint.ts';
import { type CheckpointId, sequenceOf } from '../model/ids.ts';
import type { StoredRecord, ThreadRow } from '../model/records.ts';

export interface Page {
  /** Default 100. */
  readonly limit?: number;
  /** The last one of an earlier page. */
  readonly before?: CheckpointId;
}

/** Whether this is a page: how many, behind which checkpoint. */
export function isPage(page: Page): boolean {
  if (typeof page !== 'object' || page === null) return false;
  const { limit = 1, before, ...strange } = page;
  const isPlace = before === undefined || sequenceOf(before) !== undefined;
  return Number.isSafeInteger(limit) && limit >= 1 && isPlace && Object.keys(strange).length === 0;
}

/**
 * Newest first. A page is full, or the last. One that is damaged is left out, unless it is the head: `quarantine` names it.
 */
export async function listCheckpoints(
  codec: ThreadCodec,
  row: ThreadRow,
  { limit = 100, before }: Page,
): Promise<readonly CheckpointInfo[]> {
  const made: StoredRecord[] = [];
  for (let to: string | undefined = before, isMore = true; isMore && made.length < limit; ) {
    const range = { reverse: true, limit: limit - made.length, ...(to !== undefined && { to }) };
    const records = await codec.source.range('checkpoints', codec.thread, range);
    for (const record of records) if (sequenceOf(record.key) !== undefined) made.push(record); // without bases and pins
    to = records.at(-1)?.key;
    isMore = records.length === range.limit;
  }
  const opening = made.map((record): Promise<Checkpoint> => openCheckpoint(codec, record));
  const checkpoints = await Promise.allSettled(opening);
  return checkpoints.flatMap((opened, index) => {
    if (opened.status === 'fulfilled') return [checkpointInfo(opened.value)];
    if (made[index]?.key === row.head || !codecErrors.is(opened.reason, 'record_damaged')) throw opened.reason;
    return [];
  });
}
