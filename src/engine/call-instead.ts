import { textOf } from '../base/errors.ts';
import { shown } from '../base/text.ts';
import type { AnyAgent } from '../program/agent.ts';
import { programErrors } from '../program/errors.ts';
import type { LanguageModel, ModelAnswer, ModelRequest } from '../program/model.ts';
import { defaultPolicy, fits, isForCall, type PolicyRule, timesOf } from '../program/policy.ts';
import { rareProgramErrors } from '../program/rare-errors.ts';
import { deepFreeze } from '../program/state.ts';
import type { Instead } from './call-policy.ts';
import { decisionKey } from './decision.ts';
import { failureOf } from './failure.ts';
import type { StepRun } from './step-run.ts';

/**
 * The rules of the policy in turn, for a call whose attempts failed. A rule that counts its times is on record for each call that it
 * was, or was not, taken for: calls beside each other fail in another order when the step runs again.
 */
export async function callInstead<Result>(
  run: StepRun,
  agent: AnyAgent,
  cause: unknown,
  place: string,
  instead: Instead<Result>,
): Promise<Result> {
  let error = cause;
  const policy = agent.policy ?? defaultPolicy;
  for (const [index, rule] of policy.entries()) {
    if (!programErrors.is(error, 'effect_failed')) throw error;
    const failure = failureOf(error, run.scheduled.node);
    const other = otherCall(rule, `${place}/instead.${index}`, instead, (given) => {
      const problem = `rule ${index + 1} of its policy puts the value ${given} in the place of a model's answer`;
      return programErrors.make('agent_invalid', { agent: agent.name, problem });
    });
    if (!isForCall(rule) || !fits(rule, failure) || other === undefined) continue;
    if (Number.isFinite(timesOf(rule)) && !isTaken(run, rule, index, place)) continue;
    run.decisions.push({ rule: index, action: rule.action, failure });
    try {
      return await other();
    } catch (next) {
      // Arguments that the other tool does not take: nobody called it, and what the first call failed by stands.
      if (!programErrors.is(next, 'tool_input_invalid')) error = next;
    }
  }
  throw error;
}

/** Whether the rule is taken for this call: as it was before, else if it was taken less often in this run, at this node, than it may be. */
function isTaken(
  { ledger, writer, scheduled, freshInputs }: StepRun,
  rule: PolicyRule,
  index: number,
  place: string,
): boolean {
  const mark = `/rule.${index}`;
  const known = ledger.inputs.get(place + mark);
  if (known !== undefined) return known === 1;
  const before = writer.image.state?.checkpoint.control.decisions[decisionKey(index, scheduled.node)] ?? 0;
  const here = [...ledger.inputs].filter(([at, value]) => at.endsWith(mark) && value === 1).length;
  const isFree = before + here < timesOf(rule);
  ledger.inputs.set(place + mark, isFree ? 1 : 0);
  freshInputs.push([place + mark, isFree ? 1 : 0]);
  return isFree;
}

function otherCall<Result>(rule: PolicyRule, place: string, instead: Instead<Result>, refused: Refused) {
  if (rule.action === 'value') {
    const { request } = instead;
    return async () => deepFreeze(request ? answerOf(rule.value, request, refused) : rule.value) as Result;
  }
  if (rule.action === 'use_tool' && instead.tool) return () => instead.tool?.(rule.use, place) as Promise<Result>;
  if (rule.action === 'use_model' && instead.model) return () => instead.model?.(rule.use, place) as Promise<Result>;
  return undefined;
}

type Refused = (given: string) => Error;

/** A value as the answer of a model: a whole answer as it is; else its text, or what its JSON says where the call asked for that. */
function answerOf(given: unknown, { output }: ModelRequest, refused: Refused): ModelAnswer {
  const { text, toolCalls, usage } = (given ?? {}) as Partial<ModelAnswer>;
  const isWhole = typeof text === 'string' && Array.isArray(toolCalls) && typeof usage === 'object';
  if (isWhole) return given as ModelAnswer;
  const own = output ? jsonText(given) : typeof given === 'string' ? given : text;
  if (typeof own === 'string') return { text: own, toolCalls: [], usage: { inputTokens: 0, outputTokens: 0 } };
  throw refused(output ? `${textOf(given)}, which has no form in JSON` : `${shown(given)}, which is no text`);
}

function jsonText(given: unknown): string | undefined {
  try {
    return JSON.stringify(given);
  } catch {
    return undefined;
  }
}

/** @throws `model_unknown` */
export function modelNamed(models: Readonly<Record<string, LanguageModel>>, name: string): LanguageModel {
  const model = Object.hasOwn(models, name) ? models[name] : undefined;
  if (model !== undefined) return model;
  const known = Object.keys(models).map((other) => `"${other}"`);
  throw rareProgramErrors.make('model_unknown', { model: name, known: known.join(', ') || 'none' });
}
