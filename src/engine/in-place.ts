/** Where a call of a node is made: at a place of its own, which its key on record is made of. */
import type { AnyAgent } from '../program/agent.ts';
import type { LanguageModel } from '../program/model.ts';
import type { CallOptions } from '../program/node-context.ts';
import type { Scope } from './place.ts';
import { never, type StepRun } from './step-run.ts';

export interface ScopeParts {
  readonly run: StepRun;
  readonly agent: AnyAgent;
  readonly model: LanguageModel | undefined;
  readonly models: Readonly<Record<string, LanguageModel>>;
  readonly hint: string | undefined;
}

/** Runs the work at the next place of the node, or at the one of its own key. */
export type AtPlace = <Result>(
  name: string,
  options: CallOptions | undefined,
  work: (place: string) => Promise<Result>,
) => Promise<Result>;

/** Gives the call its place, and keeps a node that was given up from doing anything more. */
export async function inPlace<Result>(
  run: StepRun,
  scope: Scope,
  name: string,
  options: CallOptions | undefined,
  work: (place: string) => Promise<Result>,
): Promise<Result> {
  run.calls.refuseLate(name);
  if (run.isSuspended()) return never();
  run.signal.throwIfAborted();
  const place = scope.enter(name, options?.key);
  if (scope.open > 1) run.activity.resume(); // beside another call: a line of its own
  try {
    return await run.calls.track(name, () => work(place.path));
  } finally {
    place.leave();
    if (scope.open > 0) run.activity.pause();
  }
}
