import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { RunEnd } from '../../src/engine/run-end.ts';
import { log, value } from '../../src/model/fields.ts';
import { type AnyAgent, agentsByName, defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import type { Store } from '../../src/store/store.ts';
import { type Cut, CuttingStore, Life } from '../../src/testing/cutting-store.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { model } from './sender-family.ts';
import { answer, head, only, plainState, quiet, Scene, withMethods } from './support.ts';

const said = { said: log(z.string()) };

/** Doubles a number; 13 is more than it can take. */
const doubler = defineAgent({
  name: 'doubler',
  version: 1,
  state: { number: value(z.number(), 0), twice: value(z.number(), 0), notes: log(z.string()) },
  start: 'work',
  nodes: {
    work: {
      retry: { attempts: 1 },
      run: ({ number }, { end }) => {
        if (number === 13) throw new Error('13 is too much');
        return end({ twice: 2 * number, notes: ['done'] });
      },
    },
  },
});

function parentOf(numbers: readonly number[], onFailure: 'tell' | 'stop' = 'tell') {
  return defineAgent({
    name: 'parent',
    version: 1,
    state: said,
    agents: [doubler],
    start: 'ask',
    nodes: {
      ask: async (_state, { all, end }) => {
        const ends = await all(numbers, (number, { child }) => child(doubler, { number }, { onFailure }));
        return end({ said: ends.map(({ status, state, failure }) => `${status} ${state?.twice ?? failure?.message}`) });
      },
    },
  });
}

/** Runs whatever has work, children too, as a host does. */
async function runAll(engine: Engine): Promise<RunEnd> {
  let end: RunEnd = { end: 'idle' };
  const heads = async () =>
    (await engine.threads(100, { children: true })).map(({ row }) => [row.thread, row.head, row.inbox]).sort();
  for (let before: unknown; !isDeepStrictEqual(before, await heads()); ) {
    before = await heads();
    for (const { id } of await engine.threads(100, { children: true })) {
      const result: RunEnd = id === undefined ? end : await engine.thread(id).run();
      if (id === 'thread') end = result;
    }
  }
  return end;
}

async function begun(agent: AnyAgent, world = new TestWorld()) {
  const engine = await world.engine({ agent });
  await engine.thread('thread').send({}, 'the input');
  return { world, engine };
}

describe('children', () => {
  test('[B7c, B2a] count in the budget of their parent, which starts none once it is used up', async () => {
    const kid = defineAgent({
      name: 'kid',
      version: 1,
      state: said,
      start: 'go',
      nodes: { go: async (_state, { model, end }) => end({ said: [await model.text('well?')] }) },
    });
    const parent = defineAgent({
      name: 'parent',
      version: 1,
      state: said,
      agents: [kid],
      limits: { tokens: 6 },
      start: 'go',
      nodes: {
        go: async (_state, { child, end }) => {
          for (let count = 0; count < 4; count += 1) await child(kid, {});
          return end();
        },
      },
    });
    const engine = await new TestWorld().engine({ agent: parent, model }); // each answer takes 3 tokens
    await engine.thread('thread').send({});

    expect(await runAll(engine)).toEqual({ end: 'out_of_budget' });
    expect(await engine.threads(100, { children: true })).toHaveLength(3);
    await engine.thread('thread').extend({ tokens: 100 });
    expect(await runAll(engine)).toEqual({ end: 'done' });
    expect((await head(engine.thread('thread'))).control.spent.tokens).toBe(12);
  });

  test('[B2a] run each on a thread of its own, with checkpoints of its own; the parent waits and gets their ends', async () => {
    const { engine } = await begun(parentOf([1, 2]));

    expect(await engine.thread('thread').run()).toEqual({ end: 'waiting' });
    const waits = await engine.thread('thread').waits();
    expect(waits.map(({ kind, tool: agent }) => [kind, agent])).toEqual([
      ['child', 'doubler'],
      ['child', 'doubler'],
    ]);
    expect(await runAll(engine)).toEqual({ end: 'done' });
    expect((await plainState(engine.thread('thread'))).said).toEqual(['done 2', 'done 4']);
    const children = (await engine.threads(100, { children: true })).filter(({ row }) => row.agent === 'doubler');
    expect(children).toHaveLength(2);
    for (const { id } of children) {
      const child = engine.thread(id ?? '');
      expect(await plainState(child)).toMatchObject({ notes: ['done'] });
      expect((await head(child)).control.status).toBe('done');
    }
    expect(await engine.threads()).toHaveLength(1);
  });

  test('[B2b] one that fails stops neither its siblings nor the parent', async () => {
    const { engine } = await begun(parentOf([13, 2]));

    expect(await runAll(engine)).toEqual({ end: 'done' });
    expect((await plainState(engine.thread('thread'))).said).toEqual(['failed 13 is too much', 'done 4']);
  });

  test('[B2c] one that fails stops the parent where the parent says so', async () => {
    const { engine } = await begun(parentOf([13], 'stop'));

    expect(await runAll(engine)).toMatchObject({ end: 'failed' });
    expect((await head(engine.thread('thread'))).control.failure).toMatchObject({
      code: 'child_failed',
      details: { agent: 'doubler', status: 'failed', reason: '13 is too much' },
    });
  });

  test('[B2a, I2] the end of a child and the answer to its parent are one group', async () => {
    const { world, engine } = await begun(parentOf([1]));
    await engine.thread('thread').run();
    const [child] = (await engine.threads(9, { children: true })).filter(({ row }) => row.agent === 'doubler');
    await engine.thread(child?.id ?? '').run();

    const [parent] = await engine.threads();
    const answers = world.data
      .records('waits', parent?.row.thread ?? ('' as never))
      .range({})
      .filter(({ key }) => key.startsWith('a:'));
    const childHead = (await engine.thread(child?.id ?? '').row())?.head;
    expect(answers.map(({ commit }) => commit)).toEqual([childHead]);
    expect((await engine.thread('thread').row())?.wakeUpAtMs).toBe(world.clock.nowMs());
  });

  test('[B2a, I7] cut off at every operation of parent and children: the same end, each child once', async () => {
    const live = async (world: TestWorld, cut?: Cut) => {
      const life = new Life(cut);
      const store = new CuttingStore(world.store(), life);
      const work = async () => {
        const engine = await world.engine({ agent: parentOf([13]) }, store);
        await engine.thread('thread').send({}, 'the input');
        return runAll(engine);
      };
      const end = await Promise.race([work(), life.death]);
      return { end, operations: life.operations };
    };
    const undisturbed = new TestWorld();
    const { operations } = await live(undisturbed);
    expect(operations).toBeGreaterThan(60);
    for (let at = 1; at <= operations; at += 1) {
      for (const side of ['before', 'after'] as const) {
        const world = new TestWorld();
        await live(world, { at, side });
        const { end } = await live(world);
        const engine = await world.engine({ agent: parentOf([13]) });
        const all = await engine.threads(100, { children: true });
        const found = [end, (await plainState(engine.thread('thread'))).said, all.length];
        expect([at, side, ...found]).toEqual([at, side, { end: 'done' }, ['failed 13 is too much'], 2]);
      }
    }
  });

  test('[B2a, B10a] are cancelled with their parent, and what they still do changes nothing there', async () => {
    const asking = defineAgent({
      name: 'asking',
      version: 1,
      state: said,
      start: 'ask',
      nodes: { ask: async (_state, { ask, end }) => end({ said: [await ask<string>('well?')] }) },
    });
    const agent = defineAgent({
      name: 'parent',
      version: 1,
      state: said,
      agents: [asking],
      start: 'ask',
      nodes: { ask: async (_state, { child, end }) => end({ said: [(await child(asking, {})).status] }) },
    });
    const { engine } = await begun(agent);
    await runAll(engine);
    const [child] = (await engine.threads(9, { children: true })).filter(({ row }) => row.agent === 'asking');
    expect(child?.row.status).toBe('waiting');
    await engine.thread('thread').cancel();

    expect(await runAll(engine)).toEqual({ end: 'cancelled' });
    expect((await engine.thread(child?.id ?? '').row())?.status).toBe('cancelled');
  });

  test('[B2a, B10a] that are being made while their parent is cancelled are cancelled, too', async () => {
    const world = new TestWorld();
    const store = world.store();
    const [making, held] = [deferred<void>(), deferred<void>()];
    const createThread: Store['createThread'] = async (row, ...rest) => {
      if (row.agent === 'doubler') {
        making.resolve();
        await held.promise;
      }
      return store.createThread(row, ...rest);
    };
    const engine = await world.engine({ agent: parentOf([4]) }, withMethods(store, { createThread }));
    const thread = engine.thread('thread');
    await thread.send({});
    const running = thread.run();
    await making.promise;
    await thread.cancel();
    await thread.look();
    world.clock.advance(await world.clock.whenAsleep((ms) => ms === 2_000));
    await quiet();
    held.resolve();
    expect(await running).toEqual({ end: 'cancelled' });

    await runAll(engine);
    const [child] = (await engine.threads(9, { children: true })).filter(({ row }) => row.agent === 'doubler');
    expect(child?.row.status).toBe('cancelled');
  });

  test("[B2a] can be asked for at several nodes; their model use is their parent's too", async () => {
    const send = tool({
      name: 'send',
      description: 'Sends',
      input: z.object({}),
      effect: 'once',
      approval: 'always',
      run: () => 'sent',
    });
    const sender = defineAgent({
      name: 'sender',
      version: 1,
      state: { receipt: value(z.string(), '') },
      tools: { send },
      start: 'send',
      nodes: { send: async (_state, { call, end }) => end({ receipt: await call('send', {}) }) },
    });
    const agent = defineAgent({
      name: 'parent',
      version: 1,
      state: said,
      agents: [sender],
      start: 'ask',
      nodes: { ask: async (_state, { child, end }) => end({ said: [(await child(sender, {})).state?.receipt ?? ''] }) },
    });
    const { engine } = await begun(agent);
    await runAll(engine);
    const [child] = (await engine.threads(9, { children: true })).filter(({ row }) => row.agent === 'sender');
    const thread = engine.thread(child?.id ?? '');
    await answer(thread, only(await thread.waits()), { decision: 'allow' });

    expect(await runAll(engine)).toEqual({ end: 'done' });
    expect((await plainState(engine.thread('thread'))).said).toEqual(['sent']);
  });
});

describe('what no parent may do', () => {
  test('[B2a] start an agent that it does not name', async () => {
    const agent = defineAgent({
      name: 'parent',
      version: 1,
      state: said,
      start: 'ask',
      nodes: { ask: async (_state, { child, end }) => end({ said: [(await child(doubler, {})).status] }) },
    });
    const thread = await new Scene({ agent }).begun();

    expect(await thread.run()).toMatchObject({
      end: 'blocked',
      error: { code: 'child_unknown', details: { agent: 'doubler', known: 'none' } },
    });
  });

  test('[B2a] give it an input that does not fit: nothing is started', async () => {
    const { engine } = await begun(
      defineAgent({
        name: 'parent',
        version: 1,
        state: said,
        agents: [doubler],
        start: 'ask',
        nodes: {
          ask: async (_state, { child, end }) =>
            end({ said: [(await child(doubler, { number: 'x' as unknown as number })).status] }),
        },
      }),
    );

    expect(await runAll(engine)).toMatchObject({ end: 'failed' });
    expect(await engine.threads(9, { children: true })).toHaveLength(1);
  });

  test('[B2a] start one another without an end: the line of agents is named', async () => {
    const ping: AnyAgent = defineAgent({
      name: 'ping',
      version: 1,
      state: said,
      agents: () => [ping],
      start: 'ask',
      nodes: {
        ask: async (_state, { child, end }) => end({ said: [(await child(ping, {}, { onFailure: 'stop' })).status] }),
      },
    });
    const { engine } = await begun(ping);

    expect(await runAll(engine)).toMatchObject({ end: 'failed' });
    const { failure } = (await head(engine.thread('thread'))).control;
    expect(failure?.message).toMatch(/Agents start one another in a line of more than 8: ping( > ping){9}\./);
    expect(await engine.threads(99)).toHaveLength(9);
  });

  test('[B2a] use two agents of one name', () => {
    const twin = { ...doubler };
    const agent = defineAgent({
      name: 'parent',
      version: 1,
      state: said,
      agents: [doubler, twin],
      start: 'a',
      nodes: { a: (_s, { end }) => end() },
    });

    expect(() => agentsByName(agent)).toThrow(
      'Agent "doubler" cannot be used: another agent that it is used with has the same name.',
    );
  });
});
