import { readEvents } from '../codec/event-codec.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { openStateImage, type StateImage } from '../codec/thread-image.ts';
import type { CheckpointId } from '../model/ids.ts';
import type { GoBackOptions } from './time-travel-parts.ts';

/**
 * The checkpoint that this very call made before a crash took its answer away: the thread went back to this target, with these
 * choices, and has run no step since.
 */
export async function madeBefore(
  codec: ThreadCodec,
  head: StateImage,
  target: CheckpointId,
  { effects = {} }: GoBackOptions,
): Promise<CheckpointId | undefined> {
  const { cause, parent } = head.checkpoint;
  const made =
    cause === 'compensated' && parent !== null ? (await openStateImage(codec, parent)).checkpoint : head.checkpoint;
  if (made.cause !== 'rolled_back' || made.parent !== target) return undefined;
  const events = await readEvents(codec, made.id);
  if (!events.some(({ type }) => type === 'rolled_back')) return undefined; // new input took its run back: nobody chose
  const choices = events.filter(({ type }) => type === 'effect_choice');
  const known = new Map(choices.map(({ details }) => [String(details.effect), details.choice]));
  const given = Object.entries(effects);
  const isSame = given.length === known.size && given.every(([key, choice]) => known.get(key) === choice);
  return isSame ? made.id : undefined;
}
