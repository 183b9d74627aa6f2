/** What a node asks of a model: a text, a value of a schema, a whole answer. */
import { ownCopy } from '../base/own-copy.ts';
import { type Schema, validate } from '../model/schema.ts';
import { checkList, checkText } from '../program/arguments.ts';
import type { LanguageModel, ModelAnswer, ModelRequest } from '../program/model.ts';
import type { CallOptions, ModelCalls } from '../program/node-context.ts';
import { checkIsSchema, checkOptions } from '../program/option-checks.ts';
import { orInstead } from './call-policy.ts';
import { perform } from './effect.ts';
import { inPlace, type ScopeParts } from './in-place.ts';
import { onDemand } from './load-on-demand.ts';
import { costOf, modelRequest } from './model-effect.ts';
import type { Scope } from './place.ts';

/** What a node asks of its model. */
export function modelCalls({ run, agent, model, models, hint }: ScopeParts, scope: Scope): ModelCalls {
  const answer = async (given: ModelRequest, options: CallOptions = {}, isOwn = false): Promise<ModelAnswer> => {
    if (model === undefined) {
      const { rareProgramErrors } = await onDemand();
      const missing = rareProgramErrors.make('model_missing', { node: run.scheduled.node });
      return run.calls.track('model', () => Promise.reject(missing));
    }
    checkList('model.answer(request)', 'messages', given?.messages);
    checkOptions('model', options, ['key', 'name']);
    const own = ownCopy(given);
    const request = hint === undefined ? own : withHint(own, hint);
    const by = async (one: LanguageModel, place: string): Promise<ModelAnswer> => {
      const made = (await perform(run, modelRequest(run, one, request, place))) as ModelAnswer;
      if (run.ledger.paid.has(made)) return made;
      run.tally.inputTokens += made.usage.inputTokens;
      run.tally.outputTokens += made.usage.outputTokens;
      run.tally.cost += costOf(one, made.usage);
      return made;
    };
    return inPlace(run, scope, `model ${model.name}`, options, async (place) => {
      if (!isOwn) (await onDemand()).checkRequest(own);
      return orInstead(run, agent, place, () => by(model, place), {
        request,
        model: async (name, other) => by((await onDemand()).modelNamed(models, name), other),
      });
    });
  };
  const ask = (text: string): ModelRequest => {
    checkText('model', 'the prompt', text);
    return { messages: [{ role: 'user', text }] };
  };
  return {
    answer: (request, options) => answer(request, options),
    text: async (prompt, options) => (await answer(ask(prompt), options, true)).text,
    async object<Output>(schema: Schema<unknown, Output>, prompt: string, options?: CallOptions & { name?: string }) {
      const name = options?.name ?? 'object';
      checkIsSchema('model.object(schema, prompt)', schema);
      checkText('model.object(schema, prompt)', 'its name', name);
      const { text } = await answer({ ...ask(prompt), output: { name } }, options, true);
      return parsedOutput(schema, name, text);
    },
  };
}

/** What went wrong before is told to the model last, where it weighs most. */
function withHint(request: ModelRequest, hint: string): ModelRequest {
  return { ...request, messages: [...request.messages, { role: 'system', text: hint }] };
}

async function parsedOutput<Output>(schema: Schema<unknown, Output>, output: string, text: string): Promise<Output> {
  const invalid = async (problem: string, cause?: unknown) =>
    (await onDemand()).rareProgramErrors.make(
      'model_output_invalid',
      { output, problem, text: text.slice(0, 200) },
      cause,
    );
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw await invalid('it is not JSON', cause);
  }
  const result = validate(schema, parsed);
  if ('issues' in result) throw await invalid(result.issues);
  return result.value;
}
