import { rareEngineErrors } from './rare-errors.ts';

/** What is wrong with an id that is no text. */
export function dedupIdInvalid(thread: string, dedupId: unknown) {
  const found = dedupId === null ? 'null' : typeof dedupId;
  return rareEngineErrors.make('dedup_id_invalid', { thread, found });
}
