/** What the scenarios share: a chat that charges a card with leave, and models and tools that end when a story says so. */
import * as z from 'zod';
import { log, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { never } from '../engine/support.ts';

export interface Story {
  /** Whom to charge, side by side, each with an approval. */
  readonly to?: () => readonly string[];
}

/** Charges with leave, then writes a report: while `isHeld`, writing it takes for ever. */
export function cashier({ to = () => ['ann'] }: Story = {}) {
  const charged: string[] = [];
  const desk = { isHeld: false, reports: 0 };
  const charge = tool({
    name: 'charge',
    description: 'Charges a card',
    input: z.object({ who: z.string(), euros: z.number() }),
    effect: 'once',
    approval: 'always',
    run: ({ who, euros }) => {
      charged.push(`${who} ${euros}`);
      return `charged ${who} ${euros}`;
    },
  });
  const report = tool({
    name: 'report',
    description: 'Writes a report',
    input: z.object({}),
    effect: 'idempotent',
    run: () => {
      desk.reports += 1;
      return desk.isHeld ? never<string>() : 'reported';
    },
  });
  const agent = defineAgent({
    name: 'cashier',
    version: 1,
    state: { said: log(z.string()) },
    tools: { charge, report },
    start: 'charge',
    nodes: {
      charge: async (_state, { all, call, end }) => {
        const said = await all(to(), (who, scope) =>
          scope
            .call('charge', { who, euros: who.length })
            .catch(({ code }: { code: string }) => (code === 'tool_denied' ? `not ${who}` : Promise.reject(code))),
        );
        return end({ said: [...said, await call('report', {})] });
      },
    },
  });
  return { agent, charged, desk };
}

/** Keeps what each input says. */
export const keeper = defineAgent({
  name: 'keeper',
  version: 1,
  state: { text: value(z.string(), ''), said: log(z.string()) },
  start: 'keep',
  nodes: { keep: ({ text }, { end }) => end({ said: [text] }) },
});
