import * as z from 'zod';
import { log, secret, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { Refusal, tool } from '../../src/program/tool.ts';
import { ScriptedModel } from '../engine/support.ts';

const send = tool({
  name: 'send',
  description: 'Sends',
  input: z.object({ to: z.string() }),
  effect: 'once',
  approval: 'always',
  reason: ({ to }) => `${to} waits for it`,
  run: ({ to }) => ({ receipt: `sent to ${to}` }),
});

const look = tool({
  name: 'look',
  description: 'Looks',
  input: z.object({ at: z.string() }),
  effect: 'read',
  retry: { attempts: 1 },
  run: ({ at }) => {
    if (at === 'nothing') throw new Refusal('nothing is there');
    return at.repeat(2_000);
  },
});

/** Uses every kind of record. It is kept as it is: golden files hold its threads. */
export const goldenAgent = defineAgent({
  name: 'golden',
  version: 1,
  state: {
    to: value(z.string(), ''),
    seen: value(z.string(), ''),
    kinds: value(z.unknown(), null),
    notes: log(z.unknown()),
    token: secret(z.string()),
  },
  tools: { send, look },
  start: 'look',
  nodes: {
    look: async ({ to }, { call, model, now, random, goto }) => {
      const seen = await call('look', { at: to });
      await call('look', { at: 'nothing' }).catch(() => undefined);
      const thought = await model.text(`about ${to}`);
      const kinds = {
        at: new Date(now()),
        map: new Map([['set', new Set([1n, -0, Number.NaN])]]),
        bytes: new Uint8Array(9),
      };
      return goto('send', { seen, kinds, notes: [thought, random()] });
    },
    send: async ({ to }, { call, end }) => end({ notes: [await call('send', { to })] }),
  },
  rehydrate: () => ({ token: 'never stored' }),
});

export const goldenModel = new ScriptedModel((prompt) => `a thought ${prompt}`, 'golden');
