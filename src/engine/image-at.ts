import { textOf } from '../base/errors.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { openStateImage, type StateImage } from '../codec/thread-image.ts';
import { type CheckpointId, sequenceOf, type ThreadId } from '../model/ids.ts';
import { engineErrors } from './errors.ts';

/** The state at a checkpoint. @throws `checkpoint_unknown`, `record_damaged` */
export async function imageAt(codec: ThreadCodec, thread: ThreadId, id: CheckpointId): Promise<StateImage> {
  const isThere =
    sequenceOf(id) !== undefined && (await codec.source.get('checkpoints', codec.thread, id)) !== undefined;
  if (!isThere) throw engineErrors.make('checkpoint_unknown', { thread, checkpoint: textOf(id) });
  return openStateImage(codec, id);
}
