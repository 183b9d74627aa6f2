import { textProblem } from '../base/text.ts';
import { rareEngineErrors } from './rare-errors.ts';

/** What is wrong with an id that is no text, or that records cannot hold. */
export function dedupIdInvalid(thread: string, dedupId: unknown) {
  const isText = typeof dedupId === 'string';
  const found = isText ? (textProblem(dedupId) ?? 'an empty text') : dedupId === null ? 'null' : typeof dedupId;
  return rareEngineErrors.make('dedup_id_invalid', { thread, found });
}
