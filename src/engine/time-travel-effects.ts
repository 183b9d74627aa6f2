/** The effects of a thread as whoever goes back is shown them: one for each call that was really made (PROTOCOL 4). */
import { type LedgerEntry, readLedger } from '../codec/ledger-codec.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { CrossedEffect } from '../model/choice-needed.ts';
import type { ThreadRow } from '../model/records.ts';
import { withChildEnds } from './child-ends.ts';
import { entryOfTheCall } from './made-call.ts';
import { effectInfo, isCall, settles } from './step-ledger.ts';
import { withUndoings } from './undone.ts';

export interface Crossed extends CrossedEffect {
  /** The entry that says how it ended; the last attempt where that is not known; `undefined` if its records are lost. */
  readonly entry: LedgerEntry | undefined;
  /** Numbers of all its entries. */
  readonly attempts: readonly number[];
  /** Number of the entry of the call that was really made: the same for all calls that were given its result. */
  readonly made: number;
}

export interface Effects {
  /** In the order of their numbers. Reads, and calls that are known not to have happened, are none. */
  readonly effects: readonly Crossed[];
  /** All entries, of whatever kind. */
  readonly entries: readonly LedgerEntry[];
  /** Numbers of the entries that cannot be read: each may have been any call. */
  readonly lost: readonly number[];
}

/** What the ledger holds above `after`. `isLive`: what has no outcome is under way. */
export async function effectsAfter(
  codec: ThreadCodec,
  row: ThreadRow,
  after: number,
  isLive: boolean,
): Promise<Effects> {
  const read = await readLedger(codec, after, row.ledger);
  const makers = new Map<number, LedgerEntry>();
  for (const entry of read.entries) {
    const made = entry.outcome?.source === undefined ? undefined : await entryOfTheCall(codec, entry);
    if (made !== undefined) makers.set(entry.intent.number, made);
  }
  const entries = await withChildEnds(codec, row, await withUndoings(codec, read.entries));

  const byKey = new Map<string, LedgerEntry[]>();
  for (const entry of entries) {
    const { key, effectClass } = entry.intent;
    if (effectClass !== 'read' && isCall(entry)) byKey.set(key, [...(byKey.get(key) ?? []), entry]);
  }
  const crossed = [...byKey.values()].map(async (attempts) => {
    const entry = attempts.findLast(settles) ?? attempts.findLast(({ outcome }) => outcome === undefined);
    if (entry === undefined) return undefined; // every attempt was refused before anything happened
    const made = makers.get(entry.intent.number)?.intent.number ?? entry.intent.number;
    const numbers = attempts.map(({ intent }) => intent.number);
    return {
      ...(await shown(codec, entry, isLive)),
      attempts: numbers,
      made,
    };
  });
  const known = (await Promise.all(crossed)).filter((effect) => effect !== undefined);
  const lost = read.lost.map(({ number }) => number);
  return { effects: known.sort((a, b) => a.number - b.number), entries, lost };
}

async function shown(codec: ThreadCodec, entry: LedgerEntry, isLive: boolean) {
  const { key, name, effectClass, status, number } = effectInfo(entry, isLive);
  const args = await codec.decodeValue(entry.intent.args).catch(() => undefined);
  return { key, name, effectClass, status, args, number, entry };
}

/** An entry that cannot be read may have been any call. */
export function lostEffect(number: number): Crossed {
  const key = `lost:${number}`;
  return {
    key,
    name: key,
    effectClass: 'once',
    status: 'in_doubt',
    args: undefined,
    number,
    entry: undefined,
    attempts: [number],
    made: number,
  };
}
