/** Which blobs and segments a state refers to, and whether all of them open. For repair and collection. */

import { sortable } from '../model/ids.ts';
import type { StoredRecord } from '../model/records.ts';
import { type FieldImage, isLogImage, type LogImage, type LogSpan } from './checkpoint-codec.ts';
import { codecErrors } from './errors.ts';
import { openSegment, segmentPrefix } from './log-codec.ts';
import { LargeRef, unpackBody, unpackValue } from './packer.ts';
import type { StoredValue, ThreadCodec } from './thread-codec.ts';

/** Segments read in one go. */
const batch = 64;

/** The blobs that a value needs, those inside of its blobs included. @throws `record_missing`, `record_damaged` */
async function blobsIn(codec: ThreadCodec, stored: StoredValue): Promise<readonly LargeRef[]> {
  const own = stored instanceof LargeRef ? [stored] : [];
  if (stored instanceof LargeRef && stored.form !== 'packed') return own;
  const packed = stored instanceof LargeRef ? await codec.readBlob(stored) : stored;
  const inner: LargeRef[] = [];
  unpackValue(packed, (ref) => inner.push(ref) && null);
  return [...own, ...inner];
}

/** The segments of one log, in order. @throws `record_missing` where one is not there, `record_damaged` */
export async function* segmentsIn(
  codec: ThreadCodec,
  field: string,
  image: LogImage,
): AsyncGenerator<{ readonly record: StoredRecord; readonly items: readonly StoredValue[] }> {
  for (const { span, from, to } of image.spans) {
    const prefix = segmentPrefix(field, span);
    for (let next = from; next < to; ) {
      const range = { to: prefix + sortable(to), limit: batch };
      const opening = { from: prefix, to: `${prefix}${sortable(next)}~`, reverse: true, limit: 1 };
      const [first] = await codec.source.range('segments', codec.thread, opening);
      const records = await codec.source.range('segments', codec.thread, { from: first?.key ?? prefix, ...range });
      const before = next;
      for (const record of records) {
        const segment = await openSegment(codec, record);
        if (segment.from > next) break;
        next = Math.max(next, segment.from + segment.items.length);
        yield { record, items: segment.items };
      }
      if (next === before) {
        const key = prefix + sortable(next);
        throw codecErrors.make('record_missing', { table: 'segments', key, needed: `log field "${field}"` });
      }
    }
  }
}

/** Opens everything that a state refers to; what was found good or bad is not looked at again for its ancestors. */
export class FieldCheck {
  readonly #codec: ThreadCodec;
  readonly #blobs = new Map<string, Promise<unknown>>();
  /** By field and span: up to which item all is good, and what is wrong behind it. */
  readonly #logs = new Map<string, { readonly goodTo: number; readonly error?: unknown }>();

  constructor(codec: ThreadCodec) {
    this.#codec = codec;
  }

  /** @throws `record_missing`, `record_damaged`, `format_unknown` for the first record that does not open. */
  async check(fields: ReadonlyMap<string, FieldImage>): Promise<void> {
    for (const [name, image] of fields) {
      if (!isLogImage(image)) await this.#value(image);
      else for (const span of image.spans) await this.#span(name, span);
    }
  }

  async #span(field: string, span: LogSpan): Promise<void> {
    const place = segmentPrefix(field, span.span);
    const known = this.#logs.get(place);
    if (known !== undefined && span.to <= known.goodTo) return;
    if (known?.error !== undefined) throw known.error;
    let goodTo = span.from;
    try {
      for await (const { record, items } of segmentsIn(this.#codec, field, { spans: [span] })) {
        for (const item of items) await this.#value(item);
        goodTo = Number(record.plain.from) + items.length;
      }
      this.#logs.set(place, { goodTo });
    } catch (error) {
      this.#logs.set(place, { goodTo, error });
      throw error;
    }
  }

  async #value(stored: StoredValue): Promise<void> {
    const own = stored instanceof LargeRef ? stored.hash : undefined;
    const known = own === undefined ? undefined : this.#blobs.get(own);
    const work = known ?? this.#blobsOf(stored);
    if (own !== undefined) this.#blobs.set(own, work);
    await work;
  }

  async #blobsOf(stored: StoredValue): Promise<void> {
    for (const ref of await blobsIn(this.#codec, stored)) await this.#codec.readBlob(ref);
  }
}

/**
 * The blobs that a record's body refers to, found by their form: whatever kind of record it is, and whatever is added to it.
 * What only looks like a reference keeps a blob that could go, no more.
 */
export async function blobsInBody(codec: ThreadCodec, plaintext: Uint8Array): Promise<readonly string[]> {
  const found: LargeRef[] = [];
  const look = (item: unknown): void => {
    if (item instanceof Uint8Array) lookInValue(item, found);
    else if (item instanceof Map) for (const inner of item.values()) look(inner);
    else if (Array.isArray(item)) {
      const [hash, bytes, form, name, type] = item as unknown[];
      const isRef = item.length === 5 && typeof hash === 'string' && typeof bytes === 'number' && isForm(form);
      if (isRef) found.push(new LargeRef(hash, bytes, form, String(name), String(type)));
      else for (const inner of item) look(inner);
    }
  };
  look(unpackBody(plaintext));
  const hashes: string[] = [];
  for (const ref of found) for (const { hash } of await blobsIn(codec, ref)) hashes.push(hash);
  return hashes;
}

function isForm(form: unknown): form is LargeRef['form'] {
  return form === 'packed' || form === 'text' || form === 'bytes' || form === 'file';
}

function lookInValue(bytes: Uint8Array, found: LargeRef[]): void {
  const inner: LargeRef[] = [];
  try {
    unpackValue(Uint8Array.from(bytes), (ref) => inner.push(ref) && null);
  } catch {
    return; // a digest or a tag, no value
  }
  found.push(...inner);
}
