/** Which effects going back passes over, and whether each has a choice that can be carried out (PROTOCOL 4). */
import { textOf } from '../base/errors.ts';
import { type LedgerEntry, readLedger } from '../codec/ledger-codec.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { ThreadImage } from '../codec/thread-image.ts';
import type { Control } from '../model/checkpoint.ts';
import type { CrossedEffect } from '../model/choice-needed.ts';
import type { CheckpointId } from '../model/ids.ts';
import type { EffectChoice, StandingChoice } from '../model/past.ts';
import { effectChoices, needsChoice } from '../model/past-entries.ts';
import type { AnyAgent } from '../program/agent.ts';
import { toolNow } from '../program/versions.ts';
import { withChildEnds } from './child-ends.ts';
import { effectInfo, isCall, settles } from './step-ledger.ts';
import { travelErrors } from './time-travel-errors.ts';
import { isPassedOver, type Standing } from './time-travel-standing.ts';
import { withUndoings } from './undone.ts';

export type EffectChoices = Readonly<Record<string, EffectChoice>>;

export interface Crossed extends CrossedEffect {
  /** The entry that says how it ended; the last attempt where that is not known; `undefined` if its records are lost. */
  readonly entry: LedgerEntry | undefined;
}

export interface PassedOver {
  readonly effects: readonly Crossed[];
  /** Of all ledger entries that are passed over, in order. */
  readonly numbers: readonly number[];
}

export interface Chosen {
  readonly effect: Crossed;
  readonly choice: EffectChoice;
}

/**
 * The effects on the thread's lineage that going back to where these steps stand passes over, oldest first. Reads, and calls that are known not to have happened, pass
 * over freely; an entry that cannot be read may have been any call.
 */
export async function crossedEffects(
  codec: ThreadCodec,
  { row, state }: ThreadImage,
  standing: Standing,
  isLive: boolean,
): Promise<PassedOver> {
  const read = await readLedger(codec, standing.from, row.ledger);
  const ended = await withChildEnds(codec, row, await withUndoings(codec, read.entries));
  const entries = ended.filter(({ intent }) => isPassedOver(standing, intent));
  const { lost } = read; // of which step they were is not known
  const past = state?.checkpoint.control.past;
  const isOwn = (number: number) => past === undefined || needsChoice(past, number);
  const byKey = new Map<string, LedgerEntry[]>();
  for (const entry of entries) {
    const { key, effectClass, number } = entry.intent;
    if (!isOwn(number) || effectClass === 'read' || !isCall(entry)) continue;
    byKey.set(key, [...(byKey.get(key) ?? []), entry]);
  }
  const known = await Promise.all([...byKey.values()].map((attempts) => crossedBy(codec, attempts, isLive)));
  const unknown = lost.filter(({ number }) => isOwn(number)).map(({ number }) => lostEffect(number));
  const effects = [...known.filter((effect) => effect !== undefined), ...unknown];
  const numbers = [...entries.map(({ intent }) => intent.number), ...lost.map(({ number }) => number)];
  return { effects: effects.sort((a, b) => a.number - b.number), numbers: numbers.sort((a, b) => a - b) };
}

async function crossedBy(
  codec: ThreadCodec,
  attempts: readonly LedgerEntry[],
  isLive: boolean,
): Promise<Crossed | undefined> {
  const entry = attempts.findLast(settles) ?? attempts.findLast(({ outcome }) => outcome === undefined);
  if (entry === undefined) return undefined; // every attempt was refused before anything happened
  const { key, name, effectClass, status, number } = effectInfo(entry, isLive);
  const args = await codec.decodeValue(entry.intent.args).catch(() => undefined);
  return { key, name, effectClass, status, args, number, entry };
}

function lostEffect(number: number): Crossed {
  const key = `lost:${number}`;
  const effectClass = 'once';
  return { key, name: key, effectClass, status: 'in_doubt', args: undefined, number, entry: undefined };
}

