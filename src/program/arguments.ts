/** What JavaScript lets through where TypeScript would not: checked before anything is recorded. */
import { textProblem } from '../base/text.ts';
import { programErrors } from './errors.ts';

/** @throws `argument_invalid` */
export function checkText(call: string, what: string, given: unknown): void {
  if (typeof given !== 'string') refuse(call, `${what} is ${kindOf(given)}, not a text`);
}

/** @throws `argument_invalid` */
export function checkName(call: string, what: string, given: unknown): void {
  if (given === '') refuse(call, `${what} is empty`);
  checkKept(call, what, given as string);
}

/** A text that tells things apart on record. @throws `argument_invalid` */
export function checkKept(call: string, what: string, given: string): void {
  checkText(call, what, given);
  const problem = textProblem(given);
  if (problem) refuse(call, `${what} cannot be kept: ${problem}`);
}

/** @throws `argument_invalid` */
export function checkList(call: string, what: string, given: unknown): void {
  if (!Array.isArray(given)) refuse(call, `${what} is ${kindOf(given)}, not a list`);
  if (Object.keys(given).length < given.length)
    refuse(call, `${what} has holes: give each item, null where there is none`);
}

/** @throws `argument_invalid` */
export function checkFunction(call: string, what: string, given: unknown): void {
  if (typeof given !== 'function') refuse(call, `${what} is ${kindOf(given)}, not a function`);
}

/** Milliseconds to wait: no more than after which there still is a date. */
export function isDuration(given: unknown): given is number {
  return typeof given === 'number' && given >= 0 && given <= 8e15;
}

/** A time in milliseconds, where one is given. @throws `argument_invalid` */
export function checkDuration(call: string, what: string, given: unknown): void {
  if (given === undefined || given === null) return;
  if (!isDuration(given))
    refuse(call, `${what} is ${typeof given === 'number' ? given : kindOf(given)}, not a number from 0 to 8e15`);
}

/** @throws `argument_invalid` */
export function refuse(call: string, problem: string): never {
  throw programErrors.make('argument_invalid', { call, problem });
}

export function kindOf(given: unknown): string {
  if (given === null || given === undefined) return String(given);
  return Array.isArray(given) ? 'a list' : `of type ${typeof given}`;
}
