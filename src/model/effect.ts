import type { ErrorData } from '../base/errors.ts';
import type { EffectKey, StepId } from './ids.ts';

/**
 * `read`: may run again freely. `idempotent`: may run again with the same effect key. `once`: never again blindly; when
 * in doubt, its declared resolution or a person decides.
 */
export type EffectClass = 'read' | 'idempotent' | 'once';

/**
 * `in_progress` while its runner lives; `in_doubt` when its intent is recorded and its outcome is not known. The others
 * are results (PROTOCOL 3).
 */
export type EffectStatus = 'in_progress' | 'in_doubt' | 'succeeded' | 'failed' | 'compensated' | 'given_up';
export type OutcomeStatus = Exclude<EffectStatus, 'in_progress' | 'in_doubt'>;

/**
 * What an entry records: a call of a tool or a model, a child that was started, the resolution of another effect, a failed attempt
 * of the node itself, or only values of clock and chance (`inputs`).
 */
export type EffectKind = 'tool' | 'model' | 'child' | 'verify' | 'compensate' | 'node' | 'inputs';

/**
 * Who settled an effect: the call's own answer, `verify`, `compensate`, a person, or the result of the same call on a lineage that
 * the thread was taken back from (`reuse`).
 */
export type SettledBy = 'call' | 'verify' | 'compensate' | 'person' | 'engine' | 'reuse';

/** What is known of one attempt at an effect before it is made. */
export interface Intent<Stored> {
  /** Number in the thread's ledger, from 1. */
  readonly number: number;
  readonly key: EffectKey;
  readonly step: StepId;
  readonly attempt: number;
  readonly kind: EffectKind;
  readonly name: string;
  readonly effectClass: EffectClass;
  /** Digest of the arguments that the node gave: a re-run must give the same. */
  readonly askedDigest: string;
  /** The arguments that are sent: those given, or those a person edited. */
  readonly args: Stored;
  /** The call must not start later than this. */
  readonly notAfterMs: number;
  readonly atMs: number;
  readonly epoch: number;
  /** Values of the clock and of chance that the node saw before, by their place in the step. */
  readonly inputs: readonly (readonly [place: string, value: number])[];
}

export interface Outcome<Stored> {
  readonly status: OutcomeStatus;
  /** Result of a success. */
  readonly value: Stored | null;
  readonly error: ErrorData | null;
  readonly by: SettledBy;
  readonly atMs: number;
  /** No further attempt: for a failure, retries are spent. */
  readonly final: boolean;
  /** Number of the entry whose result this is, for `reuse`. */
  readonly source?: number;
}

/** Why an attempt's outcome is not known: evidence, not a result. */
export interface Doubt {
  readonly reason: ErrorData;
  readonly atMs: number;
}

/** A tool call as a list of a thread's calls shows it. */
export interface EffectInfo {
  readonly number: number;
  readonly key: EffectKey;
  readonly step: StepId;
  readonly attempt: number;
  readonly kind: EffectKind;
  readonly name: string;
  readonly effectClass: EffectClass;
  readonly status: EffectStatus;
  readonly atMs: number;
  readonly error: ErrorData | null;
}
