import type { LanguageModel, ModelUsage } from '../program/model.ts';
import { rareProgramErrors } from '../program/rare-errors.ts';
import { costOf } from './model-effect.ts';

/** Says what a model told of its use, as it told it. */
export function usageInvalid(model: LanguageModel, usage: Partial<ModelUsage> | null) {
  const { inputTokens, outputTokens } = usage ?? {};
  const cost: unknown = costOf(model, { ...usage } as ModelUsage);
  const details = { inputTokens: shown(inputTokens), outputTokens: shown(outputTokens), cost: shown(cost) };
  return rareProgramErrors.make('usage_invalid', { model: model.name, ...details });
}

/** A part that no version of this library knows: what the model said with it would be lost. */
export function partInvalid(model: LanguageModel, part: unknown) {
  const { type } = (part ?? {}) as { readonly type?: unknown };
  return rareProgramErrors.make('part_invalid', { model: model.name, type: String(type) });
}

function shown(amount: unknown): string {
  return typeof amount === 'string' ? JSON.stringify(amount) : String(amount);
}
