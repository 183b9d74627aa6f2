/**
 * Gives a call the result that the same call had on a lineage which the thread was taken back from, where that was chosen. It
 * becomes an entry of the ledger under the call's own key before the node sees it, so that a re-run finds it there (I6). Same
 * calls take their results in the order in which they were made.
 */
import { codecErrors } from '../codec/errors.ts';
import { type LedgerEntry, ledgerKey, readLedger, sealOutcome } from '../codec/ledger-codec.ts';
import { LargeRef } from '../codec/packer.ts';
import { BlobBatch } from '../codec/thread-codec.ts';
import { emptyPast, type StandingChoice } from '../model/past.ts';
import { isAbandoned } from '../model/past-entries.ts';
import type { RecordedEffect } from './effect-request.ts';
import { intentOf, remember, writeIntent } from './ledger-writes.ts';
import { entryOfTheCall } from './made-call.ts';
import type { StepRun } from './step-run.ts';
import type { ThreadWriter } from './thread-writer.ts';
import { withUndoings } from './undone.ts';

interface Offer {
  readonly entry: LedgerEntry;
  /** Number of the entry of the call that was really made. */
  readonly madeAt: number;
}

interface Offers {
  /** Numbers of the entries whose results were looked up. */
  readonly known: Set<number>;
  /** Taken by calls of this lineage, recorded or about to be. */
  readonly taken: Set<number>;
  all: Promise<readonly Offer[]>;
}

/** One for each lease: steps of parallel lines must not take the same result either. */
const offersOf = new WeakMap<ThreadWriter, Offers>();

/** Whether a result was on offer; it is on record under the call's key then. */
export async function giveRecorded(
  run: StepRun,
  effect: RecordedEffect,
  choices: readonly StandingChoice[],
): Promise<boolean> {
  const offers = offersNow(run.writer, choices);
  const { taken } = offers;
  const all = await offers.all;
  const { request, askedDigest } = effect;
  // From here to the mark nothing waits: calls beside each other must not take the same result.
  const offer = all.find(({ entry: { intent } }) => {
    const isSameTool = intent.kind === request.kind && run.nowName(intent.name) === request.name;
    return isSameTool && intent.askedDigest === askedDigest && !taken.has(intent.number);
  });
  if (offer === undefined) return false;
  taken.add(offer.entry.intent.number);
  await record(run, effect, offer.entry);
  return true;
}

/** They are read once, and again where some are on offer that were not then. */
function offersNow(writer: ThreadWriter, choices: readonly StandingChoice[]): Offers {
  const offers = offersOf.get(writer) ?? { known: new Set(), taken: new Set(), all: Promise.resolve([]) };
  offersOf.set(writer, offers);
  const numbers = choices.flatMap(({ entry, choice }) => (choice === 'reuse' ? [entry] : []));
  if (numbers.every((number) => offers.known.has(number))) return offers;
  for (const number of numbers) offers.known.add(number);
  offers.all = readOffers(writer, numbers, offers.taken);
  return offers;
}

async function readOffers(
  { codec, image }: ThreadWriter,
  numbers: readonly number[],
  taken: Set<number>,
): Promise<readonly Offer[]> {
  const past = image.state?.checkpoint.control.past ?? emptyPast;
  const read = await readLedger(codec, Math.min(...numbers) - 1, image.row.ledger);
  const made = new Map((await withUndoings(codec, read.entries)).map((entry) => [entry.intent.number, entry]));
  for (const { intent, outcome } of read.entries) {
    if (outcome?.source !== undefined && !isAbandoned(past, intent.number)) taken.add(outcome.source);
  }
  const offers = numbers.map(async (number): Promise<Offer> => {
    const entry = made.get(number);
    if (entry?.outcome === undefined) throw lost(number); // else its call would be made again
    return { entry, madeAt: ((await entryOfTheCall(codec, entry)) ?? entry).intent.number };
  });
  return (await Promise.all(offers)).sort((a, b) => a.madeAt - b.madeAt);
}

function lost(number: number) {
  const needed = 'a call that was to be given its result';
  return codecErrors.make('record_missing', { table: 'ledger', key: ledgerKey(number, 'o'), needed });
}

async function record(
  run: StepRun,
  effect: RecordedEffect,
  { intent: made, outcome: known }: LedgerEntry,
): Promise<void> {
  if (known === undefined) throw lost(made.number);
  const { codec } = run.writer;
  const blobs = new BlobBatch();
  for (const stored of [made.args, known.value]) if (stored instanceof LargeRef) blobs.reused.set(stored.hash, stored);
  const outcome = { ...known, by: 'reuse', atMs: run.ports.clock.nowMs(), final: true, source: made.number } as const;
  const written = await writeIntent(run, (number) => intentOf(run, effect, made.args, 1, number), {
    durability: 'strict',
    blobs,
    records: async (number) => [await sealOutcome(codec, number, outcome)],
  });
  remember(run, { ...written, digest: run.writer.image.control.ledgerDigest, outcome, doubt: undefined });
}
