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
  | 'saved'
  | 'repaired';

export interface ThreadEvent {
  readonly type: EventType;
  readonly atMs: number;
  readonly details: Readonly<Record<string, string | number | null>>;
}
