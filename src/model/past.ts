/** What going back on purpose leaves in a thread (PROTOCOL 4): which of its ledger a lineage does not count as its own. */
import type { CheckpointId } from './ids.ts';

/**
 * What is to become of an effect that was crossed: `reuse` gives the recorded result to the same call, without making it;
 * `redo` makes the call again under its new key; `compensate` undoes it.
 */
export type EffectChoice = 'reuse' | 'redo' | 'compensate';

/** A choice that still stands. `entry` is the number of the ledger entry that says how the effect ended. */
export interface StandingChoice {
  readonly entry: number;
  readonly choice: EffectChoice;
}

/** Ledger entries above `after`, up to `to`. */
export interface EntryRange {
  readonly after: number;
  readonly to: number;
}

/** The checkpoint of another thread that this one was forked from. */
export interface Origin {
  readonly thread: string;
  readonly checkpoint: CheckpointId;
}

export interface Past {
  /** Entries of lineages that the thread was taken back from. */
  readonly abandoned: readonly EntryRange[];
  /**
   * Those of them that nobody has decided about, or whose result was to be reused and was not before its run ended: whoever goes
   * back to before them is asked.
   */
  readonly undecided: readonly EntryRange[];
  readonly choices: readonly StandingChoice[];
  /** `null` for a thread that is no fork. */
  readonly origin: Origin | null;
}

export const emptyPast: Past = { abandoned: [], undecided: [], choices: [], origin: null };
