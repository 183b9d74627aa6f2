import { type ErrorData, errorToData } from '../base/errors.ts';
import { codecErrors } from '../codec/errors.ts';
import type { Control } from '../model/checkpoint.ts';
import type { Frame } from '../model/frame.ts';
import type { ThreadStatus } from '../model/records.ts';
import { programErrors } from '../program/errors.ts';
import { storeErrors } from '../store/errors.ts';
import { engineErrors } from './errors.ts';

type RestStatus = Exclude<ThreadStatus, 'running'>;

/** Why a run is made to stop: a person or the host asked for it, a limit was reached, or new input takes its place. */
export type StopReason = 'cancelled' | 'stopped' | 'timed_out' | 'out_of_budget' | 'interrupted';

/**
 * How a run ended. `failed`: by this failure, which is the thread's (`failure` in its view, and in the control of its head).
 * `lost`: another runner took over. `stopped`: the host asked for it. `blocked`: the thread cannot go on as things are, and is
 * left as it is; the error says what it needs.
 */
export type RunEnd =
  | { readonly end: Exclude<RestStatus, 'failed'> | 'lost' | 'stopped' }
  | { readonly end: 'failed'; readonly failure: ErrorData | null }
  | { readonly end: 'blocked'; readonly error: ErrorData };

/** The reason that aborts a run on purpose. */
export class Stop extends Error {
  constructor(readonly why: StopReason) {
    super(`The run was ${why}.`);
  }
}

/** The step will run again, as after a crash: the calls that were cut off count as no failure. */
export function isStop(error: unknown): boolean {
  return error instanceof Stop && error.why !== 'cancelled' && error.why !== 'interrupted';
}

/** Of a program that is not the one which began the step, or not served with what that one had. */
const blockingCodes: readonly string[] = ['replay_mismatch', 'node_unknown', 'model_missing', 'child_unknown'];

/** Errors that a newer version, a key, a healthy store or a restart would cure: the thread is left as it is. */
export function isBlocking(error: unknown): boolean {
  if (error instanceof Stop || storeErrors.is(error) || engineErrors.is(error)) return true;
  if (codecErrors.is(error)) return error.code !== 'value_not_storable';
  if (programErrors.is(error, 'tool_unknown')) return error.details.isMissing;
  return programErrors.is(error) && blockingCodes.includes(error.code);
}

/** Errors that the same node would meet on every run: trying again is pointless. */
export function isFinal(error: unknown): boolean {
  if (codecErrors.is(error, 'value_not_storable')) return true;
  return programErrors.is(error) && error.code !== 'node_timed_out';
}

/** Statuses of a run that stands at its next step, with nobody to wait for but who extends it. */
export const halted: readonly string[] = ['timed_out', 'out_of_budget'];

/** How a run ends that finds nothing to do. */
export function restEnd({ status, failure }: Pick<Control, 'status' | 'failure'>): RunEnd {
  return status === 'failed' ? { end: status, failure } : { end: status === 'running' ? 'idle' : status };
}

/** The end of a run that cannot go on as things are. */
export function blockedBy(error: unknown, emit: (frame: Frame) => void): RunEnd {
  const data = errorToData(error);
  emit({ type: 'blocked', error: data });
  return { end: 'blocked', error: data };
}

/** The tables whose damaged records a repair can do without: the others hold what only they know. */
const repairable: readonly unknown[] = ['checkpoints', 'segments', 'blobs', 'threads'];

/** A record of the state that is damaged or gone. Never a missing or wrong key, or a format of newer code (I10). */
export function isDamage({ code, details }: ErrorData): boolean {
  if (code !== 'record_damaged' && code !== 'record_missing') return false;
  return repairable.includes((details as { readonly table?: unknown }).table);
}
