/** Waits that a node asks for itself: a person's answer, an event from outside, a time, the network (B9). */

import { validate } from '../model/schema.ts';
import type { AnyAgent } from '../program/agent.ts';
import { checkDuration, checkName, checkText, isDuration, refuse } from '../program/arguments.ts';
import type { WaitCalls } from '../program/node-context.ts';
import { checkOptions, checkSchema, checkWord } from '../program/option-checks.ts';
import { rareProgramErrors } from '../program/rare-errors.ts';
import { childEnd } from './child-call.ts';
import type { AtPlace } from './in-place.ts';
import type { StepRun } from './step-run.ts';
import { waitFor, waitWhileOffline } from './wait-for.ts';

export function waitCalls(run: StepRun, agent: AnyAgent, at: AtPlace): WaitCalls {
  return {
    ask: (question, options = {}) =>
      at('ask', options, async (place) => {
        checkOptions('ask(question)', options, ['answer', 'show', 'expiresMs', 'key']);
        const { answer: schema, show = null, expiresMs = null } = options;
        checkName('ask(question)', 'the question', question);
        checkSchema('ask(question)', 'answer', schema);
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
          if (result.isFault) refuse('ask(question)', result.issues);
          problem = result.issues;
        }
      }),
    waitFor: (event, options = {}) =>
      at('event', options, async (place) => {
        checkOptions('waitFor(event)', options, ['value', 'expiresMs', 'key']);
        const { value: schema, expiresMs = null } = options;
        checkName('waitFor(event)', 'the name', event);
        checkSchema('waitFor(event)', 'value', schema);
        checkDuration('waitFor(event)', 'expiresMs', expiresMs);
        const asked = { kind: 'event', about: event, args: null, reason: event, expiresInMs: expiresMs } as const;
        const answer = await waitFor(run, `${place}/event`, asked);
        const value = answer.decision === 'arrived' ? answer.value : undefined;
        if (schema === undefined) return value as never;
        const result = validate(schema, value);
        if ('issues' in result) throw rareProgramErrors.make('event_invalid', { event, problem: result.issues });
        return result.value as never;
      }),
    sleep: (durationMs, options = {}) =>
      at('sleep', options, async (place) => {
        checkOptions('sleep(durationMs)', options, ['key']);
        if (!isDuration(durationMs)) throw rareProgramErrors.make('sleep_invalid', { durationMs });
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
      at('child', options, async (place) => {
        if (typeof child === 'string') refuse('child(agent, input)', `the agent is a text; give the agent itself`);
        checkText('child(agent, input)', 'the name of the agent', child?.name);
        checkOptions('child(agent, input)', options, ['onFailure', 'key']);
        checkWord('child(agent, input)', 'onFailure', options.onFailure, ['tell', 'stop']);
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
