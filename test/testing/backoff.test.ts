/** In the documented test engine a failing node does not stand still: the waits between attempts pass by themselves. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { quiet } from '../engine/support.ts';

function failing() {
  const runs: string[] = [];
  const get = tool({
    ...{ name: 'get', description: 'Gets', input: z.object({}), effect: 'read' },
    run: (): string => {
      runs.push('call');
      throw new Error('no answer');
    },
  });
  const agent = defineAgent({
    ...{ name: 'failing', version: 1, state: { said: log(z.string()) }, tools: { get }, start: 'go' },
    nodes: {
      go: async (_state, { call, end }) => {
        runs.push('node');
        if (runs.length < 3) throw new Error('not yet');
        await call('get', {});
        return end();
      },
    },
  });
  return { agent, runs };
}

test('the waits between attempts of nodes and calls pass by themselves, and the time with them', async () => {
  const { agent, runs } = failing();
  const world = new TestWorld();
  const thread = (await world.engine({ agent })).thread('t');
  const beganMs = world.clock.nowMs();
  await thread.send({});

  expect(await thread.run()).toMatchObject({ end: 'failed', failure: { code: 'effect_failed' } });
  expect(runs).toEqual(['node', 'node', 'node', 'call', 'call', 'call']);
  const waited = world.frames.flatMap((frame) => (frame.type === 'retry' ? [frame.inMs] : []));
  expect(waited).toHaveLength(4); // two of the node, two of its call
  expect(world.clock.nowMs() - beganMs).toBe(waited.reduce((sum, inMs) => sum + inMs, 0));
});

test('two lines that wait equally long pass their own waits, each once', async () => {
  const retry = { attempts: 2, backoffMs: [100], jitter: 0 };
  const seen = new Set<string>();
  const work = (name: string) => {
    if (!seen.has(name)) {
      seen.add(name);
      throw new Error(`${name} is not there yet`);
    }
    return { said: [name] };
  };
  const agent = defineAgent({
    ...{ name: 'lines', version: 1, state: { said: log(z.string()) }, start: 'split' },
    nodes: {
      split: (_state, { parallel }) => parallel(['left', 'right']),
      left: { retry, run: (_state, { end }) => end(work('left')) },
      right: { retry, run: (_state, { end }) => end(work('right')) },
    },
  });
  const world = new TestWorld();
  const thread = (await world.engine({ agent })).thread('t');
  const beganMs = world.clock.nowMs();
  await thread.send({});

  expect(await thread.run()).toEqual({ end: 'done' });
  expect(world.clock.nowMs() - beganMs).toBeLessThanOrEqual(200);
});

test('a world whose backoff waits stands still until its clock is moved', async () => {
  const { agent, runs } = failing();
  const world = new TestWorld();
  world.backoff = 'waits';
  const thread = (await world.engine({ agent })).thread('t');
  await thread.send({});
  const beganMs = world.clock.nowMs();
  const run = thread.run();

  const inMs = await world.clock.whenAsleep((ms) => ms > 800 && ms < 1_200);
  await quiet();
  expect(world.clock.nowMs()).toBe(beganMs);
  expect(runs).toEqual(['node']);
  world.clock.advance(inMs);
  await world.clock.whenAsleep((ms) => ms > 4_000 && ms < 6_000);
  expect(runs).toEqual(['node', 'node']);
  thread.stop();
  expect(await run).toEqual({ end: 'stopped' });
});

test('a backoff that is neither is refused', async () => {
  const world = new TestWorld();
  world.backoff = 'stands' as never;

  await expect(world.engine({ agent: failing().agent })).rejects.toThrow('"stands"; there are passes, waits');
});
