/** A person says `retry` about a failed step that made calls which nothing makes again: they get their results (B6c, B4c). */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import { value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { Refusal, tool } from '../../src/program/tool.ts';
import { answer, head, never, nth, only, Scene, ScriptedModel } from './support.ts';

/** A node that asks a model, pays, and then looks something up that is away as long as it is said to be. */
function given() {
  const world = { paid: 0, runs: 0, looked: 0, isAway: true, holds: () => undefined as Promise<never> | undefined };
  const input = z.object({});
  const pay = tool({ name: 'pay', description: 'Pays', input, effect: 'once', run: () => (world.paid += 1) });
  const look = tool({
    name: 'look',
    description: 'Looks something up',
    input,
    effect: 'idempotent',
    run: () => {
      world.looked += 1;
      if (world.isAway) throw new Refusal('away', { retry: false });
      return 'found';
    },
  });
  const agent = defineAgent({
    name: 'payer',
    version: 1,
    state: { found: value(z.string(), '') },
    tools: { pay, look },
    policy: [{ action: 'ask' }],
    start: 'work',
    nodes: {
      work: async (_, { model, call, end }) => {
        world.runs += 1;
        await world.holds();
        await model.text('how much?');
        await call('pay', {});
        return end({ found: await call('look', {}) });
      },
    },
  });
  const model = new ScriptedModel(() => 'ten');
  const scene = new Scene({ agent, model });
  const saidRetry = async () => {
    const thread = await scene.open();
    await answer(thread, only(await thread.waits()), { decision: 'reply', value: 'retry' });
    return (await scene.open()).run();
  };
  return { world, model, scene, saidRetry };
}

test('[B6c, B4c] a step that paid is run again on retry: it gets its receipt, and the call that failed is made again', async () => {
  const { world, model, scene, saidRetry } = given();
  expect(await (await scene.begun()).run()).toEqual({ end: 'waiting' });
  world.isAway = false;

  expect(await saidRetry()).toEqual({ end: 'done' });
  expect(world).toMatchObject({ paid: 1, runs: 2, looked: 2 });
  expect(model.calls).toHaveLength(1);
});

test('[B6c, B7c] each retry of a step that paid runs it once more, and counts its model use once', async () => {
  const { world, scene, saidRetry } = given();
  await (await scene.begun()).run();
  const used = (await head(await scene.open())).control.usage;
  expect(used.outputTokens).toBeGreaterThan(0);
  expect(await saidRetry()).toEqual({ end: 'waiting' });
  expect(await saidRetry()).toEqual({ end: 'waiting' });

  expect(world).toMatchObject({ paid: 1, runs: 3, looked: 3 });
  expect((await head(await scene.open())).control.usage).toEqual(used);
});

test('[B6c, B12c] the receipt that a retried step got is asked about once by who goes back', async () => {
  const { world, scene, saidRetry } = given();
  const thread = await scene.begun();
  await thread.run();
  const target = nth(await thread.checkpoints(), 0).id;
  world.isAway = false;
  await saidRetry();

  const later = await scene.open();
  await expect(later.rollBack(target)).rejects.toMatchObject({
    code: 'choice_needed',
    details: { effects: [{ name: 'scripted' }, { name: 'pay' }, { name: 'look', status: 'succeeded' }] },
  });
});

test.each([1, 2])(
  '[B6c, B12d] an edit or a fork between retry %i and the calls of its step leaves the receipt on offer',
  async (times) => {
    const { world, scene, model, saidRetry } = given();
    await (await scene.begun()).run();
    if (times === 2) await saidRetry();
    const begun = deferred<void>();
    world.holds = () => {
      begun.resolve();
      return never();
    };
    world.isAway = false;
    const thread = await scene.open();
    await answer(thread, only(await thread.waits()), { decision: 'reply', value: 'retry' });
    const run = thread.run();
    await begun.promise;
    world.holds = () => undefined;

    await thread.fork((await head(thread)).id, { id: 'fork' });
    const edited = thread.edit({ found: 'nothing yet' });
    await scene.passes(2_000, 2_000); // which the node is given to end by itself
    await edited;
    await run;
    expect(await thread.run()).toEqual({ end: 'done' });
    const fork = (await scene.world.engine({ agent: scene.agent, model })).thread('fork');
    expect(await fork.run()).toEqual({ end: 'done' });
    expect(world).toMatchObject({ paid: 1, looked: 2 + times });
  },
);
