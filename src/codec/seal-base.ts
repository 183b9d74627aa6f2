import type { RecordWrite } from '../model/commit.ts';
import { baseKey, bodyItems, type Checkpoint, type CheckpointBody } from './checkpoint-codec.ts';
import { packBody } from './packer.ts';
import type { ThreadCodec } from './thread-codec.ts';

/** The base record of a checkpoint, bound to it by its tag (PROTOCOL 7). */
export async function sealBase(
  codec: ThreadCodec,
  checkpoint: Checkpoint,
  fields: CheckpointBody['fields'],
): Promise<RecordWrite> {
  const body = packBody(bodyItems({ ...checkpoint, fields, removed: [] }));
  const options = {
    plain: { parent: checkpoint.parent, kind: 'base' },
    parentTag: checkpoint.tag,
    mode: 'replace',
  } as const;
  return codec.sealRecord('checkpoints', baseKey(checkpoint.id), body, options);
}
