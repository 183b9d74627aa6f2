import { concatBytes, equalBytes, utf8 } from '../base/bytes.ts';
import { Secrets } from '../base/secrets.ts';
import type { RecordWrite } from '../model/commit.ts';
import { FileRef } from '../model/file-ref.ts';
import type { Incarnation, ThreadHash, ThreadId } from '../model/ids.ts';
import type { ParentThread } from '../model/parent-thread.ts';
import type { PlainFields, RecordSource, StoredRecord, Table } from '../model/records.ts';
import type { Place } from './envelope.ts';
import { codecErrors } from './errors.ts';
import { inspectValue } from './inspect-value.ts';
import { LargeRef, packValue, unpackValue } from './packer.ts';
import type { DataSealer, Opened } from './sealer.ts';
import { substitute } from './substitute.ts';

/** Values over this many bytes are stored apart, once (A8). */
export const defaultThresholdBytes = 4096;
/** Browsers may keep larger values in side files that cleaners delete: chunks stay below (FIELD-NOTES 8). */
const chunkBytes = 48 * 1024;
/** Format version of every record kind; a kind that changes gets the next number. */
export const recordFormat = 1;

const secretFound = {
  found: 'a value that is declared secret',
  hint: 'it must not leave its secret field; tools make it again where they need it',
};

/** A value as records hold it: packed, or a reference to a blob. */
export type StoredValue = Uint8Array | LargeRef;

export interface ThreadCodecOptions {
  readonly database: string;
  readonly thread: ThreadHash;
  readonly incarnation: Incarnation;
  readonly sealer: DataSealer;
  readonly source: RecordSource;
  readonly parent: ParentThread | null;
  readonly owner: string;
  readonly id?: ThreadId;
  readonly thresholdBytes?: number;
}

/** Turns the values and records of one thread into sealed bytes and back. */
export class ThreadCodec {
  readonly thread: ThreadHash;
  readonly incarnation: Incarnation;
  readonly sealer: DataSealer;
  readonly source: RecordSource;
  /** The thread that waits for this one's end; `null` for one that nobody started. */
  readonly parent: ParentThread | null;
  /** Sealed, unlike the row's, which whoever writes to the store can change. */
  readonly owner: string;
  /** What errors call the thread. */
  readonly name: string;
  /** What must never be stored, nor be read in an error. */
  readonly secrets = new Secrets();
  readonly #database: string;
  readonly #thresholdBytes: number;
  /** References of files that this codec has read or encoded: their bytes need not be hashed again. */
  readonly #files = new WeakMap<FileRef, LargeRef>();

  constructor(options: ThreadCodecOptions) {
    this.thread = options.thread;
    this.name = options.id ?? options.thread;
    this.incarnation = options.incarnation;
    this.sealer = options.sealer;
    this.source = options.source;
    this.parent = options.parent;
    this.owner = options.owner;
    this.#database = options.database;
    this.#thresholdBytes = options.thresholdBytes ?? defaultThresholdBytes;
  }

