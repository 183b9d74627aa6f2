import { type Random, randomId } from '../base/random.ts';
import { isStale, openPinIfWhole, pinnedBy } from '../codec/pin-codec.ts';
import { sealBase } from '../codec/seal-base.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { openStateImage } from '../codec/thread-image.ts';
import type { CheckpointId, CommitId } from '../model/ids.ts';
import type { StoredRecord, ThreadRow } from '../model/records.ts';
import { storeErrors } from '../store/errors.ts';
import type { Store } from '../store/store.ts';
import { keyAbove } from '../store/thread-rules.ts';
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
  const own = later.filter(({ key }) => key === id || keyAbove(key) === id);
  const forks: string[] = [];
  for (const record of own.filter(({ key }) => pinnedBy(key) !== undefined)) {
    const pin = await openPinIfWhole(codec, record);
    if (pin === null) forks.push('one whose record is damaged');
    else if (!(await isStale(parts.store, codec, record))) forks.push(`"${pin.thread}"`);
  }
  if (forks.length > 0) {
    throw checkpointerErrors.make('checkpoint_pinned', { thread, checkpoint: id, forks: forks.join(', ') });
  }
  for (const child of later.filter(({ plain }) => plain.parent === id && plain.kind === 'delta')) {
    await makeIndependent(parts, codec, row, child);
  }
  const doomed = own.map(({ key, commit }) => ({ table: 'checkpoints', key, commit }) as const);
  const result = await parts.store.deleteRecords(row.thread, row.incarnation, row.epoch, doomed);
  if (result.status === 'held') return deleteCheckpoint(parts, codec, row, thread, id); // forked, or deleted, meanwhile
  if (result.status !== 'applied') {
    throw storeErrors.make('store_failed', { operation: 'delete a checkpoint', reason: result.status });
  }
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
