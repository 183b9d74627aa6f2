/**
 * What became of calls that were undone. The call's own record may say that it succeeded: its answer came while it was being
 * undone, and evidence is never refused (PROTOCOL 3). Once its undoing has begun, that decides.
 */
import type { LedgerEntry } from '../codec/ledger-codec.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { entryOfTheCall } from './made-call.ts';

/**
 * The entries with the ends that their undoings gave them; without an end where one has begun. Who was given the result of a call
 * that was undone has nothing any more either.
 */
export async function withUndoings(
  codec: ThreadCodec,
  entries: readonly LedgerEntry[],
): Promise<readonly LedgerEntry[]> {
  const undoings = entries.filter(({ intent }) => intent.kind === 'compensate');
  if (undoings.length === 0) return entries;
  const makers = new Map<number, LedgerEntry>();
  for (const entry of entries) {
    const made = entry.outcome?.source === undefined ? undefined : await entryOfTheCall(codec, entry);
    if (made !== undefined) makers.set(entry.intent.number, made);
  }
  const made = [...makers.values(), ...entries];
  const ends = new Map<number, LedgerEntry>();
  for (const undoing of undoings) {
    const number = numberOf(made, await codec.decodeValue(undoing.intent.args));
    if (number === undefined) continue;
    if (ends.get(number)?.outcome?.status === 'succeeded') continue;
    const decidesNothing = undoing.outcome?.status === 'failed' && undoing.outcome.final; // it could not be undone
    if (decidesNothing) ends.delete(number);
    else ends.set(number, undoing);
  }
  return entries.map((entry) => {
    const end = ends.get((makers.get(entry.intent.number) ?? entry).intent.number);
    if (end === undefined || entry.outcome?.status === 'compensated') return entry;
    if (end.outcome?.status !== 'succeeded') {
      return entry.outcome?.status === 'succeeded' ? { ...entry, outcome: undefined } : entry;
    }
    const { atMs } = end.outcome;
    const outcome = { status: 'compensated', value: null, error: null, by: 'compensate', atMs, final: true } as const;
    return { ...entry, outcome };
  });
}

/** The entry that an undoing is about: `resolution.ts` gives its number, a person's going back its key and attempt. */
function numberOf(entries: readonly LedgerEntry[], args: unknown): number | undefined {
  const [key, attempt, number] = Array.isArray(args) ? (args as readonly unknown[]) : [];
  if (typeof key !== 'string') return typeof number === 'number' ? number : undefined;
  if (typeof attempt !== 'number') return undefined;
  // One that stands for several attempts bears the number of the last.
  const about = entries.filter(({ intent }) => intent.key === key && intent.attempt >= attempt);
  return about.sort((a, b) => a.intent.attempt - b.intent.attempt)[0]?.intent.number;
}
