/** Inbox items. Their place binds thread and deduplication id; the order is the store's. */
import type { InboxAppend } from '../model/commit.ts';
import { sortable } from '../model/ids.ts';
import type { RecordRange, StoredRecord } from '../model/records.ts';
import { BodyReader, storedItem } from './body.ts';
import { packBody } from './packer.ts';
import { type BlobBatch, recordFormat, type ThreadCodec } from './thread-codec.ts';

/** `input` carries an update of the state; `cancel` asks the run to stop. */
export type InboxItem =
  | { readonly type: 'input'; readonly update: Readonly<Record<string, unknown>>; readonly atMs: number }
  | { readonly type: 'cancel'; readonly atMs: number };

export interface OrderedItem {
  readonly order: number;
  readonly dedupId: string;
  readonly item: InboxItem;
}

/** @throws `value_not_storable` */
export async function sealInboxItem(
  codec: ThreadCodec,
  dedupId: string,
  item: InboxItem,
  blobs: BlobBatch,
): Promise<InboxAppend> {
  const update = item.type === 'input' ? storedItem(await codec.encodeValue(item.update, 'input', blobs)) : null;
  const plain = { dedupId };
  const body = await codec.sealer.seal(codec.place('inbox', dedupId, plain), packBody([item.type, item.atMs, update]));
  return { dedupId, format: recordFormat, plain, body };
}

/** Items with a higher order than `after`, in order; at most `limit`. */
export async function readInbox(codec: ThreadCodec, after: number, limit?: number): Promise<readonly OrderedItem[]> {
  const range = { ...itemsBehind(after), ...(limit !== undefined && { limit }) };
  const records = await codec.source.range('inbox', codec.thread, range);
  return Promise.all(records.map((record) => openItem(codec, record)));
}

/** Order of the first item behind `after`, without opening it; `undefined` if there is none. */
export async function firstOrder(codec: ThreadCodec, after: number): Promise<number | undefined> {
  const [record] = await codec.source.range('inbox', codec.thread, { ...itemsBehind(after), limit: 1 });
  return record && orderIn(record);
}

function itemsBehind(after: number): RecordRange {
  return { from: `o:${sortable(after + 1)}`, to: 'o:~' };
}

function orderIn({ key }: StoredRecord): number {
  return Number.parseInt(key.slice(2), 16);
}

async function openItem(codec: ThreadCodec, record: StoredRecord): Promise<OrderedItem> {
  const dedupId = String(record.plain.dedupId);
  const { plaintext } = await codec.openRecord('inbox', { ...record, key: dedupId });
  const reader = BodyReader.of(plaintext, { table: 'inbox', key: record.key });
  const [type, atMs, stored] = [reader.text(), reader.number(), reader.storedOrNull()];
  const order = orderIn(record);
  if (type === 'cancel' || stored === null) return { order, dedupId, item: { type: 'cancel', atMs } };
  const update = (await codec.decodeValue(stored)) as Readonly<Record<string, unknown>>;
  return { order, dedupId, item: { type: 'input', update, atMs } };
}
