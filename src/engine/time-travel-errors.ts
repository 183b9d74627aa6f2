import { errorFamily } from '../base/errors.ts';
import type { EffectToChoose } from '../model/choice-needed.ts';

export interface TravelErrorDetails {
  choice_needed: { thread: string; checkpoint: string; effects: readonly EffectToChoose[] };
  choice_unknown: { thread: string; effect: string };
  choice_invalid: { effect: string; name: string; choice: string; problem: string };
  already_there: { thread: string; checkpoint: string };
  thread_empty: { thread: string };
  compensation_failed: { thread: string; name: string; effect: string; reason: string };
  thread_exists: { thread: string };
  fork_interrupted: { thread: string; reason: string };
  fork_differs: { thread: string };
  side_invalid: { found: string };
}

export const travelErrors = errorFamily<TravelErrorDetails>({
  choice_needed: (d) =>
    `Going on from checkpoint ${d.checkpoint} of thread "${d.thread}" passes over effects that need a choice (${d.effects.length}): ${d.effects.map(({ name, status, key, choices }) => `"${name}" (${status}, ${key}: ${choices.join(' or ')})`).join(', ')}. Say for each what is to become of it. Nothing was changed.`,
  choice_unknown: (d) =>
    `There is a choice for effect ${d.effect}, but going back does not pass over such an effect in thread "${d.thread}". Nothing was changed.`,
  choice_invalid: (d) =>
    `"${d.choice}" cannot be chosen for effect ${d.effect} ("${d.name}"): ${d.problem}. Nothing was changed.`,
  already_there: (d) => `Checkpoint ${d.checkpoint} is the head of thread "${d.thread}" already. Nothing was changed.`,
  thread_empty: (d) =>
    `Thread "${d.thread}" has no checkpoint yet: send it an input, and let it run. Nothing was changed.`,
  compensation_failed: (d) =>
    `Thread "${d.thread}" went back, but effect ${d.effect} of "${d.name}" could not be undone: ${d.reason}. The thread does not run before it is; the next run tries again.`,
  thread_exists: (d) =>
    `There is a thread "${d.thread}" that is no fork of this checkpoint. Use another id. Nothing was changed.`,
  fork_interrupted: (d) =>
    `The fork "${d.thread}" was not made: ${d.reason}. Nothing of it is visible. Fork again with the same id to go on.`,
  fork_differs: (d) =>
    `The fork "${d.thread}" of this checkpoint was made, or begun, with another edit or with other choices. Ask with those once more, or use another id. Nothing was changed.`,
  side_invalid: (d) =>
    `Only checkpoints and states can be compared, not ${d.found}. Give a checkpoint's id or an object.`,
});
