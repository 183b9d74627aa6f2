/** Waits that a node asks for itself: a person's answer, an event from outside, a time, the network (B9). */

import type { EffectKey } from '../model/ids.ts';
import { validate } from '../model/schema.ts';
import type { WaitAnswer, WaitKind } from '../model/wait.ts';
import { programErrors } from '../program/errors.ts';
import type { CallOptions, WaitCalls } from '../program/node-context.ts';
import { effectKeyFor, waitIdFor } from './identity.ts';
import { recordInputs } from './ledger-writes.ts';
import { encodeWithDigest, type StepRun } from './step-run.ts';

/** Runs the work at the next place of the node, or at the one of its own key. */
type AtPlace = <Result>(
  name: string,
  options: CallOptions | undefined,
  work: (place: string) => Promise<Result>,
) => Promise<Result>;

interface Asked {
  readonly kind: WaitKind;
  readonly about: string;
  readonly args: unknown;
  readonly reason: string;
  readonly expiresInMs: number | null;
}

export function waitCalls(run: StepRun, at: AtPlace): WaitCalls {
  return {
    ask: (question, options = {}) =>
      at('ask', options, async (place) => {
        const { answer: schema, show = null, expiresMs = null } = options;
        for (let round = 1, problem = ''; ; round += 1) {
          const reason = problem === '' ? question : `${question} (The last answer could not be used: ${problem})`;
          const asked = { kind: 'question', about: '', args: show, reason, expiresInMs: expiresMs } as const;
          const answer = await waitFor(run, `${place}/ask.${round}`, asked);
          if (answer.decision === 'deny') {
            throw programErrors.make('question_declined', { question, reason: answer.reason ?? '' });
          }
          const value = answer.decision === 'reply' ? answer.value : undefined;
          if (schema === undefined) return value as never;
          const result = validate(schema, value);
          if (!('issues' in result)) return result.value as never;
          problem = result.issues;
        }
      }),
    waitFor: (event, options = {}) =>
      at(`event ${event}`, options, async (place) => {
        const { value: schema, expiresMs = null } = options;
        const asked = { kind: 'event', about: event, args: null, reason: event, expiresInMs: expiresMs } as const;
        const answer = await waitFor(run, `${place}/event`, asked);
        const value = answer.decision === 'arrived' ? answer.value : undefined;
        if (schema === undefined) return value as never;
        const result = validate(schema, value);
        if ('issues' in result) throw programErrors.make('event_invalid', { event, problem: result.issues });
        return result.value as never;
      }),
    sleep: (durationMs, options) =>
      at('sleep', options, async (place) => {
        if (!(durationMs >= 0) || durationMs === Infinity) throw programErrors.make('sleep_invalid', { durationMs });
        const reason = `for ${durationMs} ms`;
        await waitFor(run, `${place}/timer`, {
          kind: 'timer',
          about: '',
          args: durationMs,
          reason,
          expiresInMs: durationMs,
        });
      }),
    online: (options) =>
      at('online', options, async (place) => {
        if (run.ports.network?.isOnline() !== false && !(await isAsked(run, `${place}/network`))) return;
        await waitForNetwork(run, place);
      }),
  };
}

/** Stands until the network is there. */
export async function waitForNetwork(run: StepRun, place: string): Promise<void> {
  const asked = {
    kind: 'network',
    about: '',
    args: null,
    reason: 'until the network is there',
    expiresInMs: null,
  } as const;
  await waitFor(run, `${place}/network`, asked);
}

async function isAsked(run: StepRun, place: string): Promise<boolean> {
  return run.waits.isKnown(await waitIdFor(run.writer.codec, run.scheduled.step, place));
}

/** @throws `wait_expired` */
async function waitFor(
  run: StepRun,
  place: string,
  { kind, about, args, reason, expiresInMs }: Asked,
): Promise<WaitAnswer> {
  const { codec } = run.writer;
  const { step } = run.scheduled;
  const { digest } = await encodeWithDigest(codec, [kind, about, args, reason], kind);
  const known = await isAsked(run, place);
  if (!known) await recordInputs(run);
  const answer = await run.waits.answerTo({
    id: await waitIdFor(codec, step, place),
    kind,
    step,
    tool: about,
    effectKey: (await effectKeyFor(codec, step, place)) as EffectKey,
    args,
    reason,
    digest,
    expiresInMs,
  });
  if (answer.decision === 'expired') {
    throw programErrors.make('wait_expired', { kind, about: about || reason, afterMs: expiresInMs ?? 0 });
  }
  return answer;
}
