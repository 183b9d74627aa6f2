/** Going back over children: each is an effect of its parent, and needs a choice (PROTOCOL 4). */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { ChoiceNeeded } from '../../src/model/choice-needed.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { CuttingStore, Life } from '../../src/testing/cutting-store.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { begin, childrenOf, crossed, family, goBack, model, runAll } from './sender-family.ts';
import { answer, nth, only, plainState } from './support.ts';

describe('going back over a child that has ended', () => {
  test('[B12c, B2a] names it, with its input, and changes nothing before it was told what is to become of it', async () => {
    const { thread } = await family();
    const before = await thread.checkpoints();
    expect(only(await crossed(thread))).toMatchObject({
      name: 'sender',
      effectClass: 'once',
      status: 'succeeded',
      args: { to: 'ann' },
    });
    expect(await thread.checkpoints()).toEqual(before);
  });

  test('[B12c, B2a] with reuse its end is given again: no child is made, nothing is sent or paid twice', async () => {
    const { engine, thread, sent } = await family();
    const { usage } = nth(await thread.checkpoints(), 0).control;
    await goBack(thread, 'reuse');
    await runAll(engine);
    expect(sent).toEqual(['ann']);
    expect(await childrenOf(engine)).toHaveLength(1);
    expect(await plainState(thread)).toEqual({ to: 'ann', said: ['done to ann, letter 1'] });
    expect(nth(await thread.checkpoints(), 0).control.usage).toEqual(usage);
    expect(usage).toEqual({ inputTokens: 2, outputTokens: 1, cost: 0 });
  });

  test('[B12c, B2a] with redo a new child is made, and the old thread stays', async () => {
    const { engine, thread, sent } = await family();
    await goBack(thread, 'redo');
    await runAll(engine);
    expect(sent).toEqual(['ann', 'ann']);
    expect(await childrenOf(engine)).toHaveLength(2);
    expect(await plainState(thread)).toEqual({ to: 'ann', said: ['done to ann, letter 2'] });
  });

  test('[B12c, B2a] it cannot be undone as a whole, and the error says what to do instead', async () => {
    const { thread } = await family();
    await expect(goBack(thread, 'compensate')).rejects.toMatchObject({
      code: 'choice_invalid',
      message: expect.stringContaining('go back on its own thread'),
    });
  });

  test('[B12d, B2a] a fork that reuses it gets its end, and starts no child', async () => {
    const { engine, thread, sent } = await family();
    const { key } = only(await crossed(thread));
    await thread.fork(await begin(thread), { id: 'fork', effects: { [key]: 'reuse' } });
    await runAll(engine);
    expect(sent).toEqual(['ann']);
    expect(await plainState(engine.thread('fork'))).toEqual({ to: 'ann', said: ['done to ann, letter 1'] });
    expect((await thread.compare('fork')).after.effects).toEqual([
      { name: 'sender', kind: 'child', effectClass: 'once', status: 'succeeded', count: 1, reused: 1 },
    ]);
  });
});

