import { defineAgent, done, log, notDone, tool, value } from 'holdfast';
import * as z from 'zod';

const headers = (effectKey: string, attempt: number) => ({
  'idempotency-key': effectKey,
  'x-attempt': String(attempt),
});

/** The outside world counts every call of these by effect key, and removes no duplicate. */
const deliver = tool({
  name: 'deliver',
  description: 'Delivers one letter',
  input: z.object({ n: z.number() }),
  effect: 'once',
  run: async ({ n }, { effectKey, attempt, abortSignal }) => {
    const answer = await fetch('/effects', {
      method: 'POST',
      headers: headers(effectKey, attempt),
      body: JSON.stringify({ n }),
      signal: abortSignal,
    });
    return (await answer.json()) as { id: string };
  },
  verify: async (_input, { effectKey, attempt }) => {
    const answer = await fetch(`/effects/${effectKey}/close`, { method: 'POST', headers: headers(effectKey, attempt) });
    const { delivered } = (await answer.json()) as { delivered: { id: string } | null };
    return delivered === null ? notDone({ closed: true }) : done(delivered);
  },
});

export const courier = defineAgent({
  name: 'courier',
  version: 1,
  state: { left: value(z.number(), 0), ids: log(z.string()), thoughts: log(z.string()) },
  tools: { deliver },
  start: 'think',
  maxSteps: 1_000,
  nodes: {
    async think({ left }, { model, goto }) {
      return goto('act', { thoughts: [await model.text(`think about ${left}`)] });
    },
    async act({ left }, { call, goto, end }) {
      const { id } = await call('deliver', { n: left });
      const update = { left: left - 1, ids: [id] };
      return left > 1 ? goto('think', update) : end(update);
    },
  },
});
