/** What going back on purpose leaves in a thread (PROTOCOL 4): which of its ledger a lineage does not count as its own. */
import type { CheckpointId } from './ids.ts';

/**
 * What is to become of an effect that was crossed: `reuse` gives the recorded result to the same call, without making it;
 * `redo` makes the call again under its new key; `compensate` undoes it.
 */
export const effectChoices = ['reuse', 'redo', 'compensate'] as const;
export type EffectChoice = (typeof effectChoices)[number];

/** A choice that still stands. `entry` is the number of the ledger entry that says how the effect ended. */
export interface StandingChoice {
  readonly entry: number;
  readonly choice: EffectChoice;
}

/** Ledger entries above `after`, up to `to`, belong to a lineage that the thread was taken back from. */
export interface Abandoned {
  readonly after: number;
  readonly to: number;
}

/** The checkpoint of another thread that this one was forked from. */
export interface Origin {
  readonly thread: string;
  readonly checkpoint: CheckpointId;
}

export interface Past {
  readonly abandoned: readonly Abandoned[];
  readonly choices: readonly StandingChoice[];
  /** `null` for a thread that is no fork. */
  readonly origin: Origin | null;
}

export const emptyPast: Past = { abandoned: [], choices: [], origin: null };

export function isAbandoned({ abandoned }: Past, entry: number): boolean {
  return abandoned.some(({ after, to }) => entry > after && entry <= to);
}

/** The past without the choices that these entries have used up. */
export function withoutChoices(past: Past, entries: ReadonlySet<number>): Past {
  return { ...past, choices: past.choices.filter(({ entry }) => !entries.has(entry)) };
}

/** At the end of a run no recorded result is offered any more: the next run means its calls anew. What is to be undone stays. */
export function atRunEnd(past: Past): Past {
  return { ...past, choices: past.choices.filter(({ choice }) => choice === 'compensate') };
}
