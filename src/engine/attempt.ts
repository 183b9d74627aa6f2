import { whenAborted } from '../base/abort.ts';
import { programErrors } from '../program/errors.ts';
import { Refusal, type ToolCall } from '../program/tool.ts';
import type { EffectRequest } from './effect-request.ts';
import type { StepRun } from './step-run.ts';

export type Answer = { readonly value: unknown } | { readonly error: unknown };

/**
 * Calls, and waits at most the time limit. A result that comes later still reaches `onLate`. Aborting ends the wait at
 * once; what the call then still does is not known.
 */
export async function callWithin(
  run: StepRun,
  request: Pick<EffectRequest, 'name' | 'timeLimitMs' | 'run'>,
  args: unknown,
  call: ToolCall,
  onLate: (value: unknown) => Promise<void>,
): Promise<Answer> {
  const limit = new AbortController();
  const stopTimer = new AbortController();
  const stop = () => limit.abort(run.signal.reason);
  run.signal.addEventListener('abort', stop, { once: true });

  const answered = settle(() => request.run(args, { ...call, abortSignal: limit.signal }));
  const ended = whenAborted(limit.signal);
  const timer = run.ports.clock.sleep(request.timeLimitMs, stopTimer.signal).then(
    () => limit.abort(programErrors.make('effect_timed_out', { name: request.name, afterMs: request.timeLimitMs })),
    () => undefined, // stopped: the call was answered
  );
  try {
    const first = await Promise.race([answered, ended]);
    if (first !== 'aborted') return first;
    void answered.then((late) => ('value' in late ? onLate(late.value) : undefined)).catch(() => undefined); // the store is gone: the call stays in doubt, which is the safe side
    return { error: limit.signal.reason };
  } finally {
    run.signal.removeEventListener('abort', stop);
    stopTimer.abort('the call ended');
    await timer;
  }
}

/** Once a call may have left, only what the tool itself declares a refusal is certain not to have happened (PROTOCOL 3). */
export function isDefiniteRefusal(error: unknown): boolean {
  return error instanceof Refusal;
}

async function settle(work: () => Promise<unknown>): Promise<Answer> {
  try {
    return { value: await work() };
  } catch (error) {
    return { error };
  }
}
