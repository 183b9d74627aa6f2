/** Results that are passed on: the entry of a call that was given one leads to that of the call that was really made. */
import { type LedgerEntry, readLedger } from '../codec/ledger-codec.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';

/**
 * The entry of the call that was really made: one that was itself given a recorded result leads on to it. `undefined` where an entry
 * on the way is lost.
 */
export async function entryOfTheCall(codec: ThreadCodec, entry: LedgerEntry): Promise<LedgerEntry | undefined> {
  let found = entry;
  for (let source = entry.outcome?.source; source !== undefined; source = found.outcome?.source) {
    const next = await readEntry(codec, source);
    if (next === undefined) return undefined;
    found = next;
  }
  return found;
}

export async function readEntry(codec: ThreadCodec, number: number): Promise<LedgerEntry | undefined> {
  return (await readLedger(codec, number - 1, number)).entries[0];
}
