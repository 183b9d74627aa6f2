import type { CheckpointId } from './ids.ts';

/** What happened to a thread, as its event log and its watchers see it. */
export type EventType =
  | 'created'
  | 'input_taken'
  | 'input_dropped'
  | 'resumed'
  | 'step'
  | 'waiting'
  | 'answered'
  | 'retry'
  | 'done'
  | 'failed'
  | 'cancelled'
  | 'interrupted'
  | 'timed_out'
  | 'out_of_budget'
  | 'extended'
  | 'policy'
  | 'saved'
  | 'rolled_back'
  | 'edited'
  | 'forked'
  /** What was chosen for one effect that going back crossed. */
  | 'effect_choice'
  | 'compensated'
  | 'repaired'
  | 'migrated';

/** What a commit stores of an event. */
export interface ThreadEvent {
  readonly type: EventType;
  readonly atMs: number;
  readonly details: Readonly<Record<string, string | number | null>>;
}

/** Who: a run of the engine (by its lease), a person who answered, or a page that sent an input or a cancel. */
export type Actor = { readonly kind: 'engine'; readonly run: number } | { readonly kind: 'person' | 'page' };

/** Where the data of an event is: never a second copy. */
export type EventRef =
  | { readonly kind: 'inbox'; readonly order: number }
  /** `i`: what a call was given; `o`: what came of it. */
  | { readonly kind: 'ledger'; readonly number: number; readonly part: 'i' | 'o' }
  /** `w`: what was asked; `a`: the answer. */
  | { readonly kind: 'wait'; readonly id: string; readonly part: 'w' | 'a' }
  | { readonly kind: 'checkpoint'; readonly id: CheckpointId };

/** One entry of a thread's event log: who did what, when, with which input and output, and how it ended. */
export interface LoggedEvent {
  /** `<checkpoint>.<number>`: its place in the log. Events that no checkpoint follows yet bear `~` in place of a number. */
  readonly id: string;
  /** `effect` and `answered` are read from the ledger and the waits; all others are what the commit stored. */
  readonly type: EventType | 'effect';
  readonly atMs: number;
  readonly by: Actor;
  readonly input: readonly EventRef[];
  readonly output: readonly EventRef[];
  /** How it ended: an effect's status, an answer's decision, the node that a step led to; `null` where that says nothing. */
  readonly outcome: string | null;
  readonly details: ThreadEvent['details'];
}
