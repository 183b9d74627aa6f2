/** What a `Checkpointer` remembers of a thread it loaded or saved, to tell what the next state changed. */
import { equalBytes } from '../base/bytes.ts';
import { type FieldImage, isLogImage } from '../codec/checkpoint-codec.ts';
import type { StateChange } from '../codec/commit-builder.ts';
import { LargeRef } from '../codec/packer.ts';
import { BlobBatch, type StoredValue, type ThreadCodec } from '../codec/thread-codec.ts';
import type { ThreadImage } from '../codec/thread-image.ts';
import type { Fields } from '../model/fields.ts';
import { isDeepFrozen } from './deep-frozen.ts';
import { checkpointerErrors } from './errors.ts';

export type PlainState = Readonly<Record<string, unknown>>;

export interface Remembered {
  readonly codec: ThreadCodec;
  readonly image: ThreadImage;
  /** Values of value fields; for logs, the list of items as it was then. */
  readonly values: PlainState;
}

/** What is stored of this state: the declared fields, or all where none are declared. */
export function storedPart(fields: Fields | undefined, state: PlainState): PlainState {
  const entries = Object.entries(state).filter(([name]) => {
    if (fields === undefined) return true;
    const field = fields[name];
    return field !== undefined && field.kind !== 'secret';
  });
  return Object.fromEntries(entries.map(([name, value]) => [name, isLog(fields, name) ? listOf(name, value) : value]));
}

function isLog(fields: Fields | undefined, name: string): boolean {
  return fields?.[name]?.kind === 'log';
}

/**
 * What `state` changed. Frozen values are compared by identity, others by what would be stored: a value that was changed in
 * place is found. Of a log, items that are there are taken as unchanged; a list that does not begin with them starts anew.
 */
export async function changeBetween(
  before: Remembered | undefined,
  fields: Fields | undefined,
  state: PlainState,
): Promise<StateChange> {
  const set = new Map<string, unknown>();
  const append = new Map<string, readonly unknown[]>();
  const restart = new Set<string>();
  for (const [name, value] of Object.entries(state)) {
    if (isLog(fields, name)) {
      const items = listOf(name, value);
      const old = before?.values[name];
      const known = Array.isArray(old) ? old : undefined;
      const goesOn =
        known !== undefined && known.length <= items.length && known.every((item, at) => item === items[at]);
      if (known !== undefined && !goesOn) restart.add(name);
      const added = goesOn ? items.slice(known.length) : items;
      if (added.length > 0 || !goesOn) append.set(name, added);
    } else if (!(await isUnchanged(before, name, value))) {
      set.set(name, value);
    }
  }
  const remove = Object.keys(before?.values ?? {}).filter((name) => !Object.hasOwn(state, name));
  return { set, append, remove, restart };
}

async function isUnchanged(before: Remembered | undefined, name: string, value: unknown): Promise<boolean> {
  const stored = before?.image.state?.fields.get(name);
  if (before === undefined || stored === undefined || isLogImage(stored)) return false;
  if (Object.is(before.values[name], value) && isDeepFrozen(value)) return true;
  return sameStored(stored, await before.codec.encodeValue(value, name, new BlobBatch()));
}

function sameStored(a: FieldImage, b: StoredValue): boolean {
  if (isLogImage(a)) return false;
  if (a instanceof LargeRef || b instanceof LargeRef)
    return a instanceof LargeRef && b instanceof LargeRef && a.hash === b.hash;
  return equalBytes(a, b);
}

/** A copy of the list, so that items pushed later are seen as new. */
function listOf(field: string, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return [...value];
  throw checkpointerErrors.make('log_not_a_list', { field, found: value === null ? 'null' : typeof value });
}
