import type { EffectClass, EffectStatus } from './effect.ts';

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

/** Details of `choice_needed`: each of these effects needs a choice, by its key. */
export interface ChoiceNeeded {
  readonly thread: string;
  readonly checkpoint: string;
  readonly effects: readonly CrossedEffect[];
}
