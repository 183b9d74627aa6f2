import type { EffectKey } from '../model/ids.ts';
import type { LanguageModel, ModelAnswer, ModelRequest, ModelToolCall, ModelUsage } from '../program/model.ts';
import { defaultRetry } from '../program/retry.ts';
import type { ToolCall } from '../program/tool.ts';
import type { EffectRequest } from './effect-request.ts';
import { onDemand } from './load-on-demand.ts';
import type { StepRun } from './step-run.ts';

const timeLimitMs = 120_000;

/**
 * A model call is idempotent: one that was completed is never made again, nor paid; one that a crash cut off is (PROTOCOL 3).
 * Its text streams to the watchers as it comes and is stored once, whole, with the answer (A4).
 */
export function modelRequest(run: StepRun, model: LanguageModel, request: ModelRequest, place: string): EffectRequest {
  return {
    kind: 'model',
    name: model.name,
    effectClass: 'idempotent',
    args: request,
    place,
    retry: defaultRetry,
    timeLimitMs,
    settleMs: 0,
    mayStart: run.checkBudget,
    run: (args, call) => collectAnswer(run, model, args as ModelRequest, call),
  };
}

/** What an answer cost, in the unit of the model's price. */
export function costOf({ price }: LanguageModel, { inputTokens, outputTokens, cost }: ModelUsage): number {
  if (cost !== undefined || price === undefined) return cost ?? 0;
  return (inputTokens * price.inputPerMillion + outputTokens * price.outputPerMillion) / 1_000_000;
}

/** Whether a budget can count it: what a model says of itself is not ours to trust. */
function isCountable(model: LanguageModel, usage: ModelUsage | null): usage is ModelUsage {
  if (usage === null || typeof usage !== 'object') return false;
  const amounts = [usage.inputTokens, usage.outputTokens, costOf(model, usage)];
  return amounts.every((amount) => Number.isFinite(amount) && amount >= 0);
}

function isToolCall({ callId, tool }: Partial<ModelToolCall> = {}): boolean {
  return typeof callId === 'string' && typeof tool === 'string';
}

async function collectAnswer(
  run: StepRun,
  model: LanguageModel,
  request: ModelRequest,
  call: ToolCall,
): Promise<ModelAnswer> {
  const { effectKey, attempt, abortSignal } = call;
  const toolCalls: ModelToolCall[] = [];
  // A new attempt says so, and one that was given up says nothing more: within an attempt each piece comes once (PROTOCOL 8).
  const about = {
    step: run.scheduled.step,
    key: effectKey as EffectKey,
    epoch: run.writer.image.row.epoch.local,
    attempt,
  };
  if (attempt > 1) run.emit({ type: 'restart', ...about });
  let text = '';
  let shownChars = 0;
  let usage: ModelUsage | undefined;
  for await (const part of leftAtOnce(
    model.stream(request, { effectKey, attempt, abortSignal, clock: run.ports.clock }),
  )) {
    abortSignal.throwIfAborted();
    if (part?.type === 'text' && typeof part.text === 'string') {
      const shown = run.writer.codec.secrets.masked(part.text);
      run.emit({ type: 'token', ...about, offset: shownChars, text: shown });
      shownChars += shown.length;
      text += part.text;
    } else if (part?.type === 'tool_call' && isToolCall(part.call)) {
      toolCalls.push(part.call);
    } else if (part?.type === 'finish' && typeof part.usage === 'object') {
      usage = part.usage;
      break;
    } else {
      throw (await onDemand()).partInvalid(model, part);
    }
  }
  if (usage === undefined)
    throw new Error(`The answer of model ${model.name} broke off after ${text.length} characters.`);
  if (!isCountable(model, usage)) throw (await onDemand()).usageInvalid(model, usage);
  return { text, toolCalls, usage };
}

/** What a stream does as it is left is no part of the answer: it may fail or hang, and the answer is whole. */
function leftAtOnce<Part>(stream: AsyncIterable<Part>): AsyncIterable<Part> {
  const parts = stream[Symbol.asyncIterator]();
  const leave = async () => {
    void (async () => parts.return?.())().catch(() => undefined);
    return { done: true, value: undefined } as const;
  };
  return { [Symbol.asyncIterator]: () => ({ next: () => parts.next(), return: leave }) };
}
