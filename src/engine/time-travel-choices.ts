/** Whether each effect that going back passes over has a choice that can be carried out (PROTOCOL 4). */
import { textOf } from '../base/errors.ts';
import type { CheckpointId } from '../model/ids.ts';
import type { EffectChoice } from '../model/past.ts';
import { effectChoices } from '../model/past-entries.ts';
import type { AnyAgent } from '../program/agent.ts';
import { toolNow } from '../program/versions.ts';
import type { Crossed } from './time-travel-effects.ts';
import { travelErrors } from './time-travel-errors.ts';

export type EffectChoices = Readonly<Record<string, EffectChoice>>;

export interface Chosen {
  readonly effect: Crossed;
  readonly choice: EffectChoice;
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
      const { key, name, effectClass, status, args, number } = effect;
      const choices = effectChoices.filter((choice) => problemWith(effect, choice) === undefined);
      return { key, name, effectClass, status, args, number, choices };
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
