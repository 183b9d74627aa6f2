import type { AnyAgent } from '../program/agent.ts';
import { programErrors } from '../program/errors.ts';
import type { LanguageModel } from '../program/model.ts';
import { defaultPolicy, fits, isForCall, type PolicyRule, timesOf } from '../program/policy.ts';
import { rareProgramErrors } from '../program/rare-errors.ts';
import { deepFreeze } from '../program/state.ts';
import type { Instead } from './call-policy.ts';
import { failureOf } from './failure.ts';
import type { StepRun } from './step-run.ts';

/**
 * The rules of the policy in turn, for a call whose attempts failed. The same failures lead to the same rules on every run of
 * the step, so what they did is found on record.
 */
export async function callInstead<Result>(
  run: StepRun,
  agent: AnyAgent,
  cause: unknown,
  place: string,
  instead: Instead<Result>,
): Promise<Result> {
  let error = cause;
  for (const [index, rule] of (agent.policy ?? defaultPolicy).entries()) {
    if (!programErrors.is(error, 'effect_failed')) throw error;
    const failure = failureOf(error, run.scheduled.node);
    const taken = run.decisions.filter((decision) => decision.rule === index).length;
    const other = otherCall(rule, `${place}/instead.${index}`, instead);
    if (!isForCall(rule) || !fits(rule, failure) || taken >= timesOf(rule) || other === undefined) continue;
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

function otherCall<Result>(rule: PolicyRule, place: string, instead: Instead<Result>) {
  if (rule.action === 'value') return async () => deepFreeze(rule.value) as Result;
  if (rule.action === 'use_tool' && instead.tool) return () => instead.tool?.(rule.use, place) as Promise<Result>;
  if (rule.action === 'use_model' && instead.model) return () => instead.model?.(rule.use, place) as Promise<Result>;
  return undefined;
}

/** @throws `model_unknown` */
export function modelNamed(models: Readonly<Record<string, LanguageModel>>, name: string): LanguageModel {
  const model = Object.hasOwn(models, name) ? models[name] : undefined;
  if (model !== undefined) return model;
  const known = Object.keys(models).map((other) => `"${other}"`);
  throw rareProgramErrors.make('model_unknown', { model: name, known: known.join(', ') || 'none' });
}
