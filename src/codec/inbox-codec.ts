/** Inbox items. Their place binds thread and deduplication id; the order is the store's. */
import type { InboxAppend } from '../model/commit.ts';
import { sortable } from '../model/ids.ts';
import type { Extension, InboxPolicy, Settled } from '../model/inbox.ts';
import type { RecordRange, StoredRecord } from '../model/records.ts';
import { BodyReader, storedItem } from './body.ts';
import { codecErrors } from './errors.ts';
import { packBody } from './packer.ts';
import { type BlobBatch, recordFormat, type ThreadCodec } from './thread-codec.ts';

/**
 * `input` carries an update of the state; `cancel` asks the run to stop; `event` is something that a wait of its name takes
 * up; `extend` raises limits and lets a run that reached one go on.
 */
export type InboxItem =
  | {
      readonly type: 'input';
      readonly update: Readonly<Record<string, unknown>>;
      readonly policy: InboxPolicy;
      readonly atMs: number;
    }
  | { readonly type: 'cancel'; readonly atMs: number }
  | { readonly type: 'event'; readonly name: string; readonly value: unknown; readonly atMs: number }
  | { readonly type: 'extend'; readonly limits: Extension; readonly atMs: number };

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
  const payload = payloadOf(item);
  const stored = payload === undefined ? null : storedItem(await codec.encodeValue(payload, item.type, blobs));
  const label = item.type === 'input' ? item.policy : item.type === 'event' ? item.name : '';
  const plain = { dedupId };
  const bytes = packBody([item.type, item.atMs, stored, label]);
  const body = await codec.sealer.seal(codec.place('inbox', dedupId, plain), bytes);
  return { dedupId, format: recordFormat, plain, body };
}

function payloadOf(item: InboxItem): unknown {
  return item.type === 'input'
    ? item.update
    : item.type === 'event'
      ? item.value
      : item.type === 'extend'
        ? item.limits
        : undefined;
}

/** Items with a higher order than `after` that are not among `consumed`, in order; at most `limit` are read. */
export async function readInbox(
  codec: ThreadCodec,
  after: number,
  { consumed = [], limit }: { readonly consumed?: readonly number[]; readonly limit?: number } = {},
): Promise<readonly OrderedItem[]> {
  const settled = new Set(consumed);
  const range = { ...itemsBehind(after), ...(limit !== undefined && { limit }) };
  const records = await codec.source.range('inbox', codec.thread, range);
  return Promise.all(
    records.filter((record) => !settled.has(orderIn(record))).map((record) => openItem(codec, record)),
  );
}

/** Order of the first item that is not settled, without opening it; `undefined` if there is none. */
export async function firstOrder(codec: ThreadCodec, { inboxTaken, consumed }: Settled): Promise<number | undefined> {
  const records = await codec.source.range('inbox', codec.thread, itemsBehind(inboxTaken));
  return records.map(orderIn).find((order) => !consumed.includes(order));
}

function itemsBehind(after: number): RecordRange {
  return { from: `o:${sortable(after + 1)}`, to: 'o:~' };
}

function orderIn({ key }: StoredRecord): number {
  return Number.parseInt(key.slice(2), 16);
}

async function openItem(codec: ThreadCodec, record: StoredRecord): Promise<OrderedItem> {
  const { dedupId } = (record.plain ?? {}) as StoredRecord['plain'];
  const order = orderIn(record);
  if (typeof dedupId !== 'string' || !Number.isSafeInteger(order)) {
    const reason = 'it has no deduplication id, or no place in the order';
    throw codecErrors.make('record_damaged', { table: 'inbox', key: record.key, reason });
  }
  const { plaintext } = await codec.openRecord('inbox', { ...record, key: dedupId });
  const reader = BodyReader.of(plaintext, { table: 'inbox', key: record.key });
  const [type, atMs, stored, label] = [reader.text(), reader.number(), reader.storedOrNull(), reader.text()];
  const value = stored === null ? undefined : await codec.decodeValue(stored);
  return { order, dedupId, item: itemFrom(type, atMs, value, label, record.key) };
}

function itemFrom(type: string, atMs: number, value: unknown, label: string, key: string): InboxItem {
  switch (type) {
    case 'input':
      return { type, update: value as Readonly<Record<string, unknown>>, policy: label as InboxPolicy, atMs };
    case 'event':
      return { type, name: label, value, atMs };
    case 'extend':
      return { type, limits: value as Extension, atMs };
    case 'cancel':
      return { type, atMs };
    default:
      throw codecErrors.make('record_damaged', { table: 'inbox', key, reason: `its type is "${type}"` });
  }
}
