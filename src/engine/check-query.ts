/** What lists are asked for: how many entries, behind which one. */
import { textOf } from '../base/errors.ts';
import { shown } from '../base/text.ts';
import { sequenceOf } from '../model/ids.ts';
import { engineErrors } from './errors.ts';
import type { EventQuery } from './event-log.ts';
import { rareEngineErrors } from './rare-errors.ts';

/** @throws `option_invalid`, `limit_invalid`; `checkpoint_unknown` for a `before` that is no id of a checkpoint */
export function checkPage(thread: string, page: { readonly limit?: unknown; readonly before?: unknown }): void {
  const { limit, before } = checkedOptions(page, ['limit', 'before']);
  checkLimit(limit);
  if (before === undefined || (typeof before === 'string' && sequenceOf(before) !== undefined)) return;
  throw engineErrors.make('checkpoint_unknown', { thread, checkpoint: textOf(before) });
}

/** @throws `option_invalid`, `limit_invalid`; `checkpoint_unknown` for a `from` that is no id of an event */
export function checkEventQuery(thread: string, query: EventQuery): void {
  const { from, limit } = checkedOptions(query, ['from', 'limit']);
  checkLimit(limit);
  if (from === undefined || isEventId(from)) return;
  throw engineErrors.make('checkpoint_unknown', { thread, checkpoint: textOf(from) });
}

/** @throws `option_invalid` */
function checkedOptions<Options extends object>(given: Options, known: readonly string[]): Options {
  if (typeof given !== 'object' || given === null) {
    throw engineErrors.make('option_invalid', {
      option: shown(given),
      problem: `give an object with ${known.join(', ')}`,
    });
  }
  const option = Object.keys(given).find((name) => !known.includes(name));
  if (option === undefined) return given;
  throw engineErrors.make('option_invalid', {
    option,
    problem: `there is none of that name; there are ${known.join(', ')}`,
  });
}

function checkLimit(limit: unknown = 1): void {
  if (Number.isSafeInteger(limit) && Number(limit) >= 1) return;
  throw rareEngineErrors.make('limit_invalid', { limit: shown(limit) });
}

/** `<checkpoint>.<number>`, or what stands for the begin of a log that has no checkpoint. */
function isEventId(from: unknown): boolean {
  if (typeof from !== 'string') return false;
  const checkpoint = from.slice(0, from.lastIndexOf('.'));
  return checkpoint === 'begin' || sequenceOf(checkpoint) !== undefined;
}
