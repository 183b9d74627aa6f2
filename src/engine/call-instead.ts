import type { AnyAgent } from '../program/agent.ts';
import { programErrors } from '../program/errors.ts';
import type { LanguageModel } from '../program/model.ts';
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
  for (const [index, rule] of (agent.policy ?? defaultPolicy).entries()) {
    if (!programErrors.is(error, 'effect_failed')) throw error;
    const failure = failureOf(error, run.scheduled.node);
    const other = otherCall(rule, `${place}/instead.${index}`, instead);
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
