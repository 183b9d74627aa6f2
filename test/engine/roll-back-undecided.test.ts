/** Effects on lineages that were left without anybody's choice, or whose choice came to nothing: they need one. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { head, never, quiet, Scene, ScriptedModel, withMethods } from './support.ts';
import { beforeNode, choices, TravelWorld } from './travel-agent.ts';

describe('going back needs a choice for an effect', () => {
  test('[B12c] whose result was to be reused, and was not before its run was cancelled', async () => {
    const world = new TravelWorld();
    const thread = await world.done();
    const target = await beforeNode(thread, 'think');
    const effects = await choices(thread.rollBack(target), () => 'reuse');
    await thread.rollBack(target, { effects });
    await thread.cancel();
    await thread.run();

    await expect(thread.rollBack(target)).rejects.toMatchObject({
      code: 'choice_needed',
      details: { effects: [{ name: 'scripted' }, { name: 'send', status: 'succeeded' }, { name: 'post' }] },
    });
    await thread.rollBack(target, { effects });
    expect(await thread.run()).toEqual({ end: 'done' });
    expect([world.sent.length, world.posted.length, world.model.calls.length]).toEqual([1, 1, 1]);
  });

  test('[B12c] also after a later run, which means its own calls', async () => {
    const world = new TravelWorld();
    const thread = await world.done();
    const target = await beforeNode(thread, 'think');
    await thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'reuse') });
    await thread.cancel();
    await thread.run();
    await thread.send({ name: 'bob' });
    await thread.run();
    expect(world.sent).toHaveLength(2);

    const all = await choices(thread.rollBack(target), () => 'reuse');
    expect(Object.keys(all)).toHaveLength(6); // those of the first run, and those of the last
    await thread.rollBack(target, { effects: all });
    expect(await thread.run()).toEqual({ end: 'done' });
    expect(world.sent).toHaveLength(2);
  });

  test('[B12c] once: where the choice was used, its own call is asked about, and not the first', async () => {
    const world = new TravelWorld();
    const thread = await world.done();
    const target = await beforeNode(thread, 'think');
    for (let round = 0; round < 2; round += 1) {
      const effects = await choices(thread.rollBack(target), () => 'reuse');
      expect(Object.keys(effects)).toHaveLength(3);
      await thread.rollBack(target, { effects });
      await thread.run();
    }
    expect(world.sent).toHaveLength(1);
  });

  test('[B12c, B11b] that was made in a run which new input took back', async () => {
    const paid: string[] = [];
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      input: z.object({ to: z.string() }),
      effect: 'once',
      run: async ({ to }) => {
        paid.push(to);
        return { to };
      },
    });
    const agent = defineAgent({
      name: 'payer',
      version: 1,
      state: { to: value(z.string(), '') },
      tools: { pay },
      start: 'pay',
      nodes: {
        pay: async ({ to }, { call, goto }) => {
          await call('pay', { to });
          return goto('ask');
        },
        ask: async ({ to }, { ask, end }) => {
          if (to === 'ann') await ask('And now?');
          return end();
        },
      },
    });
    const scene = new Scene({ agent });
    const thread = await scene.begun({ to: 'zoe' });
    await thread.run();
    await thread.send({ to: 'ann' });
    await thread.run();
    const target = await beforeNode(thread, 'pay');
    await thread.send({ to: 'bob' }, 'bob', 'roll_back');
    await thread.run();
    expect(paid).toEqual(['zoe', 'ann', 'bob']);

    const effects = await choices(thread.rollBack(target), () => 'reuse');
    expect(Object.keys(effects)).toHaveLength(3);
    await thread.rollBack(target, { effects });
    await thread.run();
    expect(paid).toEqual(['zoe', 'ann', 'bob']);
  });
});

test('[B12c, B8b] results to be reused stay on offer where a policy goes back by itself', async () => {
  const paid: number[] = [];
  const isBroken = { now: false };
  const scripted = new ScriptedModel((prompt) => `thought of ${prompt}`);
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: z.object({ sum: z.number() }),
    effect: 'once',
    run: ({ sum }) => {
      paid.push(sum);
      return sum;
    },
  });
  const agent = defineAgent({
    name: 'payer',
    version: 1,
    state: { to: value(z.string(), '') },
    tools: { pay },
    policy: [{ node: 'check', action: 'go_back', before: 'model', hint: 'Shorter!' }],
    start: 'think',
    nodes: {
      think: async ({ to }, { model, goto, hint }) => {
        await model.text(`${to} ${hint ?? ''}`);
        return goto('check');
      },
      check: {
        retry: { attempts: 1 },
        run: (_state, { goto }) => {
          if (isBroken.now) {
            isBroken.now = false;
            throw new Error('too long');
          }
          return goto('pay');
        },
      },
      pay: async (_state, { call, end }) => {
        await call('pay', { sum: 5 });
        return end();
      },
    },
  });
  const thread = await new Scene({ agent, model: scripted }).begun({ to: 'ann' });
  await thread.run();
  const target = await beforeNode(thread, 'think');
  await thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'reuse') });
  isBroken.now = true;

  expect(await thread.run()).toEqual({ end: 'done' });
  expect(scripted.calls).toHaveLength(2);
  expect(paid).toEqual([5]);
});

test('[B12c, B7e] results to be reused stay on offer where a run reaches its limit of steps, and is extended', async () => {
  const paid: number[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: z.object({ sum: z.number() }),
    effect: 'once',
    run: ({ sum }) => {
      paid.push(sum);
      return sum;
    },
  });
  const agent = defineAgent({
    name: 'payer',
    version: 1,
    maxSteps: 2,
    state: { to: value(z.string(), '') },
    tools: { pay },
    start: 'first',
    nodes: {
      first: (_state, { goto }) => goto('second'),
      second: (_state, { goto }) => goto('pay'),
      pay: async (_state, { call, end }) => {
        await call('pay', { sum: 5 });
        return end();
      },
    },
  });
  const thread = await new Scene({ agent }).begun({ to: 'ann' });
  const runToItsEnd = async () => {
    expect(await thread.run()).toMatchObject({ end: 'failed', failure: { code: 'step_limit' } });
    await thread.extend({ steps: 5 });
    expect(await thread.run()).toEqual({ end: 'done' });
  };
  await runToItsEnd();
  const target = await beforeNode(thread, 'first');
  await thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'reuse') });
  await runToItsEnd();

  expect(paid).toEqual([5]);
});

test('[B12c, B15b] a result to be reused is found under the new name of its tool', async () => {
  const sent: string[] = [];
  const mailer = (name: string) =>
    tool({ name, description: 'Sends', input: z.object({}), effect: 'once', run: () => sent.push(name) });
  const said = value(z.number(), 0);
  const first = defineAgent({
    name: 'mailing',
    version: 1,
    state: { said },
    tools: { mail: mailer('mail') },
    start: 'write',
    nodes: { write: async (_state, { call, end }) => end({ said: await call('mail', {}) }) },
  });
  const second = defineAgent({
    name: 'mailing',
    version: 2,
    state: { said },
    tools: { post: mailer('post') },
    aliases: { tools: { mail: 'post' } },
    start: 'write',
    nodes: { write: async (_state, { call, end }) => end({ said: await call('post', {}) }) },
  });
  const scene = new Scene({ agent: first });
  await (await scene.begun()).run();
  const thread = await scene.open({ agent: second });
  const target = await beforeNode(thread, 'write');
  await thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'reuse') });
  expect(await thread.run()).toEqual({ end: 'done' });
  expect(sent).toEqual(['mail']);
});

test('[B12c, B11b] going back to where an input has just taken a run back, in a process that died then, asks about its call', async () => {
  const world = new TravelWorld();
  await world.scene.begun({ name: 'ann' });
  world.onSend = () => never();
  const { thread, life } = await world.scene.mortal();
  void thread.run();
  for (let turn = 0; turn < 30; turn += 1) await quiet();
  life.end();
  world.scene.clock.advance(1_000);
  await (await world.scene.open()).send({ name: 'bob' }, 'bob', 'roll_back');
  const store = world.scene.world.store();
  const dying = withMethods(store, {
    commit: async (groups) => {
      await store.commit(groups);
      return never();
    },
  });
  void (await world.scene.open({ store: dying })).run();
  for (let turn = 0; turn < 30; turn += 1) await quiet();

  const again = await world.scene.open();
  const { cause, parent } = await head(again);
  expect(cause).toBe('rolled_back');
  await expect(again.rollBack(parent ?? ('' as never))).rejects.toMatchObject({ code: 'choice_needed' });
});
