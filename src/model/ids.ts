import { type Random, randomId } from '../base/random.ts';
import { textProblem } from '../base/text.ts';

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** A thread's id as its user gave it. Never stored in the clear. */
export type ThreadId = Branded<'ThreadId'>;
/** Keyed hash of namespace and thread id (22 characters): how stores know a thread (PROTOCOL 7). */
export type ThreadHash = Branded<'ThreadHash'>;
/** `<sequence>-<random>`: 10 hexadecimal digits that sort in commit order, then 12 random characters. */
export type CheckpointId = Branded<'CheckpointId'>;
/** Names one commit group, so that a repeated attempt is recognised. A checkpoint's commit bears the checkpoint's id. */
export type CommitId = Branded<'CommitId'>;
/** Random, made with the thread; a thread deleted and made again has another one (PROTOCOL 5). */
export type Incarnation = Branded<'Incarnation'>;
/** Keyed hash of lineage, predecessors, node and branch: fixed when the step is scheduled (PROTOCOL 1). */
export type StepId = Branded<'StepId'>;
/** Keyed hash of step id, scope and ordinal or own key: the same on every attempt (PROTOCOL 1). */
export type EffectKey = Branded<'EffectKey'>;
/** Made like an effect key, for a wait (PROTOCOL 1). */
export type WaitId = Branded<'WaitId'>;

/** Why this cannot be the id of a thread, a namespace or an owner; `undefined` if it can. */
export function threadIdProblem(id: unknown): string | undefined {
  if (typeof id !== 'string') return `it is of type ${typeof id}`;
  if (id.length === 0 || id.length > 1_024) return `it has ${id.length} characters`;
  return textProblem(id);
}

const sequenceDigits = 10;

/** The id of the checkpoint with this sequence number (an integer from 0 to 2^40 - 1). */
export function checkpointIdFor(sequence: number, random: Random): CheckpointId {
  return `${sequence.toString(16).padStart(sequenceDigits, '0')}-${randomId(random, 9)}` as CheckpointId;
}

/** The sequence number inside a checkpoint id, or `undefined` if it is none. */
export function sequenceOf(id: unknown): number | undefined {
  if (typeof id !== 'string') return undefined;
  return /^[0-9a-f]{10}-[\w-]{12}$/.test(id) ? Number.parseInt(id.slice(0, sequenceDigits), 16) : undefined;
}

/** A counter as a key part that sorts like the number: 10 hexadecimal digits. */
export function sortable(counter: number): string {
  return counter.toString(16).padStart(sequenceDigits, '0');
}
