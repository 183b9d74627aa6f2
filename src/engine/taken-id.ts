/** An inbox id is for one item (PROTOCOL 6): the same item again is that one, another one must not vanish behind it. */
import { type InboxItem, isSameItem, keptItem } from '../codec/inbox-codec.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { rareEngineErrors } from './rare-errors.ts';

/** @throws `id_taken` if the item of this order says something else. One that was collected is taken for the same. */
export async function refuseOtherItem(
  codec: ThreadCodec,
  order: number,
  { thread, dedupId, item }: { readonly thread: string; readonly dedupId: string; readonly item: InboxItem },
): Promise<void> {
  const kept = await keptItem(codec, order);
  if (kept === undefined || (await isSameItem(codec, kept, item))) return;
  throw rareEngineErrors.make('id_taken', { thread, dedupId, kept: kept.type });
}
