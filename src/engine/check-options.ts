import { isPlainObject, notPlain } from '../base/plain-object.ts';
import { shown } from '../base/text.ts';
import { threadIdProblem } from '../model/ids.ts';
import { tierProblem } from '../model/tiers.ts';
import type { AnyAgent } from '../program/agent.ts';
import { checkRetention } from './check-retention.ts';
import { engineErrors } from './errors.ts';
import type { EngineOptions } from './ports.ts';

type Given = Partial<Omit<EngineOptions, 'agent'>> & { readonly resume?: string; readonly database?: string };

const engineOptions: readonly string[] = [
  'model',
  'models',
  'namespace',
  'owner',
  'durability',
  'tiers',
  'maxResumes',
  'secrets',
  'retention',
  'archive',
];

/** @throws `option_invalid` */
export function checkAgent(agent: unknown): void {
  const { name, nodes } = (agent ?? {}) as Partial<AnyAgent>;
  if (typeof name !== 'string' || typeof nodes !== 'object') refuse('agent', 'give what defineAgent made');
}

/** Options of an engine. @throws `retention_invalid`, `option_invalid` */
export function checkEngineOptions(options: EngineOptions): void {
  checkAgent(options.agent);
  checkOptions(options, ['agent', 'onNews', 'onFrame']);
}

/**
 * Checked before anything goes by them. `more`: names of further options that there are.
 *
 * @throws `retention_invalid`, `option_invalid`
 */
export function checkOptions(options: Given, more: readonly string[]): void {
  const { retention, durability = 'strict', resume = 'auto', maxResumes = 1, tiers = {}, ...given } = options;
  const known = [...more, ...engineOptions];
  const strange = Object.keys(options).find((option) => !known.includes(option));
  if (strange !== undefined) refuse(strange, `there is none of that name; there are ${known.join(', ')}`);
  checkRetention(retention);
  checkWord('durability', durability, ['strict', 'relaxed']);
  checkWord('resume', resume, ['auto', 'on-request']);
  if (!(maxResumes >= 1)) refuse('maxResumes', `${shown(maxResumes)} is not a number from 1`);
  if (given.secrets !== undefined && typeof given.secrets !== 'function')
    refuse('secrets', 'give a function that gives a list of texts');
  checkArchive(given.archive);
  for (const option of ['namespace', 'owner', 'database'] as const) {
    const problem = given[option] === undefined ? undefined : threadIdProblem(given[option]);
    if (problem) refuse(option, problem);
  }
  const problem = tierProblem(tiers);
  if (problem) refuse('tiers', problem);
  if (!isPlainObject(given.models ?? {}))
    refuse('models', `it is ${notPlain(given.models)}: give models by their names`);
  for (const [name, model] of Object.entries({ model: given.model, ...given.models })) {
    if (model === undefined) continue;
    if (typeof model?.stream !== 'function') refuse(name, 'a model has a function stream');
    if (typeof model.name !== 'string') refuse(name, 'a model has a name, a text');
    checkPrice(name, model.price);
  }
}

/** Found out with the first answer, it would have been paid for. */
function checkPrice(name: string, price: unknown): void {
  if (price === undefined) return;
  const known = ['inputPerMillion', 'outputPerMillion'];
  const isObject = typeof price === 'object' && price !== null;
  const given = Object.entries(isObject ? price : {});
  const isWhole = known.every((key) => given.some(([own]) => own === key));
  const fits = given.every(([key, amount]) => known.includes(key) && Number.isFinite(amount) && Number(amount) >= 0);
  if (!isObject || !isWhole || !fits) refuse(name, `its price has ${known.join(' and ')}, each a number from 0`);
}

/** @throws `option_invalid` */
export function checkArchive(archive: unknown): void {
  if (archive !== undefined && typeof archive !== 'function') refuse('archive', 'give a function that keeps the bytes');
}

/** What must never be shown. A text is a list of its letters, of which nothing would be hidden. @throws `option_invalid` */
export function secretsOf({ secrets }: Pick<EngineOptions, 'secrets'>): Iterable<string> {
  const given = secrets?.() ?? [];
  if (typeof given === 'string') refuse('secrets', 'it gave one text: give a list of texts');
  return given;
}

function checkWord(option: string, given: string, words: readonly string[]): void {
  if (!words.includes(given)) refuse(option, `"${given}" is none of ${words.join(', ')}`);
}

function refuse(option: string, problem: string): never {
  throw engineErrors.make('option_invalid', { option, problem });
}
