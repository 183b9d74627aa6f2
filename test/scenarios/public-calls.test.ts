/** Calls that were made twice or given up too early, as people reported them of other projects (FIELD-NOTES). */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { storeErrors } from '../../src/store/errors.ts';
import { answer, head, never, only, plainState, quiet, Scene, withMethods } from '../engine/support.ts';

/** Charges a card, then counts what is left: either takes for ever where the story says so. */
function shop() {
  const held: { step: 'charge' | 'count' | 'none' } = { step: 'none' };
  const charged: string[] = [];
  const charge = tool({
    name: 'charge',
    description: 'Charges a card',
    input: z.object({}),
    effect: 'once',
    run: (_input, { effectKey }) => {
      charged.push(effectKey);
      return held.step === 'charge' ? never<string>() : 'charged';
    },
  });
  const count = tool({
    name: 'count',
    description: 'Counts',
    input: z.object({}),
    effect: 'read',
    run: () => (held.step === 'count' ? never<string>() : 'counted'),
  });
  const agent = defineAgent({
    name: 'shop',
    version: 1,
    state: { said: log(z.string()) },
    tools: { charge, count },
    start: 'sell',
    nodes: {
      sell: async (_state, { call, end }) => end({ said: [await call('charge', {}), await call('count', {})] }),
    },
  });
  return { scene: new Scene({ agent }), held, charged };
}

/** Runs until the held call, and is killed there. */
async function killed(scene: Scene): Promise<void> {
  const { thread, life } = await scene.mortal();
  void thread.run();
  await quiet();
  life.end();
}

test('[B4c, B4f] a card is charged once, reported twice for Agno 10366: cut off, the charge is in doubt and a person says', async () => {
  const { scene, held, charged } = shop();
  await scene.begun();
  held.step = 'charge';
  await killed(scene);
  held.step = 'none';
  for (let restart = 0; restart < 3; restart += 1) expect(await (await scene.open()).run()).toEqual({ end: 'waiting' });
  const thread = await scene.open();
  const wait = only(await thread.waits());
  expect(wait).toMatchObject({ kind: 'in_doubt', tool: 'charge' });
  await answer(thread, wait, { decision: 'done', result: 'charged, says the bank' });

  expect(await thread.run()).toEqual({ end: 'done' });
  expect(charged).toHaveLength(1);
  expect(await plainState(thread)).toEqual({ said: ['charged, says the bank', 'counted'] });
});

test('[B3c, I5] a kill after a side effect does not run it twice, as measured for LangGraph with its best settings', async () => {
  const { scene, held, charged } = shop();
  await scene.begun();
  held.step = 'count';
  for (let kill = 0; kill < 3; kill += 1) await killed(scene);
  held.step = 'none';
  const thread = await scene.open();

  expect(await thread.run()).toEqual({ end: 'done' });
  expect(charged).toHaveLength(1);
  expect(await plainState(thread)).toEqual({ said: ['charged', 'counted'] });
});

test('[B3c] a finished run that is resumed does not run its tool again, as reported for Mastra 24796', async () => {
  const { scene, charged } = shop();
  await scene.begun();
  for (let resume = 0; resume < 4; resume += 1) expect(await (await scene.open()).run()).toEqual({ end: 'done' });

  expect(charged).toHaveLength(1);
  expect((await head(await scene.open())).position.visits).toEqual({ sell: 1 });
  expect(await plainState(await scene.open())).toEqual({ said: ['charged', 'counted'] });
});

test('[A15b, B5d] no retry is used up while the storage is away, as reported for Cloudflare agents 1730', async () => {
  const { scene, charged } = shop();
  await scene.begun();
  const store = scene.world.store();
  const away = withMethods(store, {
    commit: () => Promise.reject(storeErrors.make('store_failed', { operation: 'commit', reason: 'it is away' })),
  });
  for (let outage = 0; outage < 12; outage += 1) {
    const run = (await scene.open({ store: away })).run();
    for (const ms of [50, 250, 1_000]) await scene.passes(ms, ms);
    expect(await run).toMatchObject({ end: 'blocked', error: { code: 'store_failed' } });
  }
  expect(charged).toEqual([]);
  const thread = await scene.open();

  expect(await thread.run()).toEqual({ end: 'done' });
  expect(charged).toHaveLength(1);
  expect((await head(thread)).control).toMatchObject({ status: 'done', retries: {} });
});
