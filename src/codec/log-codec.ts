/**
 * Log fields: segments of items, immutable, addressed by field, span and the index of their first item. A snapshot names them, so
 * that one of a long thread costs what changed, and a log is read piece by piece (PROTOCOL 7).
 */
import type { RecordWrite } from '../model/commit.ts';
import type { Log } from '../model/fields.ts';
import { sortable } from '../model/ids.ts';
import type { StoredRecord } from '../model/records.ts';
import { BodyReader, storedItem } from './body.ts';
import { type LogImage, logLength } from './checkpoint-codec.ts';
import { codecErrors } from './errors.ts';
import { packBody } from './packer.ts';
import { type BlobBatch, defaultThresholdBytes, type StoredValue, type ThreadCodec } from './thread-codec.ts';

/** A segment record stays below this, so that no browser puts it into a side file (FIELD-NOTES 8). */
const segmentBytes = 40 * 1024;
/** Segments read in one go. */
const batch = 64;
/** Name of a span whose items are not stored yet: they are all at hand. */
const pendingSpan = '';
/** Items that a running thread keeps at hand, so that a look at the newest needs no read. */
const recentItems = 64;

/** A segment that is not sealed yet. */
export interface Segment {
  readonly key: string;
  readonly from: number;
  readonly items: readonly StoredValue[];
}

/** The items as segments. Blobs they need are added to `blobs`. @throws `value_not_storable` */
export async function encodeSegments(
  codec: ThreadCodec,
  field: string,
  span: string,
  from: number,
  items: readonly unknown[],
  blobs: BlobBatch,
): Promise<readonly Segment[]> {
  const encoded = await Promise.all(
    items.map((item, index) => codec.encodeValue(item, `${field}[${from + index}]`, blobs)),
  );
  const segments: Segment[] = [];
  const put = (first: number, end?: number) =>
    segments.push({ key: segmentKey(field, span, from + first), from: from + first, items: encoded.slice(first, end) });
  let first = 0;
  let bytes = 0;
  encoded.forEach((item, index) => {
    const size = item instanceof Uint8Array ? item.length : defaultThresholdBytes / 16;
    if (bytes + size > segmentBytes && index > first) {
      put(first, index);
      first = index;
      bytes = 0;
    }
    bytes += size;
  });
  if (first < encoded.length) put(first);
  return segments;
}

export function sealSegment(codec: ThreadCodec, { key, from, items }: Segment): Promise<RecordWrite> {
  return codec.sealRecord('segments', key, packBody([items.map(storedItem)]), { plain: { from, count: items.length } });
}

function segmentKey(field: string, span: string, from: number): string {
  return segmentPrefix(field, span) + sortable(from);
}

/** A log as nodes see it. `grown` gives a new view; a view itself never changes. */
export class LogView<Item = unknown> implements Log<Item> {
  readonly image: LogImage;
  readonly length: number;
  readonly #codec: ThreadCodec;
  readonly #field: string;
  /** The newest items, ending at `length`. */
  readonly #recent: readonly Item[];

  constructor(codec: ThreadCodec, field: string, image: LogImage, recent: readonly Item[] = []) {
    this.image = image;
    this.length = logLength(image);
    this.#codec = codec;
    this.#field = field;
    this.#recent = recent;
  }

  grown(image: LogImage, items: readonly Item[]): LogView<Item> {
    return new LogView(this.#codec, this.#field, image, [...this.#recent, ...items].slice(-recentItems));
  }

  /** The view with items that are not committed yet. */
  withPending(items: readonly Item[]): LogView<Item> {
    const { length } = this;
    const image = { spans: [...this.image.spans, { span: pendingSpan, from: length, to: length + items.length }] };
    return new LogView(this.#codec, this.#field, image, [...this.#recent, ...items]);
  }

  tail(count: number): Promise<readonly Item[]> {
    return this.slice(Math.max(0, this.length - count));
  }

  async slice(from: number, to = this.length): Promise<readonly Item[]> {
    const [first, end] = [from, to].map((at) => Math.min(Math.max(0, at < 0 ? this.length + at : at), this.length)) as [
      number,
      number,
    ];
    if (first >= end) return [];
    const recentFrom = this.length - this.#recent.length;
    if (first >= recentFrom) return this.#recent.slice(first - recentFrom, end - recentFrom);
    const items: Item[] = [];
    for (const span of this.image.spans) {
      const [low, high] = [Math.max(span.from, first), Math.min(span.to, end)];
      if (low < high && span.span === pendingSpan) {
        for (const item of this.#recent.slice(low - recentFrom, high - recentFrom)) items.push(item);
      } else if (low < high)
        for (const item of await readSpan(this.#codec, this.#field, span.span, low, high)) items.push(item as Item);
    }
    return items;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for (let from = 0; from < this.length; from += batch) {
      yield* await this.slice(from, Math.min(from + batch, this.length));
    }
  }
}

async function readSpan(codec: ThreadCodec, field: string, span: string, from: number, to: number): Promise<unknown[]> {
  const prefix = segmentPrefix(field, span);
  const items: unknown[] = [];
  let next = from;
  const [opening] = await codec.source.range('segments', codec.thread, {
    from: prefix,
    to: `${prefix}${sortable(from)}~`,
    reverse: true,
    limit: 1,
  });
  let start = opening?.key ?? prefix + sortable(from);
  while (next < to) {
    const records = await codec.source.range('segments', codec.thread, {
      from: start,
      to: prefix + sortable(to),
      limit: Math.min(batch, to - next + 1),
    });
    const before = next;
    for (const record of records) {
      const segment = await openSegment(codec, record);
      if (segment.from > next) break;
      const wanted = segment.items.slice(next - segment.from, to - segment.from);
      for (const item of await Promise.all(wanted.map((stored) => codec.decodeValue(stored)))) items.push(item);
      next += wanted.length;
    }
    if (next === before) {
      const key = prefix + sortable(next);
      throw codecErrors.make('record_missing', { table: 'segments', key, needed: `log field "${field}"` });
    }
    start = prefix + sortable(next);
  }
  return items;
}

export async function openSegment(
  codec: ThreadCodec,
  record: StoredRecord,
): Promise<{ from: number; items: readonly StoredValue[] }> {
  const { plaintext } = await codec.openRecord('segments', record);
  const body = BodyReader.of(plaintext, { table: 'segments', key: record.key });
  const { from, count } = record.plain;
  const items = body.list().map((item) => item.stored());
  if (typeof from !== 'number' || count !== items.length) {
    const reason = `it says that it holds ${count} items from ${from} on, and holds ${items.length}`;
    throw codecErrors.make('record_damaged', { table: 'segments', key: record.key, reason });
  }
  return { from, items };
}

/** Field names may hold any character; keys are ASCII and `/` separates their parts. */
export function segmentPrefix(field: string, span: string): string {
  return `${encodeURIComponent(field)}/${span}/`;
}
