/**
 * A thread as one piece of bytes: all its records as they are, sealed (docs/format.md). Whoever holds the archive needs the root
 * key of the device it comes from to read it.
 */
import { concatBytes, utf8 } from '../base/bytes.ts';
import { codecErrors } from '../codec/errors.ts';
import { packBody, unpackBody } from '../codec/packer.ts';
import type { CommitId, ThreadHash } from '../model/ids.ts';
import type { PlainFields, RecordSource, StoredRecord, Table, ThreadRow } from '../model/records.ts';
import { tables } from '../model/records.ts';

const magic = utf8('HFAR\u0001');
/** Records read in one go. */
const page = 200;

export interface Archive {
  readonly database: string;
  readonly row: ThreadRow;
  readonly records: readonly (StoredRecord & { readonly table: Table })[];
}

/** `HFAR`, a version byte, then entries, each behind its length (4 bytes, big-endian): the row, then every record. */
export async function makeArchive(source: RecordSource, database: string, row: ThreadRow): Promise<Uint8Array> {
  const { control, ...plain } = row;
  const parts: Uint8Array[] = [magic, ...entry([database, JSON.stringify(plain), control])];
  for (const table of tables) {
    for (let from = ''; ; ) {
      const records = await source.range(table, row.thread, { from, limit: page });
      for (const { key, commit, format, plain, body } of records) {
        parts.push(...entry([table, key, commit, format, JSON.stringify(plain), body]));
      }
      const last = records.at(-1);
      if (last === undefined || records.length < page) break;
      from = `${last.key}\u0000`;
    }
  }
  return concatBytes(...parts);
}

/** @throws `record_damaged` where the bytes are no whole archive. */
export function readArchive(bytes: Uint8Array): Archive {
  if (magic.some((byte, index) => bytes[index] !== byte)) throw damaged('it does not begin like one of version 1');
  const entries: unknown[][] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = magic.length; at < bytes.length; ) {
    const length = at + 4 <= bytes.length ? view.getUint32(at) : Number.POSITIVE_INFINITY;
    if (at + 4 + length > bytes.length) throw damaged(`it ends within entry ${entries.length}`);
    entries.push(unpackBody(bytes.slice(at + 4, at + 4 + length)) as unknown[]);
    at += 4 + length;
  }
  const [first, ...others] = entries;
  if (first === undefined) throw damaged('it has no entries');
  const [database, row, control] = first as [string, string, Uint8Array];
  const records = others.map((items) => {
    const [table, key, commit, format, plain, body] = items as [Table, string, CommitId, number, string, Uint8Array];
    return { table, key, commit, format, plain: JSON.parse(plain) as PlainFields, body: Uint8Array.from(body) };
  });
  const plainRow = JSON.parse(row) as Omit<ThreadRow, 'control'> & { readonly thread: ThreadHash };
  return { database, row: { ...plainRow, control: Uint8Array.from(control) }, records };
}

function entry(items: readonly unknown[]): readonly Uint8Array[] {
  const body = packBody(items);
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, body.length);
  return [length, body.slice()]; // the packer reuses its buffer
}

function damaged(reason: string) {
  return codecErrors.make('record_damaged', { table: 'archive', key: 'archive', reason });
}
