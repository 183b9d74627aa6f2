/**
 * Inbox items (PROTOCOL 6). Their place binds thread and deduplication id; the order is the store's, which gives it inside its
 * transaction, and so it is not sealed: whoever writes to the store can change the order of what is open, or put an item
 * there once more. Against that there is only the store itself (docs/guarantees.md).
 */
import type { InboxAppend } from '../model/commit.ts';
import { sortable } from '../model/ids.ts';
import type { Extension, InboxPolicy, Settled } from '../model/inbox.ts';
import type { RecordRange, StoredRecord } from '../model/records.ts';
import { BodyReader, storedItem } from './body.ts';
import { codecErrors } from './errors.ts';
import { packBody } from './packer.ts';
import { BlobBatch, recordFormat, type StoredValue, sameStored, type ThreadCodec } from './thread-codec.ts';

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

/** The item of this order as it was given, its payload undecoded; `undefined` if it was collected. @throws `record_damaged` */
export async function keptItem(codec: ThreadCodec, order: number): Promise<KeptItem | undefined> {
  const record = await codec.source.get('inbox', codec.thread, `o:${sortable(order)}`);
  return record && (await openKept(codec, record)).kept;
}

/** Whether this is the same item, but for its time and for what it does to a run under way. */
export async function isSameItem(codec: ThreadCodec, { type, stored, label }: KeptItem, item: InboxItem) {
  const payload = payloadOf(item);
  const given = payload === undefined ? null : await codec.encodeValue(payload, item.type, new BlobBatch());
  return type === item.type && sameStored(stored, given) && (item.type !== 'event' || label === item.name);
}

export interface KeptItem {
  readonly type: string;
  readonly atMs: number;
  readonly stored: StoredValue | null;
  readonly label: string;
}

async function openKept(codec: ThreadCodec, record: StoredRecord) {
  const { dedupId } = (record.plain ?? {}) as StoredRecord['plain'];
  const order = orderIn(record);
  if (typeof dedupId !== 'string' || !Number.isSafeInteger(order)) {
    const reason = 'it has no deduplication id, or no place in the order';
    throw codecErrors.make('record_damaged', { table: 'inbox', key: record.key, reason });
  }
  const { plaintext } = await codec.openRecord('inbox', { ...record, key: dedupId });
  const reader = BodyReader.of(plaintext, { table: 'inbox', key: record.key });
  const kept: KeptItem = {
    type: reader.text(),
    atMs: reader.number(),
    stored: reader.storedOrNull(),
    label: reader.text(),
  };
  return { order, dedupId, kept };
}

async function openItem(codec: ThreadCodec, record: StoredRecord): Promise<OrderedItem> {
  const { order, dedupId, kept } = await openKept(codec, record);
  const value = kept.stored === null ? undefined : await codec.decodeValue(kept.stored);
  return { order, dedupId, item: itemFrom(kept.type, kept.atMs, value, kept.label, record.key) };
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
