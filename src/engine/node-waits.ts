/** Waits that a node asks for itself: a person's answer, an event from outside, a time, the network (B9). */

import { validate } from '../model/schema.ts';
import { type AnyAgent, childrenOf } from '../program/agent.ts';
import { checkDuration, checkText } from '../program/arguments.ts';
import type { WaitCalls } from '../program/node-context.ts';
import { rareProgramErrors } from '../program/rare-errors.ts';
import { checkInput } from '../program/state.ts';
import type { AtPlace } from './call-scope.ts';
import type { ChildArgs, ChildOutcome } from './children.ts';
import type { StepRun } from './step-run.ts';
import { waitFor, waitWhileOffline } from './wait-for.ts';

/** Children of children of … at most. */
const mostAncestors = 8;

export function waitCalls(run: StepRun, agent: AnyAgent, at: AtPlace): WaitCalls {
  return {
    ask: (question, options = {}) =>
      at('ask', options, async (place) => {
        const { answer: schema, show = null, expiresMs = null } = options;
        checkText('ask(question)', 'the question', question);
        checkDuration('ask(question)', 'expiresMs', expiresMs);
        for (let round = 1, problem = ''; ; round += 1) {
          const reason = problem === '' ? question : `${question} (The last answer could not be used: ${problem})`;
          const asked = { kind: 'question', about: '', args: show, reason, expiresInMs: expiresMs } as const;
          const answer = await waitFor(run, `${place}/ask.${round}`, asked);
          if (answer.decision === 'deny') {
            throw rareProgramErrors.make('question_declined', { question, reason: answer.reason ?? '' });
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
        checkText('waitFor(event)', 'the name', event);
        checkDuration('waitFor(event)', 'expiresMs', expiresMs);
        const asked = { kind: 'event', about: event, args: null, reason: event, expiresInMs: expiresMs } as const;
        const answer = await waitFor(run, `${place}/event`, asked);
        const value = answer.decision === 'arrived' ? answer.value : undefined;
        if (schema === undefined) return value as never;
        const result = validate(schema, value);
        if ('issues' in result) throw rareProgramErrors.make('event_invalid', { event, problem: result.issues });
        return result.value as never;
      }),
    sleep: (durationMs, options) =>
      at('sleep', options, async (place) => {
        if (typeof durationMs !== 'number' || !(durationMs >= 0) || durationMs === Infinity)
          throw rareProgramErrors.make('sleep_invalid', { durationMs });
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
      at(`child ${child?.name}`, options, async (place) => {
        checkText('child(agent, input)', 'the name of the agent', child?.name);
        const end = await childEnd(run, agent, child.name, input, place);
        if (end.status === 'done' || options.onFailure !== 'stop') return end as never;
        const reason = end.failure?.message ?? 'it was stopped';
        throw rareProgramErrors.make('child_failed', {
          agent: child.name,
          thread: end.thread,
          status: end.status,
          reason,
        });
      }),
  };
}

async function childEnd(run: StepRun, agent: AnyAgent, name: string, input: object, place: string) {
  const { codec } = run.writer;
  const ancestors = [...(codec.parent?.ancestors ?? []), agent.name];
  const child = childrenOf(agent).find((one) => one.name === name);
  if (child === undefined) {
    const known = childrenOf(agent).map((one) => `"${one.name}"`);
    throw rareProgramErrors.make('child_unknown', { agent: name, known: known.join(', ') || 'none' });
  }
  if (ancestors.length > mostAncestors) {
    const chain = [...ancestors, name].join(' > ');
    throw rareProgramErrors.make('children_too_deep', { chain, most: mostAncestors });
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
