/** Every decoder of sealed records, with a record that it reads. */

import { equalBytes } from '../../src/base/bytes.ts';
import {
  baseKey,
  type Checkpoint,
  isLogImage,
  openCheckpoint,
  sealCheckpoint,
} from '../../src/codec/checkpoint-codec.ts';
import { codecErrors } from '../../src/codec/errors.ts';
import { readEvents } from '../../src/codec/event-codec.ts';
import { sealEvents } from '../../src/codec/events-codec.ts';
import { type InboxItem, readInbox, sealInboxItem } from '../../src/codec/inbox-codec.ts';
import {
  ledgerKey,
  readLedger,
  readOutcome,
  sealDoubt,
  sealIntent,
  sealOutcome,
} from '../../src/codec/ledger-codec.ts';
import { encodeSegments, LogView, sealSegment } from '../../src/codec/log-codec.ts';
import { openEvents } from '../../src/codec/open-events.ts';
import { openPin, pinKey, sealPin } from '../../src/codec/pin-codec.ts';
import { sealBase } from '../../src/codec/seal-base.ts';
import { BlobBatch, type ThreadCodec } from '../../src/codec/thread-codec.ts';
import { openStateImage, openThreadImage, type StateImage } from '../../src/codec/thread-image.ts';
import { readAnswer, readWait, sealAnswer, sealWait } from '../../src/codec/wait-codec.ts';
import { readLines } from '../../src/engine/line-draft.ts';
import { FileRef } from '../../src/model/file-ref.ts';
import type { StoredRecord, Table } from '../../src/model/records.ts';
import type { Corpus, Exhibit } from './corpus.ts';
import { type Specimen, specimen } from './specimen.ts';

export async function specimensOf({ store }: Corpus, thread: Exhibit): Promise<readonly Specimen[]> {
  const blobs = await store.range('blobs', thread.hash, {});
  const segments = await store.range('segments', thread.hash, {});
  return [
    ...checkpoints(thread),
    ...ledger(),
    ...thread.waits.flatMap(wait),
    ...[1, 2, 3, 4].map(inboxItem),
    events(thread),
    pin(thread),
    ...segments.map(segment),
    ...blobs.map((record) => blob(thread, record)),
  ];
}

function checkpoints({ checkpoints: ids, row }: Exhibit): readonly Specimen[] {
  const [first, second, third, fourth] = ids;
  if (first === undefined || second === undefined || third === undefined || fourth === undefined) return raise();
  const sealed = async (codec: ThreadCodec, { own }: { own: Checkpoint }) => sealCheckpoint(codec, own);
  return [
    specimen({
      decoder: 'snapshot',
      table: 'checkpoints',
      key: first,
      isTagged: true,
      open: async (codec) => {
        const own = await openCheckpoint(codec, await recordOf(codec, 'checkpoints', first));
        await openStateImage(codec, second, first);
        return { own, values: await fieldsOf(codec, own.fields) };
      },
      write: sealed,
    }),
    ...[third, fourth].map((id) =>
      specimen({
        decoder: 'delta',
        table: 'checkpoints',
        key: id,
        isTagged: true,
        open: async (codec) => {
          const own = await openCheckpoint(codec, await recordOf(codec, 'checkpoints', id));
          const values = await fieldsOf(codec, own.fields);
          const { state } = await openThreadImage(codec, row);
          return { own, values, lines: await readLines(codec, state?.fields ?? new Map()) };
        },
        write: sealed,
      }),
    ),
    specimen({
      decoder: 'base',
      table: 'checkpoints',
      key: baseKey(third),
      open: async (codec): Promise<StateImage> => openStateImage(codec, third, first),
      write: (codec, { checkpoint, fields }) => sealBase(codec, checkpoint, fields),
    }),
  ];
}

function ledger(): readonly Specimen[] {
  const entry = async (codec: ThreadCodec, number: number) => {
    const { entries, lost } = await readLedger(codec, number - 1, number);
    const [found] = entries;
    if (found === undefined)
      throw codecErrors.make('record_damaged', { table: 'ledger', key: '', reason: lost[0]?.reason ?? '' });
    const { args } = found.intent;
    return { ...found, args: await codec.decodeValue(args) };
  };
  return [
    ...[1, 2].map((number) =>
      specimen({
        decoder: 'intent',
        table: 'ledger',
        key: ledgerKey(number, 'i'),
        open: (codec) => entry(codec, number),
        write: (codec, { intent, digest }) => sealIntent(codec, intent, digest),
      }),
    ),
    ...[1, 2].map((number) =>
      specimen({
        decoder: 'outcome',
        table: 'ledger',
        key: ledgerKey(number, 'o'),
        open: async (codec) => {
          const outcome = await readOutcome(codec, number);
          return { outcome, value: outcome?.value ? await codec.decodeValue(outcome.value) : null };
        },
        write: async (codec, { outcome }) => outcome && sealOutcome(codec, number, outcome),
      }),
    ),
    specimen({
      decoder: 'doubt',
      table: 'ledger',
      key: ledgerKey(2, 'd'),
      open: (codec) => entry(codec, 2),
      write: async (codec, { doubt }) => doubt && sealDoubt(codec, 2, doubt),
    }),
  ];
}

