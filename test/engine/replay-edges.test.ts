/** What a repair lets run again finds all of its calls, whatever fails, is undone or is taken away meanwhile. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import { log, value } from '../../src/model/fields.ts';
import { sequenceOf } from '../../src/model/ids.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { answer, head, never, nth, only, plainState, quiet, Scene, ScriptedModel, withMethods } from './support.ts';

function payTool(paid: string[]) {
  return tool({
    name: 'pay',
    description: 'Pays',
    input: z.object({ to: z.string() }),
    effect: 'once',
    run: ({ to }) => {
      paid.push(to);
      return `receipt of ${to}`;
    },
    compensate: () => undefined,
  });
}

/** Loses the checkpoints from this one on, and so much of the events that this one is not made again from them. */
function loseFrom(scene: Scene, sequence: number): void {
  scene.lose('checkpoints', (key) => (sequenceOf(key) ?? 0) >= sequence);
  scene.lose('events', (key) => sequenceOf(key) === sequence);
}

async function cutAfter(scene: Scene, commits: number): Promise<void> {
  const store = scene.world.store();
  let left = commits;
  const cut = withMethods(store, {
    commit: async (groups) => {
      if (left === 0) return never();
      const results = await store.commit(groups);
      if (groups.some(({ records }) => records.some(({ table }) => table === 'checkpoints'))) left -= 1;
      return results;
    },
  });
  const dying = await scene.open({ store: cut });
  void dying.run();
  for (let tries = 0; tries < 50; tries += 1) await quiet();
  expect(left).toBe(0);
}

