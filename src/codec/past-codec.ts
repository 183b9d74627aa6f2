/** The last item of a checkpoint's body: what going back left. Not there while nobody has gone back or forked. */
import type { CheckpointId } from '../model/ids.ts';
import { type EffectChoice, type EntryRange, emptyPast, type Past } from '../model/past.ts';
import type { BodyReader } from './body.ts';

export function pastItems({ abandoned, undecided, choices, origin }: Past): readonly unknown[] {
  if (abandoned.length === 0 && choices.length === 0 && origin === null) return [];
  return [
    [
      abandoned.map(({ after, to }) => [after, to]),
      choices.map(({ entry, choice }) => [entry, choice]),
      origin?.thread ?? null,
      origin?.checkpoint ?? null,
      ...(undecided.length > 0 ? [undecided.map(({ after, to }) => [after, to])] : []),
    ],
  ];
}

export function readPast(body: BodyReader): Past {
  if (!body.hasMore) return emptyPast;
  const reader = body.nested();
  const abandoned = ranges(reader);
  const choices = pairs(reader).map((pair) => ({ entry: pair.number(), choice: pair.text() as EffectChoice }));
  const [thread, checkpoint] = [reader.textOrNull(), reader.textOrNull() as CheckpointId | null];
  const origin = thread === null || checkpoint === null ? null : { thread, checkpoint };
  return { abandoned, undecided: reader.hasMore ? ranges(reader) : [], choices, origin };
}

function ranges(reader: BodyReader): readonly EntryRange[] {
  return pairs(reader).map((pair) => ({ after: pair.count(), to: pair.count() }));
}

function pairs(reader: BodyReader): readonly BodyReader[] {
  return reader.list().map((item) => item.nested());
}
