/**
 * Which effects going back passes over, and what becomes of earlier choices (PROTOCOL 4). An effect is the head's own, or its result
 * is on offer there, or nobody has decided about it; else somebody has, and it is not asked about again. What the target's own
 * checkpoint says of offers is of then: what counts is the newest choice, that of the head.
 */
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { StateImage, ThreadImage } from '../codec/thread-image.ts';
import type { EntryRange, Past, StandingChoice } from '../model/past.ts';
import { isAbandoned, isUndecided, rangesWith } from '../model/past-entries.ts';
import { type Crossed, effectsAfter, lostEffect } from './time-travel-effects.ts';
import { isPassedOver, type Standing } from './time-travel-standing.ts';

export interface PassedOver {
  /** Effects that need a choice. */
  readonly effects: readonly Crossed[];
  /** Choices of earlier times that go on to hold, each with its effect: they can be changed. */
  readonly standing: readonly { readonly choice: StandingChoice; readonly effect: Crossed }[];
  /** Numbers of all ledger entries that are left, in order. */
  readonly left: readonly number[];
  /** What nobody has decided about at the target either. */
  readonly undecided: readonly EntryRange[];
}

export async function passedOver(
  codec: ThreadCodec,
  { row, state }: ThreadImage,
  { checkpoint }: StateImage,
  standing: Standing,
  isLive: boolean,
): Promise<PassedOver> {
  const { past: then } = checkpoint.control;
  const { past: head } = state?.checkpoint.control ?? checkpoint.control;
  const from = Math.min(standing.from, firstMoved(head, then) - 1, ...head.choices.map(({ entry }) => entry - 1));
  const { effects, entries, lost } = await effectsAfter(codec, row, from, isLive);
  const passed = new Set(
    entries.filter(({ intent }) => isPassedOver(standing, intent)).map((one) => one.intent.number),
  );
  const gone = lost.filter((number) => number > standing.from); // of which step they were is not known
  for (const number of gone) passed.add(number);

  const needed: Crossed[] = [];
  const asked = new Set<number>();
  const kept: { choice: StandingChoice; effect: Crossed }[] = [];
  for (const calls of byCall([...effects, ...lostOnes(gone, head, effects)])) {
    const own = calls.findLast(({ number }) => !isAbandoned(head, number));
    const choice = head.choices.findLast(({ entry }) => calls.some(({ attempts }) => attempts.includes(entry)));
    const offered = choice && calls.find(({ attempts }) => attempts.includes(choice.entry));
    const open = calls.findLast(({ number }) => isUndecided(head, number) && !isUndecided(then, number));
    const isThere = isThereBefore(calls, standing, then);
    const asks = isThere ? undefined : (own ?? open);
    if (choice && offered && (choice.choice === 'compensate' || !(isThere || own)))
      kept.push({ choice, effect: offered });
    else if (asks !== undefined) {
      needed.push(asks);
      for (const { attempts } of calls) for (const number of attempts) asked.add(number);
    }
  }
  const open = numbersIn(head.undecided).filter((number) => isUndecided(then, number) && !asked.has(number));
  return {
    effects: needed.sort((a, b) => a.number - b.number),
    standing: kept,
    left: [...passed].sort((a, b) => a - b),
    undecided: rangesWith([], open),
  };
}

/** The first entry that the target had left by then, and the head has again, or has not decided about any more. */
function firstMoved(head: Past, then: Past): number {
  const inOrder = [...numbersIn(then.abandoned)].sort((a, b) => a - b);
  const first = inOrder.find((number) => {
    return !isAbandoned(head, number) || (isUndecided(head, number) && !isUndecided(then, number));
  });
  return first ?? Number.POSITIVE_INFINITY;
}

function numbersIn(ranges: readonly EntryRange[]): readonly number[] {
  return ranges.flatMap(({ after, to }) => Array.from({ length: to - after }, (_, index) => after + 1 + index));
}

/** Those that cannot be read, and one whose choice stands: it stands on, else its call would be made again. */
function lostOnes(gone: readonly number[], { choices }: Past, effects: readonly Crossed[]): readonly Crossed[] {
  const chosen = choices
    .map(({ entry }) => entry)
    .filter((entry) => effects.every(({ attempts }) => !attempts.includes(entry)));
  return [...new Set([...gone, ...chosen])].map(lostEffect);
}

/** Whether the target has the effect: then there is nothing to decide. */
export function isThereBefore(calls: readonly Crossed[], standing: Standing, then: Past): boolean {
  return calls.some(({ entry, number, made }) => {
    const isKept = entry === undefined ? number <= standing.from : !isPassedOver(standing, entry.intent);
    return (isKept && !isAbandoned(then, number)) || (made <= standing.from && !isAbandoned(then, made));
  });
}

/** Those of one call that was really made, together. */
export function byCall(effects: readonly Crossed[]): readonly (readonly Crossed[])[] {
  const groups = new Map<number, Crossed[]>();
  for (const effect of effects) groups.set(effect.made, [...(groups.get(effect.made) ?? []), effect]);
  return [...groups.values()];
}
