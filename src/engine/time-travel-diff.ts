/** Looks at a thread's past and compares: two checkpoints, a checkpoint with a state in memory, the heads of two threads. */
import { equalBytes } from '../base/bytes.ts';
import { checkpointInfo, type FieldImage, isLogImage } from '../codec/checkpoint-codec.ts';
import { readEvents } from '../codec/event-codec.ts';
import { inspectValue } from '../codec/inspect-value.ts';
import { LogView } from '../codec/log-codec.ts';
import { commonLength } from '../codec/log-prefix.ts';
import { type Pin, readPins } from '../codec/pin-codec.ts';
import type { StoredValue, ThreadCodec } from '../codec/thread-codec.ts';
import type { StateImage } from '../codec/thread-image.ts';
import type { CheckpointInfo } from '../model/checkpoint.ts';
import { diffValues, type ValueChange } from '../model/diff.ts';
import type { ThreadEvent } from '../model/event.ts';
import type { FieldDiff, LogSide } from '../model/field-diff.ts';
import { FileRef } from '../model/file-ref.ts';
import { type CheckpointId, sequenceOf } from '../model/ids.ts';
import { hiddenPrefix } from '../model/lines.ts';
import { type StateRecord, ThreadState } from './thread-state.ts';
import { travelErrors } from './time-travel-errors.ts';
import { checkpointOf, type TravelParts } from './time-travel-parts.ts';

/** Items of a log listed at most, on each side. */
const maxItems = 100;

export interface Inspection {
  readonly info: CheckpointInfo;
  readonly state: StateRecord;
  /** What was committed with it; none where they were pruned. */
  readonly events: readonly ThreadEvent[];
  /** Threads that were forked from it; `null` for one whose record is damaged. */
  readonly forks: readonly (Pin | null)[];
}

/** A checkpoint, or a state in memory: what `state()` gave, or a plain object with lists for logs. */
export type DiffSide = CheckpointId | Readonly<Record<string, unknown>>;

/** @throws `checkpoint_unknown`, `record_damaged` */
export async function inspect(parts: TravelParts, id: CheckpointId): Promise<Inspection> {
  const image = await checkpointOf(parts, id);
  const { codec, options } = parts;
  const [{ values }, events, forks] = await Promise.all([
    ThreadState.read(codec, options.agent, image),
    readEvents(codec, id),
    readPins(codec, id),
  ]);
  return { info: checkpointInfo(image.checkpoint), state: values, events, forks };
}

/**
 * The fields that differ. Of a log that both have stored, what they share is not read; a plain list in memory is compared item
 * by item, in pieces. Secrets are in no checkpoint and are left out.
 *
 * @throws `checkpoint_unknown`, `side_invalid`, `record_damaged`
 */
export async function diff(parts: TravelParts, before: DiffSide, after: DiffSide): Promise<readonly FieldDiff[]> {
  return diffSides(await sideOf(parts, before), await sideOf(parts, after), (_, a, b) =>
    commonLength(a.image, b.image),
  );
}

type SideField =
  | { readonly kind: 'log'; readonly view: LogView }
  | { readonly kind: 'list'; readonly items: readonly unknown[] }
  | {
      readonly kind: 'value';
      readonly codec?: ThreadCodec;
      readonly stored?: StoredValue;
      readonly load: () => Promise<unknown>;
    };

export type Side = ReadonlyMap<string, SideField>;

async function sideOf(parts: TravelParts, side: DiffSide): Promise<Side> {
  if (typeof side === 'string') return storedSide(parts.codec, await checkpointOf(parts, side));
  if (typeof side !== 'object' || side === null || Array.isArray(side)) {
    throw travelErrors.make('side_invalid', { found: Array.isArray(side) ? 'a list' : String(side) });
  }
  const { state } = parts.options.agent;
  if ('id' in side && sequenceOf(side.id) !== undefined && 'control' in side && !('control' in state)) {
    throw travelErrors.make('side_invalid', { found: 'an entry of a list of checkpoints' });
  }
  const fields = Object.entries(side).filter(([name]) => state[name]?.kind !== 'secret');
  return new Map(fields.map(([name, value]) => [name, memoryField(value, state[name]?.kind === 'log')]));
}

export function storedSide(codec: ThreadCodec, { fields }: StateImage): Side {
  const shown = [...fields].filter(([name]) => !name.startsWith(hiddenPrefix)); // lines of a fork are no state
  return new Map(shown.map(([name, image]) => [name, storedField(codec, name, image)]));
}

function storedField(codec: ThreadCodec, name: string, image: FieldImage): SideField {
  if (isLogImage(image)) return { kind: 'log', view: new LogView(codec, name, image) };
  return { kind: 'value', codec, stored: image, load: () => codec.decodeValue(image) };
}

