/** Waits that a node asks for itself: a person's answer, an event from outside, a time, the network (B9). */

import type { EffectKey } from '../model/ids.ts';
import { validate } from '../model/schema.ts';
import type { WaitAnswer, WaitKind } from '../model/wait.ts';
import { type AnyAgent, childrenOf } from '../program/agent.ts';
import { programErrors } from '../program/errors.ts';
import type { CallOptions, WaitCalls } from '../program/node-context.ts';
import { checkInput } from '../program/state.ts';
import type { ChildArgs, ChildOutcome } from './children.ts';
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

/** Children of children of … at most. */
const mostAncestors = 8;

export function waitCalls(run: StepRun, agent: AnyAgent, at: AtPlace): WaitCalls {
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
    online: (options) => at('online', options, (place) => waitWhileOffline(run, place)),
    child: (child, input, options = {}) =>
      at(`child ${child.name}`, options, async (place) => {
        const end = await childEnd(run, agent, child.name, input, place);
        if (end.status === 'done' || options.onFailure !== 'stop') return end as never;
        const reason = end.failure?.message ?? 'it was stopped';
        throw programErrors.make('child_failed', { agent: child.name, thread: end.thread, status: end.status, reason });
      }),
  };
}

/** Stands until the network is there, if it is away, or was when this place was reached before. */
export async function waitWhileOffline(run: StepRun, place: string): Promise<void> {
  if (run.ports.network?.isOnline() !== false && !(await isAsked(run, `${place}/network`))) return;
  const reason = 'until the network is there';
  await waitFor(run, `${place}/network`, { kind: 'network', about: '', args: null, reason, expiresInMs: null });
}

async function childEnd(run: StepRun, agent: AnyAgent, name: string, input: object, place: string) {
  const { codec } = run.writer;
  const ancestors = [...(codec.parent?.ancestors ?? []), agent.name];
  const child = childrenOf(agent).find((one) => one.name === name);
  if (child === undefined) {
    const known = childrenOf(agent).map((one) => `"${one.name}"`);
    throw programErrors.make('child_unknown', { agent: name, known: known.join(', ') || 'none' });
  }
  if (ancestors.length > mostAncestors) {
    const chain = [...ancestors, name].join(' > ');
    throw programErrors.make('children_too_deep', { chain, most: mostAncestors });
  }
  checkInput(child.state, input);
  // The same on every run of the step, so that a second one finds the child that the first one made (PROTOCOL 1).
  const thread = `child-${await codec.sealer.hash('child', run.scheduled.step, place)}`;
  const args: ChildArgs = { thread, input: { ...input } };
  const reason = `until ${name} has ended`;
  const answer = await waitFor(run, `${place}/child`, { kind: 'child', about: name, args, reason, expiresInMs: null });
  const outcome = answer.decision === 'ended' ? (answer.value as ChildOutcome) : undefined;
  if (outcome === undefined) throw new Error(`Child ${name} was answered with ${answer.decision}.`);
  const { status, state, failure, usage } = outcome;
  run.tally.inputTokens += usage.inputTokens;
  run.tally.outputTokens += usage.outputTokens;
  run.tally.cost += usage.cost;
  return { thread, status, state, failure };
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
