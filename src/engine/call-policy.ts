/** What takes the place of a call that failed for good, where the policy says so (B6). */

import type { AnyAgent } from '../program/agent.ts';
import { programErrors } from '../program/errors.ts';
import type { ModelRequest } from '../program/model.ts';
import { onDemand } from './load-on-demand.ts';
import type { StepRun } from './step-run.ts';

/** How the call is made by another tool or model, at a place of its own. */
export interface Instead<Result> {
  tool?(name: string, place: string): Promise<Result>;
  model?(name: string, place: string): Promise<Result>;
  /** Of a call of a model: what it asked. */
  readonly request?: ModelRequest;
}

/** Makes the call; if all its attempts failed, what the policy puts in its place. */
export async function orInstead<Result>(
  run: StepRun,
  agent: AnyAgent,
  place: string,
  call: () => Promise<Result>,
  instead: Instead<Result>,
): Promise<Result> {
  try {
    return await call();
  } catch (cause) {
    if (!programErrors.is(cause, 'effect_failed')) throw cause;
    return (await onDemand()).callInstead(run, agent, cause, place, instead);
  }
}