function memoryField(value: unknown, isLog: boolean): SideField {
  if (value instanceof LogView) return { kind: 'log', view: value };
  if (isLog && Array.isArray(value)) return { kind: 'list', items: value };
  return { kind: 'value', load: async () => value };
}

type CommonLength = (field: string, a: LogView, b: LogView) => number;

export async function diffSides(before: Side, after: Side, common: CommonLength): Promise<readonly FieldDiff[]> {
  const names = [...new Set([...before.keys(), ...after.keys()])];
  const diffs = await Promise.all(names.map((name) => diffField(name, before.get(name), after.get(name), common)));
  return diffs.filter((found) => found !== undefined);
}

async function diffField(
  field: string,
  a: SideField | undefined,
  b: SideField | undefined,
  common: CommonLength,
): Promise<FieldDiff | undefined> {
  const change = a === undefined ? 'added' : b === undefined ? 'removed' : 'changed';
  const isLog = (a ?? b)?.kind !== 'value' && (b ?? a)?.kind !== 'value';
  if (isLog) return diffLogs(field, change, a, b, common);
  if (a !== undefined && b !== undefined && isSameStored(a, b)) return undefined;
  const [first, second] = await Promise.all([loaded(a), loaded(b)]);
  if (a === undefined) return whole(field, change, { path: '', change, after: second });
  if (b === undefined) return whole(field, change, { path: '', change, before: first });
  const { changes, isComplete } = diffValues(first, second);
  if (changes.length > 0) return { field, kind: 'value', change, changes, isComplete };
  // The content of a file is not loaded: that it is stored as something else is all that is known.
  const isOfOneThread = a.kind === 'value' && b.kind === 'value' && a.codec !== undefined && a.codec === b.codec;
  const isOtherFile = isOfOneThread && holdsFile(first) && holdsFile(second);
  return isOtherFile ? whole(field, change, { path: '', change, before: first, after: second }) : undefined;
}

function holdsFile(value: unknown): boolean {
  return [...inspectValue(value, '', Number.MAX_SAFE_INTEGER).large].some((item) => item instanceof FileRef);
}

function whole(field: string, change: FieldDiff['change'], only: ValueChange): FieldDiff {
  return { field, kind: 'value', change, changes: [only], isComplete: true };
}

async function diffLogs(
  field: string,
  change: FieldDiff['change'],
  a: SideField | undefined,
  b: SideField | undefined,
  common: CommonLength,
): Promise<FieldDiff | undefined> {
  const shared = await sharedLength(field, a, b, common);
  const [before, after] = await Promise.all([rest(a, shared), rest(b, shared)]);
  if (change === 'changed' && before.count === 0 && after.count === 0) return undefined;
  return { field, kind: 'log', change, common: shared, before, after };
}

async function sharedLength(
  field: string,
  a: SideField | undefined,
  b: SideField | undefined,
  common: CommonLength,
): Promise<number> {
  if (a === undefined || b === undefined) return 0;
  if (a.kind === 'log' && b.kind === 'log') return common(field, a.view, b.view);
  const length = Math.min(lengthOf(a), lengthOf(b));
  for (let from = 0; from < length; from += maxItems) {
    const [first, second] = await Promise.all(
      [a, b].map((side) => slice(side, from, Math.min(from + maxItems, length))),
    );
    const differs = (first ?? []).findIndex((item, index) => diffValues(item, second?.[index]).changes.length > 0);
    if (differs >= 0) return from + differs;
  }
  return length;
}

async function rest(side: SideField | undefined, from: number): Promise<LogSide> {
  if (side === undefined) return { count: 0, items: [] };
  const length = lengthOf(side);
  return { count: length - from, items: await slice(side, from, Math.min(length, from + maxItems)) };
}

function lengthOf(side: SideField): number {
  return side.kind === 'log' ? side.view.length : side.kind === 'list' ? side.items.length : 0;
}

async function slice(side: SideField, from: number, to: number): Promise<readonly unknown[]> {
  if (side.kind === 'log') return side.view.slice(from, to);
  return side.kind === 'list' ? side.items.slice(from, to) : [];
}

async function loaded(side: SideField | undefined): Promise<unknown> {
  if (side?.kind === 'value') return side.load();
  return side === undefined ? undefined : slice(side, 0, lengthOf(side));
}

/** Inline bytes, or references to blobs of one thread, that are the same need not be decoded. */
function isSameStored(a: SideField, b: SideField): boolean {
  if (a.kind !== 'value' || b.kind !== 'value' || a.stored === undefined || b.stored === undefined) return false;
  if (a.stored instanceof Uint8Array) return b.stored instanceof Uint8Array && equalBytes(a.stored, b.stored);
  return !(b.stored instanceof Uint8Array) && a.stored.hash === b.stored.hash && a.stored.form === b.stored.form;
}
