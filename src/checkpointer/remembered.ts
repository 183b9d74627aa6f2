/** What a `Checkpointer` remembers of a thread it loaded or saved, to tell what the next state changed. */

import { equalBytes } from '../base/bytes.ts';
import { isPlainObject } from '../base/plain-object.ts';
import { textProblem } from '../base/text.ts';
import { isLogImage } from '../codec/checkpoint-codec.ts';
import type { StateChange } from '../codec/commit-builder.ts';
import { codecErrors } from '../codec/errors.ts';
import { LargeRef } from '../codec/packer.ts';
import { BlobBatch, type StoredValue, type ThreadCodec } from '../codec/thread-codec.ts';
import type { StateImage, ThreadImage } from '../codec/thread-image.ts';
import type { Fields } from '../model/fields.ts';
import { validate } from '../model/schema.ts';
import { isDeepFrozen } from './deep-frozen.ts';
import { checkpointerErrors } from './errors.ts';
import { isAlike, ownState } from './own-state.ts';

export type PlainState = Readonly<Record<string, unknown>>;

/** The caller's own last state: what the next one is compared with. After a rebase it is not the one at the head. */
export interface Baseline {
  /** For logs, the list of items as it was then: copies of them; of the other fields those that nothing can change any more. */
  readonly values: PlainState;
  /** What each value field was stored as. */
  readonly stored: ReadonlyMap<string, StoredValue>;
  /** Names of all that is stored, also of what is no longer declared. */
  readonly names: readonly string[];
}

export interface Remembered {
  readonly codec: ThreadCodec;
  /** The thread at the head that was loaded or saved last. */
  readonly image: ThreadImage;
  readonly baseline: Baseline;
}

/** @throws `state_not_an_object`; `field_unknown` for a field that is not declared where fields are; `value_not_storable` for a name that no record can hold */
export function checkState(fields: Fields | undefined, state: PlainState): void {
  if (!isPlainObject(state)) throw checkpointerErrors.make('state_not_an_object', { found: kindOf(state) });
  for (const path of Object.keys(state)) {
    const problem = path === '__proto__' ? 'every object has one' : textProblem(path);
    if (problem === undefined) continue;
    throw codecErrors.make('value_not_storable', {
      path,
      found: `a field of this name (${problem})`,
      hint: 'rename it',
    });
  }
  const unknown = fields && Object.keys(state).find((name) => !Object.hasOwn(fields, name));
  if (unknown === undefined) return;
  throw checkpointerErrors.make('field_unknown', { field: unknown, known: Object.keys(fields ?? {}).join(', ') });
}

/** What is stored of this state: the declared fields without the secrets, or all where none are declared. */
export function storedPart(fields: Fields | undefined, state: PlainState): PlainState {
  const entries = Object.entries(state).filter(([name]) => {
    if (fields === undefined) return true;
    return Object.hasOwn(fields, name) && fields[name]?.kind !== 'secret';
  });
  return Object.fromEntries(entries.map(([name, value]) => [name, isLog(fields, name) ? listOf(name, value) : value]));
}

/** The baseline of a state that was just loaded, and is the caller's now. */
export function baselineOf(declared: Fields | undefined, values: PlainState, { fields }: StateImage): Baseline {
  const stored = [...fields].flatMap(([name, image]) => (isLogImage(image) ? [] : [[name, image] as const]));
  const logs = Object.fromEntries(Object.entries(values).filter(([name]) => isLog(declared, name)));
  return { values: ownState(logs), stored: new Map(stored), names: [...fields.keys()] };
}

/**
 * What `state` changed, and the baseline for the next comparison. Frozen values are compared by identity, others by what would
 * be stored: a value, or an item of a log, that was changed in place is found. A list that does not begin
 * with the items its log has starts that log anew.
 *
 * @param state a copy of the caller's: it goes into the baseline
 * @throws `state_invalid`, `value_not_storable`
 */
export async function changeBetween(
  codec: ThreadCodec,
  before: Baseline | undefined,
  fields: Fields | undefined,
  state: PlainState,
): Promise<{ readonly change: StateChange; readonly baseline: Baseline }> {
  const set = new Map<string, unknown>();
  const append = new Map<string, readonly unknown[]>();
  const restart = new Set<string>();
  const stored = new Map<string, StoredValue>();
  for (const [name, value] of Object.entries(state)) {
    if (isLog(fields, name)) {
      const items = listOf(name, value);
      const old = before?.values[name];
      // A list that was stored as a value is no log yet: all of it is added.
      const known = Array.isArray(old) && !before?.stored.has(name) ? old : undefined;
      const goesOn = known !== undefined && (await beginsWith(codec, items, known));
      if (known !== undefined && !goesOn) restart.add(name);
      const added = goesOn ? items.slice(known.length) : items;
      for (const [at, item] of added.entries())
        check(fields, name, `${name}[${items.length - added.length + at}]`, item);
      if (added.length > 0 || !goesOn) append.set(name, added);
      continue;
    }
    const old = before?.stored.get(name);
    const isSame = old !== undefined && Object.is(before?.values[name], value) && isDeepFrozen(value);
    const now = isSame ? old : await codec.encodeValue(value, name, new BlobBatch());
    stored.set(name, now);
    if (isSame || (old !== undefined && isSameStored(old, now))) continue;
    check(fields, name, name, value);
    set.set(name, value);
  }
  const remove = (before?.names ?? []).filter((name) => !Object.hasOwn(state, name));
  const kept = Object.entries(state).filter(([name, value]) => isLog(fields, name) || isDeepFrozen(value));
  const baseline = { values: Object.fromEntries(kept), stored, names: Object.keys(state) };
  return { change: { set, append, remove, restart }, baseline };
}

/** Whether the list begins with these items: the same ones, which nothing can change, or ones that would be stored the same. */
async function beginsWith(codec: ThreadCodec, items: readonly unknown[], known: readonly unknown[]): Promise<boolean> {
  if (items.length < known.length) return false;
  for (const [at, item] of known.entries()) {
    if (isAlike(item, items[at])) continue;
    const [a, b] = await Promise.all([item, items[at]].map((one) => codec.encodeValue(one, 'item', new BlobBatch())));
    if (a === undefined || b === undefined || !isSameStored(a, b)) return false;
  }
  return true;
}

function isLog(fields: Fields | undefined, name: string): boolean {
  return fields?.[name]?.kind === 'log';
}

function check(fields: Fields | undefined, name: string, path: string, value: unknown): void {
  const field = fields?.[name];
  if (field === undefined) return;
  const result = validate(field.schema, value);
  if ('issues' in result) throw checkpointerErrors.make('state_invalid', { field: path, problem: result.issues });
}

function isSameStored(a: StoredValue, b: StoredValue): boolean {
  if (a instanceof LargeRef || b instanceof LargeRef)
    return a instanceof LargeRef && b instanceof LargeRef && a.hash === b.hash;
  return equalBytes(a, b);
}

/** A copy of the list, so that items pushed later are seen as new. */
function listOf(field: string, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return [...value];
  throw checkpointerErrors.make('log_not_a_list', { field, found: kindOf(value) });
}

/** Also one without a prototype, or from another window. */
function kindOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return `an instance of ${value.constructor?.name ?? 'no class'}`;
}
