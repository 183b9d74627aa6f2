/**
 * The events of one commit, one record under the checkpoint's id. Beside a snapshot it also holds what that step changed, so
 * that the state can be made again where the snapshot cannot be read (A6): together with the deltas, which hold their own
 * changes, no change is stored twice. The envelope carries the checkpoint's tag, which ties the two together.
 */

import type { RecordWrite } from '../model/commit.ts';
import type { ThreadEvent } from '../model/event.ts';
import type { CheckpointId } from '../model/ids.ts';
import { bodyItems, type Checkpoint } from './checkpoint-codec.ts';
import { packBody } from './packer.ts';
import type { ThreadCodec } from './thread-codec.ts';

/** None where there is nothing to record. */
export function sealEvents(
  codec: ThreadCodec,
  id: CheckpointId,
  events: readonly ThreadEvent[],
  change?: Checkpoint,
): readonly Promise<RecordWrite>[] {
  if (events.length === 0 && change === undefined) return [];
  const items = events.map((event) => [event.type, event.atMs, new Map(Object.entries(event.details))]);
  const changed = change === undefined ? [] : [[change.parent, change.parentTag, bodyItems(change)]];
  const options = { parentTag: change?.tag ?? null };
  return [codec.sealRecord('events', id, packBody([items, changed]), options)];
}
