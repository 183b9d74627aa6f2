import { type Random, randomId } from '../base/random.ts';
import { openPin } from '../codec/pin-codec.ts';
import { sealBase } from '../codec/seal-base.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { openStateImage } from '../codec/thread-image.ts';
import type { CheckpointId, CommitId } from '../model/ids.ts';
import type { StoredRecord, ThreadRow } from '../model/records.ts';
import { storeErrors } from '../store/errors.ts';
import type { Store } from '../store/store.ts';
import { checkpointerErrors } from './errors.ts';

/**
 * Deletes one checkpoint that is not the head. Each child that is a delta on it gets a base record with all its fields first
 * (PROTOCOL 4), so that a crash in between costs nothing.
 *
 * @throws `checkpoint_pinned`: another thread was forked from it. Nothing was deleted.
 */
export async function deleteCheckpoint(
  parts: { readonly store: Store; readonly random: Random },
  codec: ThreadCodec,
  row: ThreadRow,
  thread: string,
  id: CheckpointId,
): Promise<void> {
  const later = await codec.source.range('checkpoints', codec.thread, { from: id });
  const pins = later.filter(({ key, plain }) => key.startsWith(id) && plain.kind === 'pin');
  if (pins.length > 0) {
    const forks = await Promise.all(pins.map(async (record) => `"${(await openPin(codec, record)).thread}"`));
    throw checkpointerErrors.make('checkpoint_pinned', { thread, checkpoint: id, forks: forks.join(', ') });
  }
  for (const child of later.filter(({ plain }) => plain.parent === id && plain.kind === 'delta')) {
    await makeIndependent(parts, codec, row, child);
  }
  const keys = later.filter(({ key }) => key.startsWith(id)).map(({ key }) => ({ table: 'checkpoints', key }) as const);
  await parts.store.deleteRecords(row.thread, row.incarnation, row.epoch, keys);
}

async function makeIndependent(
  { store, random }: { readonly store: Store; readonly random: Random },
  codec: ThreadCodec,
  { thread, incarnation }: ThreadRow,
  child: StoredRecord,
): Promise<void> {
  const { checkpoint, fields } = await openStateImage(codec, child.key as CheckpointId);
  const [result] = await store.commit([
    {
      id: randomId(random) as CommitId,
      thread,
      incarnation,
      durability: 'strict',
      conditions: [{ kind: 'present', table: 'checkpoints', key: child.key }],
      records: [await sealBase(codec, checkpoint, fields)],
    },
  ]);
  if (result?.status !== 'applied') {
    throw storeErrors.make('store_failed', {
      operation: 'delete a checkpoint',
      reason: `its child: ${result?.status}`,
    });
  }
}