describe('a child that still runs', () => {
  test('[B12c, B2a] is named when its parent goes back, and has no end that could be reused', async () => {
    const { thread } = await family({ asks: true });
    expect(only(await crossed(thread))).toMatchObject({ name: 'sender', status: 'in_progress' });
    await expect(goBack(thread, 'reuse')).rejects.toMatchObject({
      code: 'choice_invalid',
      message: expect.stringContaining('no result'),
    });
  });

  test('[B12c, I7] is stopped, or never goes on, wherever the process dies that takes its parent back', async () => {
    let cuts = 0;
    for (let at = 1, isCut = true; isCut; at += 1) {
      for (const side of ['before', 'after'] as const) {
        const { world, thread, agent } = await family({ asks: true });
        const [old, { key }] = [only(await childrenOf(await world.engine({ agent }))), only(await crossed(thread))];
        const life = new Life({ at, side });
        const to = await begin(thread);
        const goBack = async () => {
          const engine = await world.engine({ agent, model }, new CuttingStore(world.store(), life));
          await engine.thread('thread').rollBack(to, { effects: { [key]: 'redo' } });
        };
        await Promise.race([goBack(), life.death]);
        isCut = life.isOver;
        const next = await world.engine({ agent, model });
        await runAll(next);
        const hasGoneBack = (await next.thread('thread').checkpoints()).some(({ cause }) => cause === 'rolled_back');
        expect([at, side, (await next.thread(old.id).row())?.status]).toEqual([
          at,
          side,
          hasGoneBack ? 'cancelled' : 'waiting',
        ]);
        cuts += isCut ? 1 : 0;
      }
    }
    expect(cuts).toBeGreaterThan(20);
  });

  test('[B12c, B10a] is stopped when its parent goes back, and another one asks anew', async () => {
    const { engine, thread, sent } = await family({ asks: true });
    const old = only(await childrenOf(engine));
    const wait = only(await old.waits());
    await goBack(thread, 'redo');
    await runAll(engine);

    expect((await old.row())?.status).toBe('cancelled');
    await expect(answer(old, wait, { decision: 'allow' })).rejects.toMatchObject({ code: 'wait_closed' });
    const [next] = (await childrenOf(engine)).filter(({ id }) => id !== old.id);
    if (next === undefined) throw new Error('no other child was made');
    await answer(next, only(await next.waits()), { decision: 'allow' });
    await runAll(engine);
    expect(sent).toEqual(['ann']);
    expect(await plainState(thread)).toEqual({ to: 'ann', said: ['done to ann, letter 1'] });
  });

  test('[B12d, B10a] is stopped by an edit of its parent, which needs to be told', async () => {
    const { engine, thread } = await family({ asks: true });
    const old = only(await childrenOf(engine));
    const error = await thread.edit({ to: 'ben' }).catch((refused: unknown) => refused);
    expect(error).toMatchObject({ code: 'choice_needed', details: { effects: [{ name: 'sender' }] } });
    expect((await old.row())?.status).toBe('waiting');
    const { key } = only((error as { details: ChoiceNeeded }).details.effects);
    await thread.edit({ to: 'ben' }, { effects: { [key]: 'redo' } });
    await runAll(engine);
    expect((await old.row())?.status).toBe('cancelled');
  });

  test('[B3b, A2e] stands among the effects as in progress, and as given up once nobody is to hear of its end', async () => {
    const { engine, thread } = await family({ asks: true });
    expect(only(await thread.effects())).toMatchObject({ name: 'sender', kind: 'child', status: 'in_progress' });
    await thread.cancel();
    await thread.run();
    expect(only(await thread.effects())).toMatchObject({ kind: 'child', status: 'given_up' });
    await runAll(engine);
    expect((await only(await childrenOf(engine)).row())?.status).toBe('cancelled');
    expect(only(await crossed(thread))).toMatchObject({ name: 'sender', status: 'given_up' });
    await expect(goBack(thread, 'reuse')).rejects.toMatchObject({
      code: 'choice_invalid',
      message: expect.stringContaining('stopped before its end'),
    });
  });
});

test('[B8c, B4b] no policy goes back over a child: it is not made again', async () => {
  const { sender, sent } = await family();
  sent.length = 0;
  const parent = defineAgent({
    name: 'drafting',
    version: 1,
    state: {},
    agents: [sender],
    policy: [{ node: 'check', action: 'go_back', before: 'model', hint: 'again' }],
    start: 'draft',
    nodes: {
      draft: async (_state, { model: ask, goto }) => {
        await ask.text('draft');
        return goto('send');
      },
      send: async (_state, { child, goto }) => {
        await child(sender, { to: 'ben' });
        return goto('check');
      },
      check: {
        retry: { attempts: 1 },
        run: () => {
          throw new Error('too long');
        },
      },
    },
  });
  const engine = await new TestWorld().engine({ agent: parent, model });
  await engine.thread('thread').send({});
  await runAll(engine);
  expect((await engine.thread('thread').row())?.status).toBe('failed');
  expect(sent).toEqual(['ben']);
});

test.each([
  ['a call of a tool', 'a child'],
  ['a child', 'a call of a tool'],
])('[I6, B3d] %s in the place of %s of the same name and input is refused, with both shown', async (now, before) => {
  const { sender } = await family();
  let calls = 0;
  const namesake = tool({
    name: 'sender',
    description: 'Sends',
    input: z.object({ to: z.string() }),
    effect: 'once',
    run: () => {
      calls += 1;
      return 'sent';
    },
  });
  const agent = (what: string) =>
    defineAgent({
      name: 'parent',
      version: 1,
      state: {},
      agents: [sender],
      tools: { sender: namesake },
      start: 'go',
      nodes: {
        go: async (_state, { call, child, ask, end }) => {
          if (what === 'a child') await child(sender, { to: 'ann' });
          else await call('sender', { to: 'ann' });
          await ask('Go on?');
          return end();
        },
      },
    });
  const world = new TestWorld();
  const engine = await world.engine({ agent: agent(before), model });
  await engine.thread('thread').send({});
  await runAll(engine);
  const made = calls;
  const thread = (await world.engine({ agent: agent(now), model })).thread('thread');
  await answer(thread, only(await thread.waits()), { decision: 'reply', value: 'yes' });

  const end = await thread.run();
  expect(end).toMatchObject({ end: 'blocked', error: { code: 'replay_mismatch' } });
  expect(end).toMatchObject({ error: { message: expect.stringContaining('child "sender" with an input of digest') } });
  expect(calls).toBe(made);
});