function wait(id: Exhibit['waits'][number]): readonly Specimen[] {
  return [
    specimen({
      decoder: 'wait',
      table: 'waits',
      key: `w:${id}`,
      open: (codec) => readWait(codec, id),
      write: async (codec, read) =>
        read && sealWait(codec, { ...read, args: await codec.encodeValue(read.args, 'args', new BlobBatch()) }),
    }),
    specimen({
      decoder: 'answer',
      table: 'waits',
      key: `a:${id}`,
      open: (codec) => readAnswer(codec, id),
      write: async (codec, read) =>
        read && sealAnswer(codec, { id, digest: read.digest }, read.answer, read.atMs, new BlobBatch()),
    }),
  ];
}

function inboxItem(order: number): Specimen {
  const key = `o:${order.toString(16).padStart(10, '0')}`;
  return specimen({
    decoder: 'inbox',
    table: 'inbox',
    key,
    open: async (codec) => (await readInbox(codec, order - 1)).find((item) => item.order === order),
    write: async (codec, read) => {
      if (read === undefined) return undefined;
      const { dedupId, ...rest } = await sealInboxItem(codec, read.dedupId, read.item as InboxItem, new BlobBatch());
      return { ...rest, table: 'inbox', key, mode: 'create' };
    },
  });
}

function events({ checkpoints: [first] }: Exhibit): Specimen {
  const id = first ?? raise();
  return specimen({
    decoder: 'events',
    table: 'events',
    key: id,
    open: async (codec) => {
      const { change } = await openEvents(codec, await recordOf(codec, 'events', id));
      const { tag } = await openCheckpoint(codec, await recordOf(codec, 'checkpoints', id));
      // As a repair does, which takes the change for the checkpoint's own only then.
      if (change !== undefined && !equalBytes(change.tag, tag)) {
        throw codecErrors.make('record_damaged', { table: 'events', key: id, reason: 'it is of another checkpoint' });
      }
      return readEvents(codec, id);
    },
    write: async (codec, read) => (await sealEvents(codec, id, read))[0],
  });
}

function pin({ checkpoints: [first], hash }: Exhibit): Specimen {
  const key = pinKey(first ?? raise(), hash);
  return specimen({
    decoder: 'pin',
    table: 'checkpoints',
    key,
    open: async (codec) => openPin(codec, await recordOf(codec, 'checkpoints', key)),
    write: (codec, read) => sealPin(codec, key, { ...read, after: null }, 'create'),
  });
}

function segment(record: StoredRecord): Specimen {
  const from = Number(record.plain.from);
  const span = record.key.split('/')[1] ?? '';
  const image = { spans: [{ span, from, to: from + 3 }] };
  return specimen({
    decoder: 'segment',
    table: 'segments',
    key: record.key,
    open: (codec) => new LogView(codec, 'log', image).slice(from),
    write: async (codec, items) => {
      const [segment] = await encodeSegments(codec, 'log', span, from, items, new BlobBatch());
      return segment && sealSegment(codec, segment);
    },
  });
}

/** Read through the state, since a blob says nothing of what it is. */
function blob({ checkpoints: [first] }: Exhibit, { key }: StoredRecord): Specimen {
  const id = first ?? raise();
  return specimen({
    decoder: 'blob',
    table: 'blobs',
    key,
    isPacked: false,
    open: async (codec) => fieldsOf(codec, (await openStateImage(codec, id, id)).fields),
  });
}

async function fieldsOf(codec: ThreadCodec, fields: Checkpoint['fields']): Promise<readonly unknown[]> {
  const values: unknown[] = [];
  for (const field of fields.values()) {
    const value = isLogImage(field) ? field.spans : await codec.decodeValue(field);
    values.push(value instanceof FileRef ? [value.name, value.type, await value.bytes()] : value);
  }
  return values;
}

async function recordOf(codec: ThreadCodec, table: Table, key: string): Promise<StoredRecord> {
  return (await codec.source.get(table, codec.thread, key)) ?? raise();
}

function raise(): never {
  throw new Error('It is in the corpus.');
}