export interface ChoosingParts {
  readonly thread: string;
  readonly agent: AnyAgent;
  readonly checkpoint: CheckpointId;
  /** Why this choice cannot be made here, beside what forbids it anywhere. */
  refuse?(effect: Crossed, choice: unknown): string | undefined;
}

/**
 * The choice for each effect. `optional` ones need none.
 *
 * @throws `choice_unknown`, `choice_invalid`, `choice_needed`: in this order.
 */
export function checkedChoices(
  parts: ChoosingParts,
  needed: readonly Crossed[],
  optional: readonly Crossed[],
  given: EffectChoices,
): readonly Chosen[] {
  const { thread, checkpoint, agent, refuse } = parts;
  const problemWith = (effect: Crossed, choice: unknown) =>
    problemOf(agent, effect, choice) ?? refuse?.(effect, choice);
  const all = [...needed, ...optional];
  const stray = Object.keys(given).find((effect) => all.every(({ key }) => key !== effect));
  if (stray !== undefined) throw travelErrors.make('choice_unknown', { thread, effect: stray });
  const chosen = all.flatMap((effect): Chosen[] => {
    const choice = given[effect.key]; // a hash, or `lost:` and a number
    if (choice === undefined) return [];
    const problem = problemWith(effect, choice);
    if (problem === undefined) return [{ effect, choice }];
    throw travelErrors.make('choice_invalid', {
      effect: effect.key,
      name: effect.name,
      choice: textOf(choice),
      problem,
    });
  });
  const open = needed.filter((effect) => !chosen.some((made) => made.effect === effect));
  if (open.length > 0) {
    const effects = open.map((effect) => {
      const { entry: _, ...shown } = effect;
      return { ...shown, choices: effectChoices.filter((choice) => problemWith(effect, choice) === undefined) };
    });
    throw travelErrors.make('choice_needed', { thread, checkpoint, effects });
  }
  return chosen;
}

function problemOf(agent: AnyAgent, { entry, name, status }: Crossed, choice: unknown): string | undefined {
  switch (choice) {
    case 'redo':
      return undefined;
    case 'reuse':
      if (entry?.intent.kind === 'child' && entry.outcome?.value == null) {
        return status === 'given_up'
          ? 'it has no result: it was stopped before its end'
          : 'it has no result yet: it runs';
      }
      return entry?.outcome === undefined ? 'it has no result on record' : undefined;
    case 'compensate': {
      const now = toolNow(agent, name);
      const tool = Object.hasOwn(agent.tools, now) ? agent.tools[now] : undefined;
      if (entry === undefined) return 'what it was is not known';
      if (entry.intent.kind === 'child') return 'a child is not undone as a whole: go back on its own thread';
      if (status === 'compensated') return 'it was undone already';
      return entry.intent.kind === 'tool' && tool?.compensate
        ? undefined
        : 'its tool cannot undo it: it has no compensate';
    }
    default:
      return 'say reuse, redo or compensate';
  }
}

/** Choices of earlier times that hold for the new lineage too, with the effects they are about: they can be changed. */
export async function standingChoices(
  codec: ThreadCodec,
  head: Control,
  target: Control,
  from: number,
  crossed: readonly Crossed[],
): Promise<readonly { readonly standing: StandingChoice; readonly effect: Crossed }[]> {
  const used = new Set(crossed.map(({ entry }) => entry?.outcome?.source));
  const later = head.past.choices.filter(({ entry, choice }) => entry > from || choice === 'compensate');
  const earlier = target.past.choices.filter(({ entry, choice }) => choice !== 'compensate' && !used.has(entry));
  const standing = await Promise.all(
    [...earlier, ...later].map(async (choice) => {
      const [entry] = (await readLedger(codec, choice.entry - 1, choice.entry)).entries;
      // One that is lost stands: without it the call would be made again.
      const effect = entry === undefined ? lostEffect(choice.entry) : await crossedBy(codec, [entry], false);
      return effect && { standing: choice, effect };
    }),
  );
  return standing.filter((one) => one !== undefined);
}
