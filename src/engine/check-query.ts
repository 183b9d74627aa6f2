/** What lists are asked for: how many entries, behind which one. */
import { sequenceOf } from '../model/ids.ts';
import { engineErrors } from './errors.ts';
import type { EventQuery } from './event-log.ts';
import { rareEngineErrors } from './rare-errors.ts';

/** @throws `limit_invalid`; `checkpoint_unknown` for a `before` that is no id of a checkpoint */
export function checkPage(
  thread: string,
  { limit, before }: { readonly limit?: unknown; readonly before?: unknown },
): void {
  checkLimit(limit);
  if (before === undefined || (typeof before === 'string' && sequenceOf(before) !== undefined)) return;
  throw engineErrors.make('checkpoint_unknown', { thread, checkpoint: String(before) });
}

/** @throws `limit_invalid`; `checkpoint_unknown` for a `from` that is no id of an event */
export function checkEventQuery(thread: string, { from, limit }: EventQuery): void {
  checkLimit(limit);
  if (from === undefined || isEventId(from)) return;
  throw engineErrors.make('checkpoint_unknown', { thread, checkpoint: String(from) });
}

function checkLimit(limit: unknown = 1): void {
  if (Number.isSafeInteger(limit) && Number(limit) >= 1) return;
  throw rareEngineErrors.make('limit_invalid', { limit: String(limit) });
}

/** `<checkpoint>.<number>`, or what stands for the begin of a log that has no checkpoint. */
function isEventId(from: unknown): boolean {
  if (typeof from !== 'string') return false;
  const checkpoint = from.slice(0, from.lastIndexOf('.'));
  return checkpoint === 'begin' || sequenceOf(checkpoint) !== undefined;
}