  /**
   * The value as a record holds it. Blobs it needs are added to `blobs`.
   *
   * @throws `value_not_storable`, with a path that begins with `path`.
   */
  async encodeValue(value: unknown, path: string, blobs: BlobBatch): Promise<StoredValue> {
    if (this.secrets.isIn(value)) throw codecErrors.make('value_not_storable', { path, ...secretFound });
    const found = inspectValue(value, path, this.#thresholdBytes);
    const packed = packValue(found.needsCopy ? substitute(value, await this.#largeRefs(found.large, blobs)) : value);
    return packed.length > this.#thresholdBytes ? this.#store(packed, 'packed', blobs) : packed;
  }

  async #largeRefs(items: Iterable<string | Uint8Array | FileRef>, blobs: BlobBatch) {
    const refs = new Map<unknown, LargeRef>();
    for (const item of items) refs.set(item, await this.#largeRef(item, blobs));
    return refs;
  }

  /** @throws `record_missing`, `record_damaged` if a blob it needs is. */
  async decodeValue(stored: StoredValue): Promise<unknown> {
    const packed = stored instanceof LargeRef ? await this.readBlob(stored) : stored;
    const wanted: LargeRef[] = [];
    const draft = this.#unpack(packed, (ref) => (ref.form === 'file' ? this.#file(ref) : wanted.push(ref) && null));
    if (wanted.length === 0) return draft;
    const loaded = new Map<string, string | Uint8Array>();
    for (const ref of wanted) {
      const bytes = await this.readBlob(ref);
      loaded.set(ref.hash, ref.form === 'text' ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) : bytes);
    }
    return this.#unpack(packed, (ref) => (ref.form === 'file' ? this.#file(ref) : copyOf(loaded.get(ref.hash))));
  }

  #unpack(packed: Uint8Array, resolve: (ref: LargeRef) => unknown): unknown {
    try {
      return unpackValue(packed, resolve);
    } catch (cause) {
      throw codecErrors.make('record_damaged', { table: 'values', key: 'packed', reason: 'it is no value' }, cause);
    }
  }

  async readBlob(ref: LargeRef): Promise<Uint8Array> {
    const chunks: Uint8Array[] = []; // no room is made before all that is declared was found
    const count = chunkCount(ref.bytes);
    const records = await this.source.range('blobs', this.thread, {
      from: `${ref.hash}.`,
      to: `${ref.hash}/`,
      limit: count,
    });
    for (let index = 0; index < count; index += 1) {
      const key = chunkKey(ref.hash, index);
      const record = records[index];
      if (record?.key !== key)
        throw codecErrors.make('record_missing', { table: 'blobs', key, needed: 'a large value' });
      const { plaintext } = await this.openRecord('blobs', record);
      const room = Math.min(chunkBytes, ref.bytes - index * chunkBytes);
      if (plaintext.length !== room) {
        throw codecErrors.make('record_damaged', {
          table: 'blobs',
          key,
          reason: `it has ${plaintext.length} bytes, not ${room}`,
        });
      }
      chunks.push(plaintext);
    }
    return concatBytes(...chunks);
  }

  async sealRecord(
    table: Table,
    key: string,
    plaintext: Uint8Array,
    options: { plain?: PlainFields; mode?: RecordWrite['mode']; parentTag?: Uint8Array | null } = {},
  ): Promise<RecordWrite> {
    const plain = options.plain ?? {};
    const body = await this.sealer.seal(this.place(table, key, plain), plaintext, options.parentTag ?? null);
    return { table, key, format: recordFormat, plain, body, mode: options.mode ?? 'create' };
  }

  /** @throws `format_unknown`, `record_damaged` */
  async openRecord(table: Table, record: Omit<StoredRecord, 'commit'>): Promise<Opened> {
    const { key, format, plain, body } = record;
    checkFormat({ table, key }, format);
    return this.sealer.open(this.place(table, key, plain, format), body);
  }

  place(table: string, key: string, plain: PlainFields, format = recordFormat): Place {
    return { database: this.#database, table, thread: this.thread, incarnation: this.incarnation, key, format, plain };
  }

  async #largeRef(item: string | Uint8Array | FileRef, blobs: BlobBatch): Promise<LargeRef> {
    if (typeof item === 'string') return this.#store(utf8(item), 'text', blobs);
    if (item instanceof Uint8Array) return this.#store(item.slice(), 'bytes', blobs);
    const known = this.#files.get(item);
    if (known !== undefined && blobs.has(known.hash)) return known;
    // Looked up: it may have been encoded for a comparison, or for a commit that was not applied.
    if (known !== undefined && blobs.mayReuse && (await this.#isStored(known))) {
      blobs.reused.set(known.hash, known);
      return known;
    }
    const ref = await this.#store(await item.bytes(), 'file', blobs, item.name, item.type);
    this.#files.set(item, ref);
    return ref;
  }

  async #store(bytes: Uint8Array, form: LargeRef['form'], blobs: BlobBatch, name = '', type = ''): Promise<LargeRef> {
    const ref = new LargeRef(await this.sealer.hash('blob', bytes), bytes.length, form, name, type);
    if (blobs.has(ref.hash)) return ref;
    if (blobs.mayReuse && (await this.#isStored(ref))) {
      blobs.reused.set(ref.hash, ref);
      return ref;
    }
    const chunks = Array.from({ length: chunkCount(bytes.length) }, (_, index) =>
      this.sealRecord(
        'blobs',
        chunkKey(ref.hash, index),
        bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes),
        { mode: 'replace' },
      ),
    );
    blobs.fresh.set(ref.hash, await Promise.all(chunks));
    return ref;
  }

  async #isStored(ref: LargeRef): Promise<boolean> {
    const last = await this.source.get('blobs', this.thread, chunkKey(ref.hash, chunkCount(ref.bytes) - 1));
    return last !== undefined && last.body.length > 0; // a collected one is empty
  }

  #file(ref: LargeRef): FileRef {
    const { name, type, bytes } = ref;
    const file = new FileRef({ name, type, sizeBytes: bytes }, () => this.readBlob(ref));
    this.#files.set(file, ref);
    return file;
  }
}

/** @throws `format_unknown`, or `record_damaged` for what is no format at all. */
export function checkFormat(where: { readonly table: string; readonly key: string }, format: number): void {
  if (typeof format !== 'number')
    throw codecErrors.make('record_damaged', { ...where, reason: 'its format is no number' });
  if (format > recordFormat) throw codecErrors.make('format_unknown', { ...where, format, known: recordFormat });
}

/**
 * The blobs that one commit needs: fresh ones to write, stored ones that must still be there (PROTOCOL 7). By their content, so that
 * each payload is stored once (PROTOCOL 3).
 */
export class BlobBatch {
  /** Whether a stored blob may be referred to: only by a writer whose commit names its epoch, as collection raises it. */
  readonly mayReuse: boolean;
  readonly fresh = new Map<string, readonly RecordWrite[]>();
  readonly reused = new Map<string, LargeRef>();

  constructor({ mayReuse = true }: { readonly mayReuse?: boolean } = {}) {
    this.mayReuse = mayReuse;
  }

  has(hash: string): boolean {
    return this.fresh.has(hash) || this.reused.has(hash);
  }

  writes(): readonly RecordWrite[] {
    return [...this.fresh.values()].flat();
  }

  /** Conditions of the commit: nobody collected what it refers to. */
  conditions(): readonly { readonly kind: 'present'; readonly table: 'blobs'; readonly key: string }[] {
    return [...this.reused.values()].map((ref) => ({
      kind: 'present',
      table: 'blobs',
      key: chunkKey(ref.hash, chunkCount(ref.bytes) - 1),
    }));
  }
}

export function sameStored(a: StoredValue | null, b: StoredValue | null): boolean {
  if (a === null || b === null) return a === b;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && equalBytes(a, b);
  return !(b instanceof Uint8Array) && a.hash === b.hash && a.form === b.form;
}

function chunkKey(hash: string, index: number): string {
  return `${hash}.${index.toString(16).padStart(4, '0')}`;
}

function chunkCount(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / chunkBytes));
}

/** Equal arrays share a blob, but must not come back as one array. */
function copyOf(value: string | Uint8Array | undefined): string | Uint8Array | undefined {
  return typeof value === 'string' ? value : value?.slice();
}
