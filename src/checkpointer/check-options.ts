/** What JavaScript lets through in options: refused before anything goes by it. */
import { fieldProblem } from '../model/field-problem.ts';
import { tierProblem } from '../model/tiers.ts';
import { checkpointerErrors } from './errors.ts';

/** @throws `option_invalid` */
export function checkOptions({ fields = {}, tiers = {} }: { readonly fields?: object; readonly tiers?: object }): void {
  for (const [name, declared] of Object.entries(fields)) refuseIf('fields', fieldProblem(name, declared));
  refuseIf('tiers', tierProblem(tiers));
}

/** @throws `option_invalid` */
export function checkConflict(onConflict: string): void {
  const isKnown = onConflict === 'fail' || onConflict === 'rebase';
  refuseIf('onConflict', isKnown ? undefined : `"${String(onConflict)}" is none of fail, rebase`);
}

/** @throws `option_invalid` */
export function checkLimit(limit: unknown): void {
  const isWhole = Number.isSafeInteger(limit) && Number(limit) >= 1;
  refuseIf('limit', isWhole ? undefined : `${String(limit)} is not a whole number from 1`);
}

function refuseIf(option: string, problem: string | undefined): void {
  if (problem !== undefined) throw checkpointerErrors.make('option_invalid', { option, problem });
}
