/** What JavaScript lets through in options: refused before anything goes by it. */
import { isPlainObject, notPlain } from '../base/plain-object.ts';
import { shown } from '../base/text.ts';
import { fieldProblem } from '../model/field-problem.ts';
import { threadIdProblem } from '../model/ids.ts';
import { tierProblem } from '../model/tiers.ts';
import { checkpointerErrors } from './errors.ts';

const names = ['namespace', 'owner'] as const;

interface Given {
  readonly fields?: object;
  readonly tiers?: object;
  readonly namespace?: string;
  readonly owner?: string;
  readonly database?: string;
}

/** `more`: further options that there are. @throws `option_invalid` */
export function checkOptions(options: Given, more: readonly (keyof Given)[] = []): void {
  checkNames(options, ['fields', ...names, 'tiers', ...more]);
  const { fields = {}, tiers = {} } = options;
  for (const option of [...names, ...more])
    refuseIf(option, options[option] === undefined ? undefined : threadIdProblem(options[option]));
  if (!isPlainObject(fields)) refuseIf('fields', `it is ${notPlain(fields)}; give an object with the fields`);
  for (const [name, declared] of Object.entries(fields)) refuseIf('fields', fieldProblem(name, declared));
  refuseIf('tiers', tierProblem(tiers));
}

/** @throws `option_invalid` */
export function checkNames(options: object, known: readonly string[]): void {
  const isObject = typeof options === 'object' && options !== null;
  const option = isObject ? Object.keys(options).find((name) => !known.includes(name)) : shown(options);
  if (option !== undefined) refuseIf(option, `there is none of that name; there are ${known.join(', ')}`);
}

/** @throws `option_invalid` */
export function checkConflict(onConflict: string): void {
  const isKnown = onConflict === 'fail' || onConflict === 'rebase';
  refuseIf('onConflict', isKnown ? undefined : `"${String(onConflict)}" is none of fail, rebase`);
}

/** @throws `option_invalid` */
export function checkLimit(limit: unknown): void {
  const isWhole = Number.isSafeInteger(limit) && Number(limit) >= 1;
  refuseIf('limit', isWhole ? undefined : `${shown(limit)} is not a whole number from 1`);
}

function refuseIf(option: string, problem: string | undefined): void {
  if (problem !== undefined) throw checkpointerErrors.make('option_invalid', { option, problem });
}
