/** Rules of a policy that cannot be carried out, and what a step failed by then. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { PolicyTable } from '../../src/program/policy.ts';
import { tool } from '../../src/program/tool.ts';
import { eventsOf } from './events.ts';
import { answer, head, only, Scene } from './support.ts';

const get = tool({
  name: 'get',
  description: 'Gets',
  input: z.object({ id: z.number() }),
  effect: 'read',
  retry: { attempts: 1 },
  run: (): string => {
    throw new Error('down');
  },
});
const named = tool({
  name: 'named',
  description: 'Gets by name',
  input: z.object({ name: z.string() }),
  effect: 'read',
  run: ({ name }) => name,
});
const asNumber = z.number().max(9);

/** An agent whose one node fails, and from which no edge leads on unless `edge` says so. */
function agentOf(policy: PolicyTable, edges: { work?: 'work' | null } = {}, doing: 'throws' | 'calls' = 'throws') {
  return defineAgent({
    name: 'worker',
    version: 1,
    state: {
      n: value(z.number(), 0),
      sum: value(asNumber, 0, (sum: number, more: number) => sum + more),
    },
    tools: { get, named },
    policy,
    start: 'work',
    nodes: {
      work: {
        retry: { attempts: 1 },
        run: async (_state, { call, update }) => {
          if (doing === 'throws') throw new Error('odd');
          await call('get', { id: 1 });
          return update();
        },
      },
    },
    edges,
  });
}

async function ran(...given: Parameters<typeof agentOf>) {
  const scene = new Scene({ agent: agentOf(...given) });
  const end = await (await scene.begun()).run();
  const events = (await eventsOf(scene)).filter(({ type }) => type === 'policy');
  return { scene, end, actions: events.map(({ details }) => details.action) };
}

const failure = async (scene: Scene) => (await head(await scene.open())).control.failure;

describe('a rule that cannot be carried out', () => {
  test('[B8b] since no edge leads on from the node is passed over: the step fails by its own error', async () => {
    const { scene, end } = await ran([{ action: 'skip' }, { action: 'stop' }]);

    expect(end).toMatchObject({ end: 'failed' });
    expect((await failure(scene))?.message).toBe('odd');
  });

  test('[B8b] since the reducer refuses its update is passed over, and the next one is taken', async () => {
    const policy: PolicyTable = [{ action: 'default', update: { sum: 10 } }, { action: 'skip' }];
    const { end, actions } = await ran(policy, { work: null });

    expect(end).toEqual({ end: 'done' });
    expect(actions).toEqual(['skip']);
  });

  test('[B8b] since the other tool does not take the arguments leaves the first error as it is, and an event', async () => {
    const policy: PolicyTable = [{ action: 'use_tool', use: 'named' }, { action: 'stop' }];
    const { scene, end, actions } = await ran(policy, {}, 'calls');

    expect(end).toMatchObject({ end: 'failed' });
    expect(await failure(scene)).toMatchObject({ code: 'effect_failed', details: { name: 'get', reason: 'down' } });
    expect(actions).toEqual(['use_tool']);
  });

  test('[B8b] since the other tool does not take the arguments is followed by the next one', async () => {
    const policy: PolicyTable = [
      { action: 'use_tool', use: 'named' },
      { action: 'value', value: 'none' },
    ];
    const { end, actions } = await ran(policy, { work: null }, 'calls');

    expect(end).toEqual({ end: 'done' });
    expect(actions).toEqual(['use_tool', 'value']);
  });

  test('[B6c] "skip", said by a person where no edge leads on, fails the run by the own error of the step', async () => {
    const { scene, end } = await ran([{ action: 'ask' }]);
    expect(end).toEqual({ end: 'waiting' });
    const thread = await scene.open();
    await answer(thread, only(await thread.waits()), { decision: 'reply', value: 'skip' });

    expect(await (await scene.open()).run()).toMatchObject({ end: 'failed' });
    expect((await failure(scene))?.message).toBe('odd');
  });
});

describe('a policy is refused when its agent is defined', () => {
  test.each([
    [{ action: 'default', update: { zz: 1 } }, /rule 1 of its policy gives an update .* no field "zz"/],
    [{ action: 'default', update: { n: 'x' } }, /rule 1 of its policy gives an update .* field "n" does not fit/],
    [{ node: 'work', action: 'skip' }, /the action "skip" for node "work", and no edge leaves it/],
    [{ node: 'work', action: 'default', update: {} }, /the action "default" for node "work", and no edge leaves it/],
  ] as const)('[B8b] with %j', (rule, message) => {
    expect(() => agentOf([rule])).toThrow(expect.objectContaining({ code: 'agent_invalid' }));
    expect(() => agentOf([rule])).toThrow(message);
  });
});
