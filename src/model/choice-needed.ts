import type { EffectClass, EffectStatus } from './effect.ts';
import type { EffectChoice } from './past.ts';

/** An effect that going back crosses, as it is shown to whoever decides. */
export interface CrossedEffect {
  readonly key: string;
  readonly name: string;
  readonly effectClass: EffectClass;
  readonly status: EffectStatus;
  /** The arguments that were sent; `undefined` where they cannot be read. */
  readonly args: unknown;
  readonly number: number;
}

/** One that needs a choice, and what can be chosen for it. */
export interface EffectToChoose extends CrossedEffect {
  readonly choices: readonly EffectChoice[];
}

/** Details of `choice_needed`: each of these effects needs a choice, by its key. */
export interface ChoiceNeeded {
  readonly thread: string;
  readonly checkpoint: string;
  readonly effects: readonly EffectToChoose[];
}
