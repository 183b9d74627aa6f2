/** An agent whose node writes a note, asks for leave to send, and sends: with what came of it for the tests to see. */
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';

export interface Asking {
  readonly expiresMs?: number;
  /** Who the mails go to; each is asked for side by side. */
  readonly to?: readonly string[];
  /** Runs beside the mails, in an item of its own. */
  readonly beside?: () => Promise<string>;
}

export function askingAgent({ expiresMs, to = ['ann'], beside }: Asking = {}) {
  const sent: string[] = [];
  const noted: string[] = [];
  const send = tool({
    name: 'send',
    description: 'Sends a mail',
    input: z.object({ to: z.string(), note: z.string() }),
    effect: 'once',
    approval: 'always',
    reason: (mail) => `${mail.to} waits for it`,
    ...(expiresMs !== undefined && { approvalExpiresMs: expiresMs }),
    run: (mail) => {
      sent.push(`${mail.to}: ${mail.note}`);
      return mail.to;
    },
  });
  const note = tool({
    name: 'note',
    description: 'Writes a note',
    input: z.object({ text: z.string() }),
    effect: 'once',
    run: ({ text }) => {
      noted.push(text);
      return text;
    },
  });
  const work = tool({
    name: 'work',
    description: 'Works beside',
    input: z.object({}),
    effect: 'idempotent',
    run: () => beside?.() ?? 'nothing',
  });
  const agent = defineAgent({
    name: 'asker',
    version: 1,
    state: { log: log(z.string()) },
    tools: { send, note, work },
    start: 'go',
    nodes: {
      go: async (_state, { call, all, end }) => {
        const text = await call('note', { text: 'hello' });
        const items = beside === undefined ? to : [...to, null];
        const came = await all(items, async (name, scope) =>
          name === null
            ? scope.call('work', {})
            : scope.call('send', { to: name, note: text }).catch((error: { code: string }) => error.code),
        );
        return end({ log: came });
      },
    },
  });
  return { agent, sent, noted };
}
