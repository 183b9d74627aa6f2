/** Applies updates to a state: pure, through the reducers, checked against the schemas. */
import { isPlainObject, notPlain } from '../base/plain-object.ts';
import type { Fields } from '../model/fields.ts';
import { validate } from '../model/schema.ts';
import { programErrors } from './errors.ts';

export interface AppliedUpdate {
  /** New values, frozen, of the value fields that changed. */
  readonly set: ReadonlyMap<string, unknown>;
  /** Items to add, frozen, by log field. */
  readonly append: ReadonlyMap<string, readonly unknown[]>;
}

/** @throws `field_unknown`, `state_invalid`; a reducer's own error as `state_invalid`. Nothing was changed. */
export function applyUpdate(fields: Fields, current: Readonly<Record<string, unknown>>, update: object): AppliedUpdate {
  const set = new Map<string, unknown>();
  const append = new Map<string, readonly unknown[]>();
  checkPlain('(the update)', update);
  for (const [name, change] of Object.entries(update)) {
    if (change === undefined) continue;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined || field.kind === 'secret') throw unknownField(fields, name);
    if (field.kind === 'log') {
      if (!Array.isArray(change)) throw invalid(name, `it is a log; give a list of items to add, not ${typeof change}`);
      if (change.length > 0)
        append.set(
          name,
          change.map((item: unknown, index) => checked(`${name}[${index}]`, field.schema, item)),
        );
      continue;
    }
    const next = field.reduce === undefined ? change : reduced(name, field.reduce, current[name], change);
    if (next !== current[name]) set.set(name, checked(name, field.schema, next));
  }
  return { set, append };
}

export const wholeInput = '(the input)';

/**
 * Checks an input as far as that can be done without the state: reducers see it later.
 *
 * @throws `field_unknown`, `state_invalid`
 */
export function checkInput(fields: Fields, update: object): void {
  checkPlain(wholeInput, update);
  const free = Object.entries(update).filter(([name]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    return field?.kind !== 'value' || field.reduce === undefined;
  });
  applyUpdate(fields, {}, Object.fromEntries(free));
}

/** Of anything else no field would be found, and nothing would be changed without a word. */
function checkPlain(what: string, update: unknown): void {
  if (!isPlainObject(update))
    throw invalid(what, `it is ${notPlain(update)}; give an object with the fields to change`);
  const [symbol] = Object.getOwnPropertySymbols(update);
  if (symbol) throw invalid(what, `it has the key ${String(symbol)}, which is no name of a field`);
}

/** The value of each value field before the first step. */
export function initialValues(fields: Fields): ReadonlyMap<string, unknown> {
  const entries = Object.entries(fields).flatMap(([name, field]) =>
    field.kind === 'value' ? [[name, deepFreeze(field.initial)] as const] : [],
  );
  return new Map(entries);
}

/** Freezes plain data all the way down: nodes get it and may not change it. Typed arrays cannot be frozen. */
export function deepFreeze<Value>(value: Value, seen = new Set<unknown>(), depth = 0): Value {
  if (typeof value !== 'object' || value === null || seen.has(value) || ArrayBuffer.isView(value)) return value;
  if (depth > 500) return value; // what is stored is never that deep: whoever stores it refuses it
  seen.add(value);
  Object.freeze(value);
  for (const key of Reflect.ownKeys(value)) deepFreeze((value as Record<PropertyKey, unknown>)[key], seen, depth + 1);
  if (value instanceof Map || value instanceof Set)
    for (const entry of value.entries()) deepFreeze(entry, seen, depth + 1);
  return value;
}

function checked(name: string, schema: Parameters<typeof validate>[0], value: unknown): unknown {
  const result = validate(schema, value);
  if ('issues' in result) throw invalid(name, result.issues);
  return deepFreeze(result.value);
}

function reduced(
  name: string,
  reduce: (current: unknown, update: never) => unknown,
  current: unknown,
  change: unknown,
): unknown {
  try {
    return reduce(current, change as never);
  } catch (cause) {
    throw programErrors.make('state_invalid', { field: name, problem: `its reducer threw ${String(cause)}` }, cause);
  }
}

function invalid(field: string, problem: string) {
  return programErrors.make('state_invalid', { field, problem });
}

function unknownField(fields: Fields, field: string) {
  const known = Object.entries(fields).flatMap(([name, { kind }]) => (kind === 'secret' ? [] : [`"${name}"`]));
  return programErrors.make('field_unknown', { field, known: known.join(', ') || 'none' });
}