test.each(['main', 'line'])(
  '[A11c, I6] a node that fails once more while steps run again hides none of their calls: on the %s',
  async (where) => {
    const paid: string[] = [];
    let breaks = 0;
    const agent = defineAgent({
      name: 'trip',
      version: 1,
      state: { notes: log(z.string()) },
      tools: { pay: payTool(paid) },
      start: where === 'main' ? 'check' : 'part',
      nodes: {
        part: (_, { parallel }) => parallel(['check', 'rest']),
        rest: (_, { end }) => end(),
        check: {
          retry: { attempts: 3, backoffMs: [10] },
          run: (_, { goto }) => {
            breaks -= 1;
            if (breaks >= 0) throw new Error('It was busy.');
            return goto('pay');
          },
        },
        pay: async (_, { call, goto }) => goto('ask', { notes: [await call('pay', { to: 'inn' })] }),
        ask: async (_, { ask, end }) => end({ notes: [String(await ask('Well?'))] }),
      },
    });
    const scene = new Scene({ agent });
    expect(await (await scene.begun()).run()).toEqual({ end: 'waiting' });
    loseFrom(scene, 1);
    breaks = 1;
    scene.world.backoff = 'passes';
    expect(await (await scene.open()).run()).toEqual({ end: 'waiting' });
    expect(paid).toEqual(['inn']);
  },
);
test('[A11c, B12d] a repair that passes over the commit of a compensation keeps the calls behind it', async () => {
  const paid: string[] = [];
  const agent = defineAgent({
    name: 'trip',
    version: 1,
    state: { notes: log(z.string()) },
    tools: { pay: payTool(paid) },
    start: 'first',
    nodes: {
      first: (_, { goto }) => goto('pay', { notes: ['first'] }),
      pay: async (_, { call, goto }) => goto('ask', { notes: [await call('pay', { to: 'inn' })] }),
      ask: async (_, { ask, end }) => end({ notes: [String(await ask('Well?'))] }),
    },
  });
  const scene = new Scene({ agent });
  const thread = await scene.begun();
  await thread.run();
  const before = (await thread.checkpoints({ limit: 20 })).find(({ position }) => position.next[0]?.node === 'pay');
  const { key } = only(await thread.effects());
  const made = await thread.rollBack(before?.id as never, { effects: { [key]: 'compensate' } });
  expect(await thread.run()).toEqual({ end: 'waiting' });
  expect(paid).toEqual(['inn', 'inn']);
  loseFrom(scene, (sequenceOf(made) ?? 0) + 1); // `compensated`, and the steps behind it
  expect(await (await scene.open()).run()).toEqual({ end: 'waiting' });
  expect(paid).toEqual(['inn', 'inn']);
});
test.each(['idempotent', 'once'] as const)(
  '[A11c, B8c] steps behind one that a policy ran again are found after a repair: %s',
  async (effect) => {
    let calls = 0;
    let breaks = 1;
    const work = tool({
      name: 'work',
      description: 'W',
      input: z.object({}),
      effect,
      run: () => {
        calls += 1;
        return String(calls);
      },
    });
    const agent = defineAgent({
      name: 'trip',
      version: 1,
      state: { notes: log(z.string()) },
      tools: { work },
      policy: [{ node: 'check', action: 'retry' }],
      start: 'check',
      nodes: {
        check: {
          retry: { attempts: 1 },
          run: (_, { goto }) => {
            breaks -= 1;
            if (breaks >= 0) throw new Error('It was busy.');
            return goto('work');
          },
        },
        work: async (_, { call, model, goto }) => {
          await call('work', {});
          return goto('ask', { notes: [await model.text('word')] });
        },
        ask: async (_, { ask, end }) => end({ notes: [String(await ask('Well?'))] }),
      },
    });
    const model = new ScriptedModel(() => 'word');
    const scene = new Scene({ agent, model });
    expect(await (await scene.begun()).run()).toEqual({ end: 'waiting' });
    loseFrom(scene, 1);
    expect(await (await scene.open()).run()).toEqual({ end: 'waiting' });
    expect([calls, model.calls.length]).toEqual([1, 1]);
  },
);
test.each([false, true])(
  '[A11c, A12d] what steps that run again saw of the clock outlives a compaction (%s)',
  async (compacts) => {
    const paid: string[] = [];
    let borderMs = 0;
    const agent = defineAgent({
      name: 'clock',
      version: 1,
      state: { notes: log(z.string()) },
      tools: { pay: payTool(paid) },
      limits: { runMs: 10_000 },
      start: 'first',
      nodes: {
        first: (_, { goto }) => goto('pick', { notes: ['first'] }),
        pick: async (_, { now, goto }) => goto(now() < borderMs ? 'early' : 'late'),
        early: async (_, { call, goto }) => goto('ask', { notes: [await call('pay', { to: 'inn' })] }),
        late: async (_, { call, goto }) => goto('ask', { notes: [await call('pay', { to: 'inn' })] }),
        ask: async (_, { ask, end }) => end({ notes: [String(await ask('Well?'))] }),
      },
    });
    const scene = new Scene({ agent });
    borderMs = scene.clock.nowMs() + 1_000;
    expect(await (await scene.begun()).run()).toEqual({ end: 'waiting' });
    scene.lose('checkpoints', (key) => (sequenceOf(key) ?? 0) >= 1); // all events are there
    scene.clock.advance(1_000);
    await cutAfter(scene, 2);
    scene.clock.advance(20_000);
    const thread = await scene.open();
    expect(await thread.run()).toEqual({ end: 'timed_out' });
    if (compacts) await thread.compact({ keepCheckpoints: 1, eventDays: 0 });
    await thread.extend({ runMs: 60_000 });
    expect(await thread.run()).toEqual({ end: 'waiting' });
    expect(paid).toEqual(['inn']);
  },
);
test.each([0, 4_000])(
  '[A11c, A12d, B9d] answers outlive a compaction after a repair by a clock that is %i ms slow',
  async (slowMs) => {
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
    scene.clock.advance(5_000);
    expect(await thread.run()).toEqual({ end: 'waiting' });
    await answer(thread, only(await thread.waits()), { decision: 'reply', value: 'yes' });
    expect(await thread.run()).toEqual({ end: 'waiting' });
    scene.lose('checkpoints', (key) => (sequenceOf(key) ?? 0) >= 1);
    scene.clock.advance(100);
    scene.clock.jump(-slowMs);
    await cutAfter(scene, 1); // the repair
    scene.clock.jump(slowMs);
    scene.clock.advance(1_000);
    await cutAfter(scene, 2); // first, second
    scene.clock.advance(20_000);
    const repaired = await scene.open();
    expect(await repaired.run()).toEqual({ end: 'timed_out' });
    await repaired.compact({ keepCheckpoints: 1, eventDays: 0 });
    await repaired.extend({ runMs: 60_000 });
    expect(await repaired.run()).toEqual({ end: 'waiting' });
    expect(nth(await repaired.waits(), -1).reason).toBe('Four?');
  },
);
test('[A11c, B12d] a fork of a head whose steps run again after a repair asks for their payment', async () => {
  const paid: string[] = [];
  const agent = defineAgent({
    name: 'trip',
    version: 1,
    state: { notes: log(z.string()) },
    tools: { pay: payTool(paid) },
    start: 'first',
    nodes: {
      first: (_, { goto }) => goto('second'),
      second: (_, { goto }) => goto('pay'),
      pay: async (_, { call, goto }) => goto('ask', { notes: [await call('pay', { to: 'inn' })] }),
      ask: async (_, { ask, end }) => end({ notes: [String(await ask('Well?'))] }),
    },
  });
  const scene = new Scene({ agent });
  expect(await (await scene.begun()).run()).toEqual({ end: 'waiting' });
  loseFrom(scene, 1);
  await cutAfter(scene, 1);
  const heir = await scene.open();
  expect((await head(heir)).cause).toBe('repaired');
  await expect(heir.fork((await head(heir)).id, { id: 'other' })).rejects.toMatchObject({ code: 'choice_needed' });
});

