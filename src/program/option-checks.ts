/** The options of a call, as JavaScript hands them in: names that are misspelt, words that are not among the known ones. */
import { isPlainObject, notPlain } from '../base/plain-object.ts';
import { isSchema } from '../model/field-problem.ts';
import { checkText, kindOf, refuse } from './arguments.ts';

/** @throws `argument_invalid` */
export function checkOptions(call: string, given: unknown, known: readonly string[]): void {
  if (typeof given !== 'object' || given === null) refuse(call, `its options are ${kindOf(given)}, not an object`);
  const strange = Object.keys(given).find((option) => !known.includes(option));
  if (strange !== undefined) refuse(call, `its options have "${strange}"; there are ${known.join(', ')}`);
}

/** One of a few words, where one is given. @throws `argument_invalid` */
export function checkWord(call: string, what: string, given: unknown, words: readonly string[]): void {
  if (given === undefined || words.some((word) => word === given)) return;
  refuse(call, `${what} is ${typeof given === 'string' ? `"${given}"` : kindOf(given)}; there are ${words.join(', ')}`);
}

/** Where one is given. @throws `argument_invalid` */
export function checkSchema(call: string, what: string, given: unknown): void {
  if (given !== undefined) checkIsSchema(call, given, what);
}

/** @throws `argument_invalid` */
export function checkIsSchema(call: string, given: unknown, what = 'what it was given'): void {
  if (!isSchema(given)) refuse(call, `${what} is ${kindOf(given)}, not a schema`);
}

/** A number, where one is given. @throws `argument_invalid` */
export function checkAmount(call: string, what: string, given: unknown, kind: 'from 0' | 'whole from 1'): void {
  if (given === undefined) return;
  const fits =
    kind === 'from 0' ? typeof given === 'number' && given >= 0 : Number.isSafeInteger(given) && Number(given) > 0;
  if (fits) return;
  const wanted = kind === 'from 0' ? 'a number from 0' : 'a whole number from 1';
  refuse(call, `${what} is ${typeof given === 'number' ? given : kindOf(given)}, not ${wanted}`);
}

/** The choices for effects, where some are given: an object by their keys. @throws `argument_invalid` */
export function checkChoices(call: string, effects: unknown): void {
  if (effects !== undefined && !isPlainObject(effects))
    refuse(call, `its effects are ${notPlain(effects)}, not an object by their keys`);
}

/** Why somebody goes back, edits or forks, where it is said. @throws `argument_invalid` */
export function checkReason(call: string, reason: unknown): void {
  if (reason !== undefined) checkText(call, 'its reason', reason);
}
