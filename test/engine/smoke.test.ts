import { expect, test } from 'vitest';
import * as z from 'zod';
import { log, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';

test('[B1a] a small agent runs to its end', async () => {
  const sent: string[] = [];
  const send = tool({
    name: 'send',
    description: 'Sends',
    input: z.object({ to: z.string() }),
    effect: 'once',
    approval: 'always',
    run: ({ to }, { effectKey }) => {
      sent.push(`${to} ${effectKey}`);
      return { id: to };
    },
  });
  const agent = defineAgent({
    name: 'small',
    version: 1,
    state: { count: value(z.number(), 0), notes: log(z.string()) },
    tools: { send },
    start: 'work',
    nodes: {
      work: async ({ count, notes }, { goto }) =>
        count < 3 ? goto('work', { count: count + 1, notes: [`n${notes.length}`] }) : goto('tell'),
      tell: async (_state, { all, end }) => {
        const ids = await all(['a', 'b'], (to, { call }) => call('send', { to }));
        return end({ notes: ids.map(({ id }) => id) });
      },
    },
  });
  const world = new TestWorld();
  const engine = await world.engine({ agent });
  const thread = engine.thread('t');
  await thread.send({ count: 1 });
  expect(await thread.run()).toEqual({ end: 'waiting' });
  const again = (await world.engine({ agent })).thread('t');
  const waits = await again.waits();
  expect(waits).toHaveLength(2);
  for (const wait of waits) await again.answer(wait.id, wait.digest, { decision: 'allow' });
  expect(await again.run()).toEqual({ end: 'done' });
  const state = await again.state();
  expect(state.count).toBe(3);
  expect(await (state.notes as { tail(n: number): Promise<string[]> }).tail(10)).toEqual(['n0', 'n1', 'a', 'b']);
  expect(sent).toHaveLength(2);
});
