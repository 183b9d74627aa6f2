import { shown } from '../base/text.ts';
import { kindOf } from '../program/arguments.ts';
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

/** A part that no version of this library knows, or that lacks what it is for: what the model said with it would be lost. */
export function partInvalid(model: LanguageModel, part: unknown) {
  return rareProgramErrors.make('part_invalid', { model: model.name, problem: problemOf(part) });
}

function problemOf(part: unknown): string {
  if (typeof part !== 'object' || part === null) return `it is ${kindOf(part)}, not an object`;
  const { type, text, usage } = part as { readonly type?: unknown; readonly text?: unknown; readonly usage?: unknown };
  if (type === 'text') return `its text is ${kindOf(text)}, not a text`;
  if (type === 'tool_call') return 'its call has no callId and tool, as texts';
  if (type === 'finish') return `its usage is ${kindOf(usage)}, not an object`;
  return `its type is ${JSON.stringify(type)}; there are text, tool_call, finish`;
}
