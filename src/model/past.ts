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

/** Whether a person who goes back to before this entry has to say what is to become of its effect. */
export function needsChoice({ abandoned, undecided }: Past, entry: number): boolean {
  return !isWithin(abandoned, entry) || isWithin(undecided, entry);
}

export function isAbandoned({ abandoned }: Past, entry: number): boolean {
  return isWithin(abandoned, entry);
}

function isWithin(ranges: readonly EntryRange[], entry: number): boolean {
  return ranges.some(({ after, to }) => entry > after && entry <= to);
}

/** With these entries, in order, too. */
export function rangesWith(ranges: readonly EntryRange[], entries: readonly number[]): readonly EntryRange[] {
  const all = [...ranges];
  for (const entry of entries) {
    const last = all.at(-1);
    if (last?.to === entry - 1) all[all.length - 1] = { after: last.after, to: entry };
    else all.push({ after: entry - 1, to: entry });
  }
  return all;
}

/** The past without the choices that these entries have used up. */
export function withoutChoices(past: Past, entries: ReadonlySet<number>): Past {
  return { ...past, choices: past.choices.filter(({ entry }) => !entries.has(entry)) };
}

/** At the end of a run no recorded result is offered any more: the next run means its calls anew. What is to be undone stays. */
export function atRunEnd(past: Past): Past {
  const unused = past.choices.filter(({ choice }) => choice === 'reuse').map(({ entry }) => entry);
  return {
    ...past,
    undecided: rangesWith(
      past.undecided,
      unused.sort((a, b) => a - b),
    ),
    choices: past.choices.filter(({ choice }) => choice === 'compensate'),
  };
}
