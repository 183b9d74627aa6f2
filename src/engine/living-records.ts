/** Which waits, segments and large values nothing names any more. */
import { isLogImage, type LogSpan } from '../codec/checkpoint-codec.ts';
import { faultOf } from '../codec/recover-lineage.ts';
import { blobsInBody, segmentsIn } from '../codec/references.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { readWait } from '../codec/wait-codec.ts';
import type { WaitId } from '../model/ids.ts';
import type { StoredRecord, Table } from '../model/records.ts';
import { inboxItems } from '../store/apply-group.ts';
import type { Retained } from './retained.ts';

export interface DeadRecords {
  readonly deadWaits: readonly StoredRecord[];
  readonly deadSegments: readonly StoredRecord[];
  /** The chunks of each. */
  readonly deadBlobs: readonly (readonly StoredRecord[])[];
}

export async function livingRecords(codec: ThreadCodec, retained: Retained): Promise<DeadRecords> {
  // Read before all that may name them: a value that comes in between, with an input or an answer, is none of these, or is written
  // anew under another commit, and is left alone.
  const chunks = await codec.source.range('blobs', codec.thread, {});
  const waits = await codec.source.range('waits', codec.thread, {});
  const deadWaits = await waitsOf(codec, waits, retained);
  const segments = await codec.source.range('segments', codec.thread, {});
  const living = await livingSegments(codec, retained);
  const deadSegments = segments.filter(({ key }) => !living.has(key));
  const doomed = new Set([...deadWaits, ...deadSegments].map(({ key }) => key));
  const named = await namedBlobs(codec, retained, doomed);
  const blobs = new Map<string, StoredRecord[]>();
  for (const chunk of chunks) {
    const [hash = ''] = chunk.key.split('.');
    blobs.set(hash, [...(blobs.get(hash) ?? []), chunk]);
  }
  const isDead = ([hash, own]: [string, readonly StoredRecord[]]) =>
    named !== undefined && !named.has(hash) && own.some(({ body }) => body.length > 0);
  return { deadWaits, deadSegments, deadBlobs: [...blobs].filter(isDead).map(([, own]) => own) };
}

/** Answered waits of before what is kept; not of before a repair, and one that does not open stays. */
async function waitsOf(
  codec: ThreadCodec,
  records: readonly StoredRecord[],
  { images, waitsFromMs, repairedAtMs }: Retained,
): Promise<readonly StoredRecord[]> {
  const needed = new Set([...images.values()].flatMap(({ checkpoint }) => checkpoint.control.waits));
  const answered = new Set(records.flatMap(({ key }) => (key.startsWith('a:') ? [key.slice(2)] : [])));
  const dead = new Set<string>();
  for (const id of answered as Set<WaitId>) {
    if (needed.has(id)) continue;
    const wait = await readWait(codec, id).catch((error) => void faultOf(error));
    if (wait !== undefined && wait.openedAtMs >= repairedAtMs && wait.openedAtMs < waitsFromMs) dead.add(id);
  }
  return records.filter(({ key }) => dead.has(key.slice(2)));
}

async function livingSegments(codec: ThreadCodec, { images }: Retained): Promise<ReadonlySet<string>> {
  const spans = new Map<string, { readonly field: string; readonly span: LogSpan }>();
  for (const { fields } of images.values()) {
    for (const [field, image] of fields) {
      for (const span of isLogImage(image) ? image.spans : []) {
        const place = `${field}/${span.span}`;
        const known = spans.get(place)?.span ?? span;
        const wider = { ...span, from: Math.min(known.from, span.from), to: Math.max(known.to, span.to) };
        spans.set(place, { field, span: wider });
      }
    }
  }
  const living = new Set<string>();
  for (const { field, span } of spans.values()) {
    for await (const { record } of segmentsIn(codec, field, { spans: [span] })) living.add(record.key);
  }
  return living;
}

/** All large values that any record names; `undefined` where one cannot be asked, so that none can be said to be unnamed. */
async function namedBlobs(
  codec: ThreadCodec,
  { marked }: Retained,
  doomed: ReadonlySet<string>,
): Promise<ReadonlySet<string> | undefined> {
  const named = new Set<string>();
  const naming: readonly Table[] = ['checkpoints', 'segments', 'ledger', 'inbox', 'waits'];
  for (const table of naming) {
    const range = table === 'inbox' ? inboxItems : {};
    for (const record of await codec.source.range(table, codec.thread, range)) {
      // An empty one names nothing: space that was kept for an outcome, given back.
      if (record.body.length === 0 || doomed.has(record.key) || marked.has(`${table}/${record.key}`)) continue;
      try {
        const key = table === 'inbox' ? String(record.plain.dedupId) : record.key;
        const { plaintext } = await codec.openRecord(table, { ...record, key });
        for (const hash of await blobsInBody(codec, plaintext)) named.add(hash);
      } catch (error) {
        faultOf(error);
        return undefined;
      }
    }
  }
  return named;
}
