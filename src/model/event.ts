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
  | 'compensated';

export interface ThreadEvent {
  readonly type: EventType;
  readonly atMs: number;
  readonly details: Readonly<Record<string, string | number | null>>;
}
