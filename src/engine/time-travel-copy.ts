/** What a fork takes along, opened with the source's key and sealed anew with its own, piece by piece. */
import { type FieldImage, isLogImage, type LogImage, logLength } from '../codec/checkpoint-codec.ts';
import { type LedgerEntry, nextLedgerDigest, sealIntent, sealOutcome } from '../codec/ledger-codec.ts';
import { encodeSegments, LogView, sealSegment } from '../codec/log-codec.ts';
import { faultOf } from '../codec/recover-lineage.ts';
import { BlobBatch, type StoredValue, type ThreadCodec } from '../codec/thread-codec.ts';
import type { RecordWrite } from '../model/commit.ts';
import type { AppliedUpdate } from '../program/state.ts';
import { entryOfTheCall } from './made-call.ts';
import { encodeWithDigest } from './step-run.ts';
import type { Chosen } from './time-travel-choices.ts';

/** Items of a log that are copied in one go: what a fork holds in memory at a time. */
const batchItems = 64;

/** Writes records of the fork before it is visible. */
export type WriteAhead = (records: readonly RecordWrite[]) => Promise<void>;

export interface Copied {
  readonly images: ReadonlyMap<string, FieldImage>;
  /** Log items of the edit: written with the row, since another try may bring another edit. */
  readonly appended: readonly RecordWrite[];
}

/** The fields at the checkpoint, with the edit applied. */
export async function copyFields(
  source: ThreadCodec,
  fork: ThreadCodec,
  fields: ReadonlyMap<string, FieldImage>,
  edited: AppliedUpdate,
  write: WriteAhead,
): Promise<Copied> {
  const images = new Map<string, FieldImage>();
  const appended: RecordWrite[] = [];
  const names = new Set([...fields.keys(), ...edited.set.keys(), ...edited.append.keys()]);
  for (const name of names) {
    const image = fields.get(name);
    const items = edited.append.get(name);
    if (items !== undefined || (image !== undefined && isLogImage(image))) {
      const length = image !== undefined && isLogImage(image) ? await copyLog(source, fork, name, image, write) : 0;
      for (const record of await sealItems(fork, name, length, items ?? [], write)) appended.push(record);
      images.set(name, spanOf(fork, length + (items?.length ?? 0)));
      continue;
    }
    const value = edited.set.has(name)
      ? edited.set.get(name)
      : image && (await source.decodeValue(image as StoredValue));
    const blobs = new BlobBatch();
    images.set(name, await fork.encodeValue(value, name, blobs));
    await write(blobs.writes());
  }
  return { images, appended };
}

async function copyLog(
  source: ThreadCodec,
  fork: ThreadCodec,
  name: string,
  image: LogImage,
  write: WriteAhead,
): Promise<number> {
  const view = new LogView(source, name, image);
  const length = logLength(image);
  for (let from = 0; from < length; from += batchItems) {
    const items = await view.slice(from, Math.min(from + batchItems, length));
    await write(await sealItems(fork, name, from, items, write));
  }
  return length;
}

/** Segments of the fork, under a span that only it has. What the items need is written at once. */
async function sealItems(
  fork: ThreadCodec,
  name: string,
  from: number,
  items: readonly unknown[],
  write: WriteAhead,
): Promise<readonly RecordWrite[]> {
  const blobs = new BlobBatch();
  const encoded = await encodeSegments(fork, name, fork.incarnation, from, items, blobs);
  const segments = await Promise.all(encoded.map((segment) => sealSegment(fork, segment)));
  await write(blobs.writes());
  return segments;
}

function spanOf(fork: ThreadCodec, length: number): LogImage {
  return { spans: length === 0 ? [] : [{ span: fork.incarnation, from: 0, to: length }] };
}

/** Results of the source that the fork's calls are given: the first entries of its ledger. */
export interface Carried {
  readonly records: readonly RecordWrite[];
  readonly count: number;
  readonly digest: Uint8Array;
}

export async function carriedResults(
  source: ThreadCodec,
  fork: ThreadCodec,
  chosen: readonly Chosen[],
  write: WriteAhead,
): Promise<Carried> {
  const records: RecordWrite[] = [];
  let count = 0;
  let digest: Uint8Array = new Uint8Array(16);
  const taken = new Set<number>(); // one call, one result
  for (const { effect, choice } of chosen) {
    const { intent, outcome } = effect.entry ?? {};
    if (choice !== 'reuse' || intent === undefined || outcome === undefined || taken.has(effect.made)) continue;
    taken.add(effect.made);
    count += 1;
    const asked = await encodeWithDigest(fork, await source.decodeValue(intent.args), intent.name);
    // The receiver knows the call by the key and attempt under which it was really made.
    const { key, attempt } = ((effect.entry && (await entryOfTheCall(source, effect.entry))) ?? { intent }).intent;
    const own = { number: count, args: asked.stored, askedDigest: asked.digest, epoch: 0, inputs: [] };
    const carried = { ...intent, ...own, key, attempt };
    const value =
      outcome.value === null
        ? null
        : await fork.encodeValue(await source.decodeValue(outcome.value), intent.name, asked.blobs);
    const { source: _, ...ended } = outcome;
    digest = await nextLedgerDigest(fork, digest, carried);
    records.push(await sealIntent(fork, carried, digest), await sealOutcome(fork, count, { ...ended, value }));
    await write(asked.blobs.writes());
  }
  return { records, count, digest };
}

/** Whether a call was made with the arguments that its node gave: then the same call can be told in another thread too. */
export async function isAskedAsSent(source: ThreadCodec, { intent }: LedgerEntry): Promise<boolean> {
  try {
    const { digest } = await encodeWithDigest(source, await source.decodeValue(intent.args), intent.name);
    return digest === intent.askedDigest;
  } catch (error) {
    faultOf(error);
    return true; // damaged: whoever reuses it meets that
  }
}
