import type { ErrorData } from '../base/errors.ts';
import type { CheckpointId, StepId, WaitId } from './ids.ts';
import type { Epoch, ThreadStatus } from './records.ts';

/** A step that is to run next. Its id was fixed when it was scheduled. */
export interface ScheduledStep {
  readonly node: string;
  readonly step: StepId;
  /** Branch or list item it belongs to; empty on the main line. */
  readonly path: string;
}

/** Where in the graph a thread stands. */
export interface Position {
  /** The node just run, or `null` before the first. */
  readonly node: string | null;
  readonly step: StepId | null;
  readonly next: readonly ScheduledStep[];
  /** How often each node was run: loop counts and nodes visited in one. */
  readonly visits: Readonly<Record<string, number>>;
}

/** What the thread owes and is owed: everything that must not start again after a restart. */
export interface Control {
  readonly status: ThreadStatus;
  /** Steps taken and allowed in this run. */
  readonly run: { readonly steps: number; readonly maxSteps: number };
  /**
   * Ledger entries begun so far, and a running digest over them. `from` is the count when the next step was scheduled: a
   * re-run of it finds its own entries behind that number. After a repair steps up to entry `replayTo` were run before: they
   * get back what is on record, and `from` follows them only as far as their own entries go. Else it is 0.
   */
  readonly ledger: {
    readonly count: number;
    readonly digest: Uint8Array;
    readonly from: number;
    readonly replayTo: number;
  };
  /** Order of the newest inbox item that was taken up. */
  readonly inboxTaken: number;
  readonly epoch: Epoch;
  /** Salt of the step ids: changes when the thread is taken back on purpose. */
  readonly lineage: string;
  readonly waits: readonly WaitId[];
  /** Tools that a person allowed for the rest of the thread. */
  readonly grants: readonly string[];
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  /** Failed attempts by node, over the life of the thread. */
  readonly retries: Readonly<Record<string, number>>;
  /** The node that each node went on to last. */
  readonly branches: Readonly<Record<string, string>>;
  /** Leases taken over the life of the thread. */
  readonly resumes: number;
  /** When the run must be over, wall clock; `null` for no limit. */
  readonly deadlineAtMs: number | null;
  /** Why the last run failed; `null` otherwise. */
  readonly failure: ErrorData | null;
}

export type CheckpointKind = 'snapshot' | 'delta';

/** Why a checkpoint was made. `saved`: by a `Checkpointer`, outside any run. `repaired`: in place of a head that was damaged. `migrated`: the state, in the agent's version. */
export type CheckpointCause = 'input' | 'step' | 'wait' | 'failed' | 'cancelled' | 'saved' | 'repaired' | 'migrated';

/** What a list of checkpoints shows, without decoding any state. */
export interface CheckpointInfo {
  readonly id: CheckpointId;
  readonly parent: CheckpointId | null;
  readonly sequence: number;
  readonly kind: CheckpointKind;
  readonly cause: CheckpointCause;
  readonly atMs: number;
  readonly agent: string;
  readonly agentVersion: number;
  readonly stateVersion: number;
  readonly position: Position;
  readonly control: Control;
}
