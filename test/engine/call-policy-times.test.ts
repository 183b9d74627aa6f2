/** `times` of rules that put something in the place of a call: in one run, at one node, the same on every run of a step. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import { log, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { PolicyTable } from '../../src/program/policy.ts';
import { Refusal, tool } from '../../src/program/tool.ts';
import { decisions } from './policy-agent.ts';
import { answer, only, plainState, quiet, Scene } from './support.ts';

const closed = () => new Refusal('closed', { retry: false });

test('[B8b, B6a] which call a rule was taken for stands, also where calls beside each other fail in another order then', async () => {
  const gates = [deferred<void>(), deferred<void>()];
  const asked = [deferred<void>(), deferred<void>()];
  const shop = tool({
    name: 'shop',
    description: 'Asks the shop',
    input: z.object({ n: z.number() }),
    effect: 'read',
    run: async ({ n }): Promise<string> => {
      asked[n]?.resolve();
      await gates[n]?.promise;
      throw closed();
    },
  });
  const market = tool({
    name: 'market',
    description: 'Asks the market',
    input: z.object({ n: z.number() }),
    effect: 'idempotent',
    run: ({ n }) => `market ${n}`,
  });
  const agent = defineAgent({
    name: 'shopper',
    version: 1,
    state: { said: log(z.string()) },
    tools: { shop, market },
    policy: [{ tool: 'shop', action: 'use_tool', use: 'market', times: 1 }, { action: 'stop' }],
    start: 'go',
    nodes: {
      go: async (_state, { all, ask, end }) => {
        const got = await all([0, 1], (n, { call }) => call('shop', { n }).catch(() => 'failed'));
        await ask('well?');
        return end({ said: got });
      },
    },
  });
  const thread = await new Scene({ agent }).begun();
  const run = thread.run();
  await Promise.all(asked.map(({ promise }) => promise));
  gates[1]?.resolve();
  await quiet();
  gates[0]?.resolve();
  expect(await run).toEqual({ end: 'waiting' });
  await answer(thread, only(await thread.waits()), { decision: 'reply', value: 'x' });
  expect(await thread.run()).toEqual({ end: 'done' });
  expect((await plainState(thread)).said).toEqual(['failed', 'market 1']);
});

function looping(policy: PolicyTable, isBroken: () => boolean = () => false) {
  const shop = tool({
    name: 'shop',
    description: 'Asks the shop',
    input: z.object({}),
    effect: 'read',
    run: (): string => {
      throw closed();
    },
  });
  return new Scene({
    agent: defineAgent({
      name: 'looping',
      version: 1,
      state: { said: log(z.string()), n: value(z.number(), 0) },
      tools: { shop },
      policy,
      start: 'go',
      nodes: {
        go: {
          retry: { attempts: 1 },
          run: async ({ n }, { call, goto, end }) => {
            const got = await call('shop', {});
            if (isBroken()) throw new Error('odd');
            return n === 2 ? end({ said: [got] }) : goto('go', { said: [got], n: n + 1 });
          },
        },
      },
    }),
  });
}

test('[B8b, B6a] a rule is taken for calls of one node as often as it says in the whole run', async () => {
  const thread = await looping([{ tool: 'shop', action: 'value', value: 'v', times: 1 }, { action: 'stop' }]).begun();
  expect(await thread.run()).toMatchObject({ end: 'failed' });
  expect((await plainState(thread)).said).toEqual(['v']);
});

test('[B8b, B8e] what was decided about the calls of a step that is run once more is counted, and in the event log', async () => {
  let failures = 1;
  const scene = looping(
    [
      { tool: 'shop', action: 'value', value: 'v', times: 2 },
      { code: 'node_failed', action: 'stop' },
      { action: 'retry' },
    ],
    () => failures-- > 0,
  );
  const thread = await scene.begun();
  expect(await thread.run()).toMatchObject({ end: 'failed' });
  expect((await plainState(thread)).said).toEqual(['v']);
  expect((await decisions(scene)).map(({ action }) => action)).toEqual(['value', 'retry', 'value']);
});
