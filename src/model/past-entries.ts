/** What a past says of entries of the ledger, and how it changes (PROTOCOL 4). */
import type { EffectChoice, EntryRange, Past } from './past.ts';

export const effectChoices: readonly EffectChoice[] = ['reuse', 'redo', 'compensate'];

/** Whether this entry was left without anybody's choice. */
export function isUndecided({ undecided }: Past, entry: number): boolean {
  return isWithin(undecided, entry);
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

/**
 * The past where a step is left for another run of it: of its entries, in order, the results of `given` are on offer, in place of those
 * `used` that they were themselves given.
 */
export function withOffers(
  past: Past,
  { entries, given, used }: Readonly<Record<'entries' | 'given', readonly number[]>> & { used: ReadonlySet<number> },
): Past {
  const { choices } = withoutChoices(past, used);
  return {
    ...past,
    abandoned: rangesWith(past.abandoned, entries),
    choices: [...choices, ...given.map((entry) => ({ entry, choice: 'reuse' as const }))],
  };
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
