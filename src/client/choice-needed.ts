import { HoldfastError } from '../base/errors.ts';
import type { ChoiceNeeded } from '../model/choice-needed.ts';

/** Whether going back, editing or forking was refused because effects need a choice each: `error.details` says which. */
export function isChoiceNeeded(error: unknown): error is HoldfastError<'choice_needed', ChoiceNeeded> {
  return error instanceof HoldfastError && error.code === 'choice_needed';
}
