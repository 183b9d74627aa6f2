/** Going back while steps run again after a repair (PROTOCOL 4): what they have on record is theirs, though it is older than the head. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { log, value } from '../../src/model/fields.ts';
import { sequenceOf } from '../../src/model/ids.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { PolicyRule } from '../../src/program/policy.ts';
import { tool } from '../../src/program/tool.ts';
import { answer, never, nth, only, plainState, quiet, Scene, withMethods } from './support.ts';

interface World {
  readonly paid: string[];
  /** How often the node `check` is still to fail. */
  breaks: number;
}

function tools({ paid }: World) {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: z.object({ to: z.string() }),
    effect: 'once',
    run: ({ to }) => {
      paid.push(to);
      return `receipt of ${to}`;
    },
  });
  const look = tool({
    name: 'look',
    description: 'Looks',
    input: z.object({}),
    effect: 'read',
    run: () => 'seen',
  });
  return { pay, look };
}

/** look, check, pay, and a question. */
function trip(world: World, policy?: readonly PolicyRule[]) {
  return defineAgent({
    name: 'trip',
    version: 1,
    state: { notes: log(z.string()), tip: value(z.number(), 0) },
    tools: tools(world),
    ...(policy && { policy }),
    start: 'look',
    nodes: {
      look: async (_, { call, goto }) => goto('check', { notes: [await call('look', {})] }),
      check: {
        retry: { attempts: 1 },
        run: (_, { goto }) => {
          world.breaks -= 1;
          if (world.breaks >= 0) throw new Error('The check broke.');
          return goto('pay');
        },
      },
      pay: async (_, { call, goto }) => goto('ask', { notes: [await call('pay', { to: 'inn' })] }),
      ask: async (_, { ask, end }) => end({ notes: [String(await ask('Well?'))] }),
    },
  });
}

/**
 * Loses the checkpoints from this sequence number on, lets the thread be repaired and so many steps run again, and ends the
 * process.
 */
async function loseFrom(scene: Scene, sequence: number, steps = 0): Promise<void> {
  scene.lose('checkpoints', (key) => (sequenceOf(key) ?? 0) >= sequence);
  const store = scene.world.store();
  let left = steps + 1;
  const cutOff = withMethods(store, {
    commit: async (groups) => {
      if (left === 0) return never();
      const results = await store.commit(groups);
      if (groups.some(({ records }) => records.some(({ table }) => table === 'checkpoints'))) left -= 1;
      return results;
    },
  });
  const dying = await scene.open({ store: cutOff });
  scene.clock.advance(1_000);
  void dying.run();
  for (let tries = 0; left > 0; tries += 1) {
    if (tries > 50) throw new Error(`It was not repaired: ${left} commits are missing.`);
    await quiet();
  }
  await quiet();
}

test('[A11c, B12d, B4a] an edit passes over a payment of a step that has yet to run again: it needs a choice', async () => {
  const world = { paid: [], breaks: 0 };
  const scene = new Scene({ agent: trip(world) });
  expect(await (await scene.begun()).run()).toEqual({ end: 'waiting' });
  await loseFrom(scene, 2);

  const thread = await scene.open();
  const refused = await thread.edit({ tip: 5 }).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: 'choice_needed',
    details: { effects: [{ name: 'pay', status: 'succeeded', choices: ['reuse', 'redo'] }] },
  });
  const key = (refused as { details: { effects: [{ key: string }] } }).details.effects[0].key;
  await thread.edit({ tip: 5 }, { effects: { [key]: 'reuse' } });
  expect(await thread.run()).toEqual({ end: 'waiting' });
  expect(await plainState(thread)).toMatchObject({ tip: 5, notes: ['seen', 'receipt of inn'] });
  expect(world.paid).toEqual(['inn']);
});

test('[A11c, B12d] and over none of a line that has run again already', async () => {
  const world = { paid: [], breaks: 0 };
  const agent = defineAgent({
    name: 'lines',
    version: 1,
    state: { notes: log(z.string()), tip: value(z.number(), 0) },
    tools: tools(world),
    start: 'part',
    nodes: {
      part: (_, { parallel }) => parallel(['left', 'right']),
      left: async (_, { call, end }) => end({ notes: [await call('pay', { to: 'left' })] }),
      right: async (_, { call, ask, end }) => {
        await call('pay', { to: 'right' });
        return end({ notes: [String(await ask('Well?'))] });
      },
    },
  });
  const scene = new Scene({ agent });
  expect(await (await scene.begun()).run()).toEqual({ end: 'waiting' });
  await loseFrom(scene, 1);

  const thread = await scene.open();
  expect(await thread.run()).toEqual({ end: 'waiting' });
  const refused = await thread.edit({ tip: 5 }).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'choice_needed', details: { effects: [{ args: { to: 'right' } }] } });
  expect(world.paid.toSorted()).toEqual(['left', 'right']);
});

test.each<[action: string, rule: PolicyRule]>([
  ['runs a step once more', { node: 'check', action: 'retry' }],
  ['goes back to before a read', { node: 'check', action: 'go_back', before: 'load', hint: 'again' }],
])('[A11c, B8c, B4a] a policy that %s does not, where a payment behind it has yet to run again', async (_, rule) => {
  const world: World = { paid: [], breaks: 0 };
  const scene = new Scene({ agent: trip(world, [rule]) });
  expect(await (await scene.begun()).run()).toEqual({ end: 'waiting' });
  await loseFrom(scene, rule.action === 'retry' ? 2 : 1, rule.action === 'retry' ? 0 : 1);
  world.breaks = 1;

  expect(await (await scene.open()).run()).toMatchObject({ end: 'failed', failure: { message: 'The check broke.' } });
  expect(world.paid).toEqual(['inn']);
});

test('[A11c, A12d, B9d] a compaction keeps the answers that steps which have yet to run again will ask for', async () => {
  const agent = defineAgent({
    name: 'asker',
    version: 1,
    state: { notes: log(z.string()) },
    limits: { runMs: 10_000 },
    start: 'first',
    nodes: {
      first: (_, { goto }) => goto('second', { notes: ['first'] }),
      second: (_, { goto }) => goto('third', { notes: ['second'] }),
      third: async (_, { ask, goto }) => goto('fourth', { notes: [String(await ask('Three?'))] }),
      fourth: async (_, { ask, end }) => end({ notes: [String(await ask('Four?'))] }),
    },
  });
  const scene = new Scene({ agent });
  const thread = await scene.begun();
  expect(await thread.run()).toEqual({ end: 'waiting' });
  await answer(thread, only(await thread.waits()), { decision: 'reply', value: 'yes' });
  expect(await thread.run()).toEqual({ end: 'waiting' });
  await loseFrom(scene, 1);

  scene.clock.advance(20_000);
  const repaired = await scene.open();
  expect(await repaired.run()).toEqual({ end: 'timed_out' });
  await repaired.compact({ keepCheckpoints: 1, eventDays: 0 });
  await repaired.extend({ runMs: 60_000 });
  expect(await repaired.run()).toEqual({ end: 'waiting' });
  expect(nth(await repaired.waits(), -1).reason).toBe('Four?');
  expect(await plainState(repaired)).toEqual({ notes: ['first', 'second', 'yes'] });
});
