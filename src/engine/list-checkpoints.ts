import { type Checkpoint, checkpointInfo, openCheckpoint } from '../codec/checkpoint-codec.ts';
import { codecErrors } from '../codec/errors.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { openStateImage, type StateImage } from '../codec/thread-image.ts';
import type { CheckpointInfo } from '../model/checkpoint.ts';
import { type CheckpointId, sequenceOf, type ThreadId } from '../model/ids.ts';
import type { ThreadRow } from '../model/records.ts';
import { engineErrors } from './errors.ts';

/** The newest checkpoints, newest first. One that is damaged is left out, unless it is the head: `quarantine` names it. */
export async function listCheckpoints(
  codec: ThreadCodec,
  row: ThreadRow,
  limit: number,
  before: CheckpointId | undefined,
): Promise<readonly CheckpointInfo[]> {
  const range = { reverse: true, limit, ...(before !== undefined && { to: before }) };
  const records = await codec.source.range('checkpoints', codec.thread, range);
  const made = records.filter(({ key }) => sequenceOf(key) !== undefined); // without base records
  const opening = made.map((record): Promise<Checkpoint> => openCheckpoint(codec, record));
  const checkpoints = await Promise.allSettled(opening);
  return checkpoints.flatMap((opened, index) => {
    if (opened.status === 'fulfilled') return [checkpointInfo(opened.value)];
    if (made[index]?.key === row.head || !codecErrors.is(opened.reason, 'record_damaged')) throw opened.reason;
    return [];
  });
}

/** The state at a checkpoint. @throws `checkpoint_unknown`, `record_damaged` */
export async function imageAt(codec: ThreadCodec, thread: ThreadId, id: CheckpointId): Promise<StateImage> {
  const isThere =
    sequenceOf(id) !== undefined && (await codec.source.get('checkpoints', codec.thread, id)) !== undefined;
  if (!isThere) throw engineErrors.make('checkpoint_unknown', { thread, checkpoint: id });
  return openStateImage(codec, id);
}