test('[A11c, B8c] where a policy went back, it goes back again after a repair, and what came of it is found', async () => {
  const paid: string[] = [];
  let breaks = 1;
  const look = tool({ name: 'look', description: 'Looks', input: z.object({}), effect: 'read', run: () => 'seen' });
  const agent = defineAgent({
    name: 'trip',
    version: 1,
    state: { notes: log(z.string()) },
    tools: { pay: payTool(paid), look },
    policy: [{ node: 'check', action: 'go_back', before: 'load', hint: 'again' }],
    start: 'look',
    nodes: {
      look: async (_, { call, goto }) => goto('check', { notes: [await call('look', {})] }),
      check: {
        retry: { attempts: 1 },
        run: (_, { goto }) => {
          breaks -= 1;
          if (breaks >= 0) throw new Error('It was busy.');
          return goto('pay');
        },
      },
      pay: async (_, { call, goto }) => goto('ask', { notes: [await call('pay', { to: 'inn' })] }),
      ask: async (_, { ask, end }) => end({ notes: [String(await ask('Well?'))] }),
    },
  });
  const scene = new Scene({ agent });
  expect(await (await scene.begun()).run()).toEqual({ end: 'waiting' });
  scene.lose('checkpoints', (key) => (sequenceOf(key) ?? 0) >= 1);
  scene.lose('events', (key) => (sequenceOf(key) ?? 0) >= 1);

  expect(await (await scene.open()).run()).toEqual({ end: 'waiting' });
  expect(paid).toEqual(['inn']);
});

test('[B1d, A11d] whichever line ended first, what a run does after lines that were not joined has the keys it had', async () => {
  const paid: string[] = [];
  const slow = deferred<void>();
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: z.object({ to: z.string() }),
    effect: 'once',
    run: async ({ to }) => {
      if (to === 'x') await slow.promise;
      paid.push(to);
      return `receipt of ${to}`;
    },
  });
  const agent = defineAgent({
    name: 'lines',
    version: 1,
    state: { notes: log(z.string()), second: value(z.boolean(), false) },
    tools: { pay },
    start: 'begin',
    nodes: {
      begin: ({ second }, { goto, parallel }) => (second ? goto('last') : parallel(['x', 'y'])),
      x: async (_, { call, end }) => end({ notes: [await call('pay', { to: 'x' })] }),
      y: async (_, { call, end }) => {
        const receipt = await call('pay', { to: 'y' });
        slow.resolve();
        return end({ notes: [receipt] });
      },
      last: async (_, { call, end }) => end({ notes: [await call('pay', { to: 'last' })] }),
    },
  });
  const scene = new Scene({ agent });
  const thread = await scene.begun();
  await thread.run();
  await thread.send({ second: true });
  expect(await thread.run()).toEqual({ end: 'done' });
  scene.lose('checkpoints', (key) => (sequenceOf(key) ?? 0) >= 1);
  scene.clock.advance(1_000);

  expect(await (await scene.open()).run()).toEqual({ end: 'done' });
  expect(paid).toEqual(['y', 'x', 'last']);
});

test('[B12c, A11d] a result that a person reuses while steps run again is there for a later run that awaits it', async () => {
  const paid: string[] = [];
  const agent = defineAgent({
    name: 'payer',
    version: 1,
    state: { to: value(z.string(), ''), tip: value(z.number(), 0), notes: log(z.string()) },
    tools: { pay: payTool(paid) },
    start: 'look',
    nodes: {
      look: ({ to }, { goto, end }) => (to === 'none' ? end() : goto('pay')),
      pay: async ({ to }, { call, end }) => end({ notes: [await call('pay', { to })] }),
    },
  });
  const scene = new Scene({ agent });
  const thread = await scene.begun({ to: 'none' });
  await thread.run();
  await thread.send({ to: 'second' });
  expect(await thread.run()).toEqual({ end: 'done' });
  loseFrom(scene, 1);
  await cutAfter(scene, 1);
  const heir = await scene.open();
  const [effect] = await heir.effects();
  await heir.edit({ tip: 5 }, { effects: { [String(effect?.key)]: 'reuse' } });

  expect(await heir.run()).toEqual({ end: 'done' });
  expect(await plainState(heir)).toEqual({ to: 'second', tip: 5, notes: ['receipt of second'] });
  expect(paid).toEqual(['second']);
});
