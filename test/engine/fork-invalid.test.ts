import { expect, test } from 'vitest';
import * as z from 'zod';
import type { Fields } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { NodeContext } from '../../src/program/node-context.ts';
import type { Tools } from '../../src/program/tool.ts';
import { askingAgent } from './asking-agent.ts';
import { answer, head, only, Scene } from './support.ts';
import { beforeNode, choices } from './travel-agent.ts';

test.each([
  [['gone'], 'go', 'its branch "gone" is not there; there are "split", "go"'],
  [['go'], 'later', 'its join "later" is not there; there are "split", "go"'],
])(
  '[B1d] a fork into %j that joins at "%s" fails its step, and says what is not there',
  async (nodes, join, problem) => {
    const agent = defineAgent({
      name: 'forking',
      version: 1,
      state: {},
      start: 'split',
      nodes: {
        split: (_state, { parallel }) => parallel(nodes as 'go'[], { join: join as 'go' }),
        go: (_state, { end }) => end(),
      },
    });
    const scene = new Scene({ agent });

    expect(await (await scene.begun()).run()).toMatchObject({ end: 'failed' });
    expect((await head(await scene.open())).control.failure).toMatchObject({
      code: 'fork_invalid',
      details: { node: 'split', problem },
    });
  },
);

test.each([
  [{ failures: 'ignore' }, 'its failures "ignore" is neither stop nor collect'],
  [{ failure: 'collect' }, 'its options have "failure"; there are join, failures, limit, update'],
  [{ limit: 0 }, 'its limit 0 is not a whole number from 1'],
  [{ limit: 1.5 }, 'its limit 1.5 is not a whole number from 1'],
  [{ limit: Symbol('l') }, 'its limit Symbol(l) is not a whole number from 1'],
  [{ join: Symbol('j') }, 'its join is of type symbol, not the name of a node'],
  [null, 'its options are null, not an object'],
  [5, 'its options are of type number, not an object'],
  [{ failures: 'collect' }, 'it collects failures, and has no join where a node finds them: name one'],
])('[B1d] a fork with %j fails its step, and says what there is', async (options, problem) => {
  const agent = defineAgent({
    name: 'forking',
    version: 1,
    state: {},
    start: 'split',
    nodes: {
      split: (_state, { parallel }) => parallel(['go'], options as never),
      go: (_state, { end }) => end(),
    },
  });
  const scene = new Scene({ agent });

  expect(await (await scene.begun()).run()).toMatchObject({ end: 'failed' });
  expect((await head(await scene.open())).control.failure).toMatchObject({
    code: 'fork_invalid',
    details: { node: 'split', problem },
  });
});

test.each<[(context: NodeContext<Fields, Tools, string>) => unknown, string]>([
  [({ parallel }) => parallel([Symbol('go')] as never), 'its branch 1 is of type symbol, not the name of a node'],
  [({ fanOut }) => fanOut(Symbol('go') as never, [1]), 'its branch 1 is of type symbol, not the name of a node'],
  [() => ({ type: 'fork', branches: [null], update: {}, options: {} }), 'its branch 1 is null, not a node'],
  [() => ({ type: 'fork', branches: 5, update: {}, options: {} }), 'its branches are of type number, not a list'],
])('[B1d] a fork whose branches are no names fails its step, and says so (%#)', async (split, problem) => {
  const agent = defineAgent({
    name: 'forking',
    version: 1,
    state: {},
    start: 'split',
    nodes: { split: (_state, context) => split(context as never) as never, go: (_state, { end }) => end() },
  });

  expect(await (await new Scene({ agent }).begun()).run()).toMatchObject({
    end: 'failed',
    failure: { code: 'fork_invalid', details: { node: 'split', problem: expect.stringContaining(problem) } },
  });
});

test('[B1d] an item of a node that has none is told as missing, whatever its schema takes', async () => {
  const agent = defineAgent({
    name: 'lone',
    version: 1,
    state: {},
    start: 'go',
    nodes: { go: (_state, { item, end }) => end(item(z.any())) },
  });

  expect(await (await new Scene({ agent }).begun()).run()).toMatchObject({
    end: 'failed',
    failure: { code: 'item_invalid', details: { node: 'go', problem: 'there is none' } },
  });
});

test('[B12d] a call whose arguments a person edited cannot be reused by a fork: its own call could not be told', async () => {
  const { agent, sent } = askingAgent();
  const thread = await new Scene({ agent }).begun();
  await thread.run();
  const wait = only(await thread.waits());
  await answer(thread, wait, { decision: 'allow', args: { to: 'bob', note: 'hi' } });
  expect(await thread.run()).toEqual({ end: 'done' });
  expect(sent).toEqual(['bob: hi']);

  const at = await beforeNode(thread, 'go');
  const effects = await choices(thread.fork(at, { id: 'fork' }), () => 'reuse');
  await expect(thread.fork(at, { id: 'fork', effects })).rejects.toMatchObject({
    code: 'choice_invalid',
    details: { name: 'send', choice: 'reuse', problem: expect.stringContaining('its arguments were edited') },
  });
});
