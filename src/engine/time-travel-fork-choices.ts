/** Which effects of the source a fork has to decide about, and which results it takes along unasked (PROTOCOL 4). */
import { openThreadImage, type StateImage } from '../codec/thread-image.ts';

import { type Chosen, checkedChoices, type EffectChoices } from './time-travel-choices.ts';
import { isAskedAsSent } from './time-travel-copy.ts';
import { byCall, isThereBefore } from './time-travel-crossed.ts';
import { type Crossed, effectsAfter, lostEffect } from './time-travel-effects.ts';
import type { TravelParts } from './time-travel-parts.ts';
import { isPassedOver, type Standing } from './time-travel-standing.ts';

/**
 * The choices, oldest call first. What is on offer at the checkpoint is taken along where nothing else is chosen, and nothing has
 * become of it since.
 *
 * @throws `choice_unknown`, `choice_invalid`, `choice_needed`
 */
export async function forkChoices(
  parts: TravelParts,
  { checkpoint }: StateImage,
  standing: Standing,
  given: EffectChoices,
): Promise<readonly Chosen[]> {
  const { codec, id, options } = parts;
  const { row } = await openThreadImage(codec, parts.row);
  const { past } = checkpoint.control;
  const offered = past.choices.flatMap(({ entry, choice }) => (choice === 'reuse' ? [entry] : []));
  const after = Math.min(standing.from, ...offered.map((entry) => entry - 1));
  const { effects, lost } = await effectsAfter(codec, row, after, parts.isLive);
  const isOffered = ({ attempts }: Crossed) => attempts.some((number) => offered.includes(number));
  // Of every lineage: the checkpoint may be on one that the source was taken back from.
  const isLater = ({ entry, number }: Crossed) =>
    entry === undefined ? number > standing.from : isPassedOver(standing, entry.intent);
  const unread = lost.filter((number) => number > standing.from || offered.includes(number)).map(lostEffect);

  const edited = new Set<Crossed>();
  for (const effect of effects) {
    if (effect.entry !== undefined && !(await isAskedAsSent(codec, effect.entry))) edited.add(effect);
  }
  const needed: Crossed[] = [];
  const takenAlong: Crossed[] = [];
  for (const calls of byCall([...effects, ...unread])) {
    if (isThereBefore(calls, standing, past)) continue;
    const offer = calls.find(isOffered);
    const asks = calls.findLast((effect) => isLater(effect) && effect.status !== 'compensated'); // else nothing of it stands
    const canTake = offer?.entry?.outcome !== undefined && offer.status !== 'compensated' && !edited.has(offer);
    if (asks !== undefined) needed.push(asks);
    else if (offer !== undefined && !canTake) needed.push(offer);
    else if (offer !== undefined) takenAlong.push(offer);
  }
  const refuse = (effect: Crossed, choice: unknown): string | undefined => {
    if (choice === 'compensate') return 'a fork leaves alone what its source did; roll the source back to undo it';
    if (choice !== 'reuse' || !edited.has(effect)) return undefined;
    return 'its arguments were edited before it was called, so that the same call cannot be told';
  };
  const about = { thread: id, agent: options.agent, checkpoint: checkpoint.id, refuse };
  const chosen = checkedChoices(about, needed, takenAlong, given);
  const unasked = takenAlong.filter((offer) => chosen.every(({ effect }) => effect !== offer));
  const all = [...chosen, ...unasked.map((effect): Chosen => ({ effect, choice: 'reuse' }))];
  return all.sort((a, b) => a.effect.made - b.effect.made);
}
