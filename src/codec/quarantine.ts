/**
 * Marks of damaged records (A11). The record stays where and as it is; a sealed mark in the event log, `q:<table>/<key>`,
 * says what was found and when. Nothing ever deletes a marked record but the end of its thread. A chunk of a blob is moved into
 * its mark: its key belongs to its content, which must have room to be written again.
 */
import type { RecordWrite } from '../model/commit.ts';
import type { CheckpointId } from '../model/ids.ts';
import type { QuarantinedRecord } from '../model/repair.ts';
import { BodyReader } from './body.ts';
import { packBody } from './packer.ts';
import type { Fault } from './recover-lineage.ts';
import { recordFormat, type ThreadCodec } from './thread-codec.ts';

/** Marks come behind all events, whose keys are hexadecimal. */
export const marks = { from: 'q:', to: 'q;' } as const;

/** One for each; a chunk that an earlier repair moved into its mark keeps that one. */
export async function sealMarks(
  codec: ThreadCodec,
  found: readonly QuarantinedRecord[],
): Promise<readonly RecordWrite[]> {
  const sealed = await Promise.all(found.map((mark) => sealMark(codec, mark)));
  return sealed.filter((mark) => mark !== undefined);
}

async function sealMark(codec: ThreadCodec, mark: QuarantinedRecord): Promise<RecordWrite | undefined> {
  const { table, key, reason, atMs, repairedBy } = mark;
  const markKey = `${marks.from}${table}/${key}`;
  const moved = table === 'blobs' ? await codec.source.get('blobs', codec.thread, key) : undefined;
  const wasMoved = moved?.body.length === 0 && (await codec.source.get('events', codec.thread, markKey)) !== undefined;
  if (wasMoved) return undefined;
  const body = packBody([table, key, reason, atMs, repairedBy, moved?.body ?? null]);
  return codec.sealRecord('events', markKey, body, { mode: 'replace' });
}

/** What stays of the chunks that are moved into their marks, in the same commit: nothing that counts as stored. */
export function emptied(found: readonly QuarantinedRecord[]): readonly RecordWrite[] {
  return found.flatMap(({ table, key }): RecordWrite[] =>
    table === 'blobs'
      ? [{ table, key, format: recordFormat, plain: {}, body: new Uint8Array(0), mode: 'replace' }]
      : [],
  );
}

/**
 * Faults for the chunks of damaged blobs that must make room with them: the last one of each, by whose presence a blob is
 * known to be stored.
 */
export async function lastChunks(codec: ThreadCodec, faults: readonly Fault[]): Promise<readonly Fault[]> {
  const found: Fault[] = [];
  for (const { table, key } of faults) {
    if (table !== 'blobs') continue;
    const [hash] = key.split('.');
    const range = { from: `${hash}.`, to: `${hash}/`, reverse: true, limit: 1 };
    const [last] = await codec.source.range('blobs', codec.thread, range);
    if (last !== undefined && last.key !== key) found.push({ table, key: last.key, reason: `${key} is damaged` });
  }
  return found;
}

export async function readMarks(codec: ThreadCodec): Promise<readonly QuarantinedRecord[]> {
  const records = await codec.source.range('events', codec.thread, marks);
  return Promise.all(
    records.map(async (record): Promise<QuarantinedRecord> => {
      const { plaintext } = await codec.openRecord('events', record);
      const reader = BodyReader.of(plaintext, { table: 'events', key: record.key });
      return {
        table: reader.text() as QuarantinedRecord['table'],
        key: reader.text(),
        reason: reader.text(),
        atMs: reader.number(),
        repairedBy: reader.text() as CheckpointId,
      };
    }),
  );
}
