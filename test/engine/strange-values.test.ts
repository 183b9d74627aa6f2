/** What authors and pages give where a text or a number is expected: it is refused, and never makes a record unreadable. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { value } from '../../src/model/fields.ts';
import type { WaitAnswer } from '../../src/model/wait.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { NodeContext } from '../../src/program/node-context.ts';
import { tool } from '../../src/program/tool.ts';
import { answer, head, only, Scene } from './support.ts';

const retry = { attempts: 1, backoffMs: [0], jitter: 0 };
const about = {
  name: 'act',
  description: 'Acts',
  input: z.object({}),
  effect: 'once',
  retry,
  run: () => 'acted',
} as const;
const plain = tool(about);
const state = { result: value(z.any(), null) };
type Context = NodeContext<typeof state, { act: typeof plain }, 'go'>;

function acting(go: (context: Context) => Promise<unknown>, act: object = {}, more: object = {}) {
  return defineAgent({
    name: 'odd',
    version: 1,
    state,
    tools: { act: { ...plain, ...act } },
    start: 'go',
    nodes: { go: { retry, run: async (_state, context) => context.end({ result: await go(context as never) }) } },
    ...more,
  });
}

const callAct = ({ call }: Context) => call('act', {});
const approval = 'always';

test.each<[string, ReturnType<typeof acting>, RegExp]>([
  ['a reason', acting(callAct, { approval, reason: async () => 'because' }), /a object at the reason of a wait/],
  ['a message', acting(async () => Object.assign(new Error('x'), { message: 42 })), /at result\.message/],
])(
  '[A7d, B9a] %s of another type fails its run with a reason; the thread can be read',
  async (_what, agent, message) => {
    const thread = await new Scene({ agent }).begun();
    expect(await thread.run()).toMatchObject({ end: 'failed' });
    expect((await head(thread)).control.failure).toMatchObject({
      code: 'value_not_storable',
      message: expect.stringMatching(message),
    });
    expect(await thread.waits()).toEqual([]);
  },
);

test('[B13a, A7d] data of a custom event that no page could get fails its step, watched or not', async () => {
  const agent = acting(async ({ emit }) => emit('progress', { done: () => 1 }));
  const thread = await new Scene({ agent }).begun();
  expect(await thread.run()).toMatchObject({ end: 'failed' });
  expect((await head(thread)).control.failure?.message).toMatch(/event "progress"/);
});

test('[A7d, B9b] an answer whose reason is no text is refused, and the wait stays open', async () => {
  const thread = await new Scene({ agent: acting(callAct, { approval }) }).begun();
  await thread.run();
  const wait = only(await thread.waits());
  const strange = { decision: 'deny', reason: { text: 'no' } } as unknown as WaitAnswer;
  await expect(answer(thread, wait, strange)).rejects.toMatchObject({ code: 'answer_invalid' });
  await answer(thread, wait, { decision: 'allow' });
  expect(await thread.run()).toEqual({ end: 'done' });
});

test('[B12a, A7d] limits that are no number leave the event log readable; a reason that is no text is refused', async () => {
  const thread = await new Scene({ agent: acting(async () => 1, {}, { limits: { tokens: 10 } }) }).begun();
  await thread.extend({ tokens: 5, runMs: undefined } as never);
  await thread.run();
  const { id } = await head(thread);
  const odd = thread.rollBack(id, { reason: { why: 'odd' } as never });
  await expect(odd).rejects.toMatchObject({ code: 'argument_invalid' });
  const types = (await thread.events()).map(({ type }) => type);
  expect(types).toContain('extended');
  expect(types).not.toContain('rolled_back');
});

test.each<[string, () => unknown]>([
  ['nothing', async () => undefined],
  ['something else', () => 'yes'],
  ['what cannot be stored', () => ({ verdict: 'done', result: () => undefined })],
])('[B4d, B4f] a verify that answers %s leaves the decision to a person', async (_what, verify) => {
  const run = () => {
    throw new Error('the connection broke off');
  };
  const thread = await new Scene({ agent: acting(callAct, { run, verify }) }).begun();
  expect(await thread.run()).toEqual({ end: 'waiting' });
  await answer(thread, only(await thread.waits()), { decision: 'done', result: 'acted' });
  expect(await thread.run()).toEqual({ end: 'done' });
  expect(await thread.state()).toEqual({ result: 'acted' });
});
