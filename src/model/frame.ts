import type { ErrorData } from '../base/errors.ts';
import type { CheckpointCause, CheckpointKind } from './checkpoint.ts';
import type { EffectInfo } from './effect.ts';
import type { CheckpointId, EffectKey, StepId } from './ids.ts';
import type { ThreadStatus } from './records.ts';
import type { RepairInfo } from './repair.ts';
import type { Wait } from './wait.ts';

/** What a committed step shows. */
export interface StepSummary {
  readonly checkpoint: CheckpointId;
  readonly sequence: number;
  readonly kind: CheckpointKind;
  readonly cause: CheckpointCause;
  /** The node that ran; for `wait` and `failed` the one that is to run; `null` for an input. */
  readonly node: string | null;
  readonly next: string | null;
  /** The step that ended, or the one that the thread stands at. */
  readonly step: StepId | null;
  readonly atMs: number;
  /** How long the step took, and its commit. 0 where it is read back from the store. */
  readonly stepMs: number;
  readonly commitMs: number;
}

/** Which attempt at which call of a step this is, by which runner. */
export interface CallFrame {
  readonly step: StepId;
  readonly key: EffectKey;
  readonly epoch: number;
  readonly attempt: number;
}

/** One message of a thread's live stream. All but `token` tell of something that is durable already. */
export type Frame =
  | { readonly type: 'status'; readonly status: ThreadStatus; readonly failure: ErrorData | null }
  /** `left`: the step that this ended, of whatever line, or that another one takes the place of. */
  | { readonly type: 'step'; readonly step: StepSummary; readonly left?: StepId }
  /** A run began that goes on from this step: after a reload, a crash or an answer. */
  | { readonly type: 'resumed'; readonly sequence: number; readonly node: string | null; readonly atMs: number }
  /** A step begins, or begins again: views drop what they had of its tokens and custom events. */
  | { readonly type: 'running'; readonly node: string; readonly step: StepId }
  /**
   * Text as it comes from the model; never stored. `offset`: characters of this attempt before it. Told apart by `key`, since a
   * node may make several calls at once. Within an attempt each piece comes once; of an older `epoch` or attempt none comes
   * (PROTOCOL 8).
   */
  | ({ readonly type: 'token'; readonly offset: number; readonly text: string } & CallFrame)
  /** The call begins anew: views drop what they had of its text. */
  | ({ readonly type: 'restart' } & CallFrame)
  /** What a node told its watchers, by `emit`; never stored. A step that is run again tells it again. */
  | { readonly type: 'custom'; readonly step: StepId; readonly name: string; readonly data: unknown }
  | { readonly type: 'effect'; readonly effect: EffectInfo }
  | { readonly type: 'wait'; readonly wait: Wait }
  | { readonly type: 'answered'; readonly wait: string }
  | {
      readonly type: 'retry';
      readonly name: string;
      readonly attempt: number;
      readonly inMs: number;
      readonly reason: string;
    }
  /** Somebody should know: a run failed for good, or a call had a second outcome that says something else. */
  | {
      readonly type: 'alert';
      readonly reason: 'failed' | 'outcomes_differ';
      readonly node: string | null;
      readonly error: ErrorData;
    }
  /** The disk is full: what is to be committed waits in memory, and is tried again by itself. `null`: it went on. */
  | { readonly type: 'full'; readonly error: ErrorData | null }
  /** Records were damaged or gone; the thread goes on from what is left. Tells what was lost. */
  | { readonly type: 'repaired'; readonly repair: RepairInfo }
  /** The thread cannot go on as things are; its records are untouched. */
  | { readonly type: 'blocked'; readonly error: ErrorData };
