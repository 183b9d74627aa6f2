import type { ErrorData } from '../base/errors.ts';
import type { CheckpointId, StepId, WaitId } from './ids.ts';
import type { InboxReplay } from './inbox.ts';
import type { Past } from './past.ts';
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

/** Model use over the life of the thread. `cost` is in the unit of the models' prices. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number;
}

/** `null`: no limit. */
export interface Limits {
  /** How long a run may take by the wall clock, waits and restarts included. */
  readonly runMs: number | null;
  /** Model tokens, in and out. */
  readonly tokens: number | null;
  readonly cost: number | null;
}

export interface Spent {
  readonly ms: number;
  readonly tokens: number;
  readonly cost: number;
}

export const noLimits: Limits = { runMs: null, tokens: null, cost: null };
export const nothingSpent: Spent = { ms: 0, tokens: 0, cost: 0 };

/** Steps taken and allowed in this run, the order of the input that began it, and the head that it began at. */
export interface RunControl {
  readonly steps: number;
  readonly maxSteps: number;
  readonly input: number;
  /** `null` for the first run. */
  readonly began: CheckpointId | null;
}

/**
 * Steps that run again after a repair, and get back what is on record: entries above `after`, up to `to`, are theirs. Those of
 * the steps `done` are behind the thread; the others await their step.
 */
export interface Replay {
  readonly after: number;
  readonly to: number;
  readonly done: readonly StepId[];
}

/** What the thread owes and is owed: everything that must not start again after a restart. */
export interface Control {
  readonly status: ThreadStatus;
  readonly run: RunControl;
  /**
   * Ledger entries begun so far, and a running digest over them. `from` is the count when the next step was scheduled: a
   * re-run of it finds its own entries behind that number. While steps run again after a repair, it follows them only as far as
   * their own entries go.
   */
  readonly ledger: {
    readonly count: number;
    readonly digest: Uint8Array;
    readonly from: number;
    readonly replay: Replay | null;
  };
  /** Inbox items up to this order are settled; above it, those in `consumed` are. */
  readonly inboxTaken: number;
  readonly consumed: readonly number[];
  /** What of the inbox is held back while steps run again after a repair; `null` otherwise. */
  readonly inboxReplay: InboxReplay | null;
  readonly epoch: Epoch;
  /** Salt of the step ids: changes when the thread is taken back on purpose. */
  readonly lineage: string;
  readonly waits: readonly WaitId[];
  /** Tools that a person allowed for the rest of the thread. */
  readonly grants: readonly string[];
  readonly usage: Usage;
  /** Failed attempts by node, over the life of the thread. */
  readonly retries: Readonly<Record<string, number>>;
  /** The node that each node went on to last. */
  readonly branches: Readonly<Record<string, string>>;
  /** Leases taken over the life of the thread. */
  readonly resumes: number;
  /** What this run may use, extensions included, and what it has used so far. */
  readonly limits: Limits;
  readonly spent: Spent;
  /** `spent.ms` when the next step was scheduled: what its own deadline counts from. */
  readonly stepFromMs: number;
  /** The latest believed time at which this thread was run: what passed since counts towards its deadline (PROTOCOL 8). */
  readonly seenAtMs: number;
  /** How often each rule of the policy was taken in this run, by rule and node. */
  readonly decisions: Readonly<Record<string, number>>;
  /** Why the last run failed; `null` otherwise. */
  readonly failure: ErrorData | null;
  readonly past: Past;
}

export type CheckpointKind = 'snapshot' | 'delta';

/**
 * Why a checkpoint was made. `saved`: by a `Checkpointer`, outside any run. `rolled_back`: its parent is the checkpoint that was
 * gone back to. `compensated`: what going back had to undo is undone. `forked`: the first of a fork.
 * `repaired`: in place of a head that was damaged. `migrated`: the state, in the agent's version.
 */
export type CheckpointCause =
  | 'input'
  | 'step'
  | 'wait'
  | 'failed'
  | 'cancelled'
  | 'timed_out'
  | 'out_of_budget'
  | 'extended'
  | 'policy'
  | 'saved'
  | 'rolled_back'
  | 'compensated'
  | 'edited'
  | 'forked'
  | 'repaired'
  | 'migrated';

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
