/** The effects of a thread, as a list shows them. */
import { readLedger } from '../codec/ledger-codec.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { EffectInfo } from '../model/effect.ts';
import type { ThreadRow } from '../model/records.ts';
import { withChildEnds } from './child-ends.ts';
import { effectInfo } from './step-ledger.ts';
import { withUndoings } from './undone.ts';

/** Every effect on record, oldest first. `isLive`: what has no outcome is under way. */
export async function readEffects(codec: ThreadCodec, row: ThreadRow, isLive: boolean): Promise<readonly EffectInfo[]> {
  const { entries } = await readLedger(codec, 0, row.ledger);
  const calls = entries.filter(({ intent }) => intent.kind !== 'inputs' && intent.kind !== 'node');
  const ended = await withChildEnds(codec, row, await withUndoings(codec, calls));
  return ended.map((entry) => effectInfo(entry, isLive));
}
