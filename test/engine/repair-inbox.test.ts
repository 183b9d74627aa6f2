/** What came in while the thread ran is taken up again where it came in, once a repair lets steps run again (PROTOCOL 4 and 6). */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import { log, value } from '../../src/model/fields.ts';
import { sequenceOf } from '../../src/model/ids.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { answer, head, never, only, plainState, Scene, ScriptedModel, withMethods } from './support.ts';

/** Looks; the first time it asks then, or waits for what is given, later it pays. */
function either(hold?: () => Promise<void>, limits = {}) {
  const paid: string[] = [];
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
  const peek = tool({ name: 'peek', description: 'Peeks', input: z.object({}), effect: 'read', run: () => 'seen' });
  const agent = defineAgent({
    name: 'either',
    version: 1,
    state: { notes: log(z.string()), to: value(z.string(), 'inn') },
    tools: { pay, peek },
    limits,
    start: 'look',
    nodes: {
      look: ({ notes }, { goto }) => goto(notes.length === 0 ? 'ask' : 'pay', { notes: ['looked'] }),
      ask: async (_, { ask, call, end, goto }) => {
        if (hold === undefined) return end({ notes: [String(await ask('Well?'))] });
        await call('peek', {});
        await hold();
        return goto('pay');
      },
      pay: async ({ to }, { call, end }) => end({ notes: [await call('pay', { to })] }),
    },
  });
  return { scene: new Scene({ agent }), paid };
}

/** Nothing is left of the state from there on: neither a checkpoint, nor the change that the first one of all made. */
function loseState(scene: Scene, from = 0): void {
  scene.lose('checkpoints', (key) => (sequenceOf(key) ?? 0) >= from);
  scene.lose('events', (key) => from === 0 && sequenceOf(key) === 0);
}

/** Repairs the thread in a process that ends then. */
async function repairAlone(scene: Scene): Promise<void> {
  const store = scene.world.store();
  const repaired = deferred<void>();
  const dying = withMethods(store, {
    commit: async (groups) => {
      const results = await store.commit(groups);
      repaired.resolve();
      return results;
    },
    takeLease: async (...given) => {
      const rows = await scene.stored('checkpoints');
      return rows.length === 0 ? store.takeLease(...given) : never();
    },
  });
  scene.clock.advance(1_000);
  void (await scene.open({ store: dying })).run();
  await repaired.promise;
  scene.clock.advance(1_000);
}

async function goOn(scene: Scene) {
  scene.clock.advance(1_000);
  const thread = await scene.open();
  const end = await thread.run();
  return { thread, end, state: await plainState(thread) };
}

describe('after a repair, behind the steps that it let run again, comes', () => {
  test.each(['interrupt', 'roll_back'] as const)(
    '[A11d, B11b] an input that took the place of a run (%s): its own run pays once',
    async (policy) => {
      const { scene, paid } = either();
      const thread = await scene.begun();
      expect(await thread.run()).toEqual({ end: 'waiting' });
      await thread.send({ notes: ['second'] }, 'second', policy);
      expect(await thread.run()).toEqual({ end: 'done' });
      const before = await plainState(thread);
      loseState(scene);

      const { end, state } = await goOn(scene);
      expect(end).toEqual({ end: 'done' });
      expect(state).toEqual(before);
      expect(paid).toEqual(['inn']);
    },
  );

  test('[A11d, B10a] a cancel, and the input after it', async () => {
    const { scene, paid } = either();
    const thread = await scene.begun();
    await thread.run();
    await thread.send({ notes: ['dropped'] });
    await thread.cancel();
    expect(await thread.run()).toEqual({ end: 'cancelled' });
    await thread.send({ to: 'bar' });
    expect(await thread.run()).toEqual({ end: 'done' });
    const before = await plainState(thread);
    loseState(scene);

    const { end, state } = await goOn(scene);
    expect(end).toEqual({ end: 'done' });
    expect(state).toEqual(before);
    expect(paid).toEqual(['bar']);
  });

  test('[A11d, B10a] a cancel that came too late: what had finished is not dropped by it', async () => {
    const { scene, paid } = either();
    const thread = await scene.begun({ notes: ['first'] });
    expect(await thread.run()).toEqual({ end: 'done' });
    await thread.cancel();
    expect(await thread.run()).toEqual({ end: 'done' });
    const before = await plainState(thread);
    loseState(scene);

    const { end, state } = await goOn(scene);
    expect(end).toEqual({ end: 'done' });
    expect(state).toEqual(before);
    expect(paid).toEqual(['inn']);
  });

  test('[A11d, B7c] an extension: the run that it let go on goes on where it stood', async () => {
    const model = new ScriptedModel(() => 'yes');
    const agent = defineAgent({
      name: 'talker',
      version: 1,
      state: { said: log(z.string()) },
      limits: { tokens: 8 },
      start: 'one',
      nodes: {
        one: async (_, context) => context.goto('two', { said: [await context.model.text('abcde')] }),
        two: async (_, context) => context.goto('three', { said: [await context.model.text('abcde')] }),
        three: (_, { end }) => end({ said: ['end'] }),
      },
    });
    const scene = new Scene({ agent, model });
    const thread = await scene.begun();
    expect(await thread.run()).toMatchObject({ end: 'out_of_budget' });
    await thread.extend({ tokens: 100 });
    expect(await thread.run()).toEqual({ end: 'done' });
    const { spent, limits } = (await head(thread)).control;
    loseState(scene);

    const after = await goOn(scene);
    expect(after.end).toEqual({ end: 'done' });
    expect((await head(after.thread)).control).toMatchObject({
      limits,
      spent: { tokens: spent.tokens },
    });
    expect(model.calls).toHaveLength(2);
  });

  test('[A11d, B7c] an extension that came while the run waited, also where the records of that wait are gone as well', async () => {
    const { scene } = either();
    const thread = await scene.begun();
    await thread.run();
    await thread.extend({ steps: 7 });
    expect(await thread.run()).toEqual({ end: 'waiting' });
    const { maxSteps } = (await head(thread)).control.run;
    loseState(scene);
    scene.lose('events', (key) => sequenceOf(key) === 2);

    const after = await goOn(scene);
    expect(after.end).toEqual({ end: 'waiting' });
    expect((await head(after.thread)).control.run).toMatchObject({ maxSteps });
  });

  test('[A11d, B11b] what interrupted a run, also where the records of a wait before it are gone as well', async () => {
    const { scene, paid } = either();
    const thread = await scene.begun();
    await thread.run();
    await thread.send({ notes: ['second'] }, 'second', 'interrupt');
    await thread.run();
    const before = await plainState(thread);
    loseState(scene);
    scene.lose('events', (key) => sequenceOf(key) === 2);

    expect((await goOn(scene)).state).toEqual(before);
    expect(paid).toEqual(['inn']);
  });

  test.each([0, 1])(
    '[A11d, B11b] what interrupts, however often the thread was repaired before, from checkpoint %i on',
    async (from) => {
      let held = deferred<void>();
      let lives = 2;
      const { scene, paid } = either(() => {
        held.resolve();
        lives -= 1;
        return lives < 0 ? Promise.resolve() : never();
      });
      await scene.begun();
      for (const repair of [undefined, 2]) {
        held = deferred();
        const { thread, life } = await scene.mortal();
        void thread.run();
        await held.promise;
        life.end();
        loseState(scene, from);
        scene.lose('events', (key) => sequenceOf(key) === repair);
        scene.clock.advance(1_000);
      }
      await (await scene.open()).send({ notes: ['second'] }, 'second', 'interrupt');

      const { end, state } = await goOn(scene);
      expect(end).toEqual({ end: 'done' });
      expect(state).toMatchObject({ notes: ['looked', 'second', 'looked', 'receipt of inn'] });
      expect(paid).toEqual(['inn']);
    },
  );
});

test('[B10a, A11d] a cancel that comes while steps run again after a repair ends the run at once, and all that came before it', async () => {
  const { scene, paid } = either();
  const thread = await scene.begun();
  await thread.run();
  await thread.send({ notes: ['second'] }, 'second', 'interrupt');
  await thread.run();
  loseState(scene);
  await repairAlone(scene);
  await (await scene.open()).cancel();

  const { end, thread: again } = await goOn(scene);
  expect(end).toEqual({ end: 'cancelled' });
  expect(await plainState(again)).toMatchObject({ notes: [] });
  expect(paid).toEqual(['inn']);
  expect((await head(again)).control).toMatchObject({ inboxReplay: null, ledger: { replay: null } });
  const dropped = (await again.events()).filter(({ type }) => type === 'input_dropped');
  expect(dropped.map(({ details }) => [details.order, details.winner])).toEqual([
    [1, 3],
    [2, 3],
  ]);
});

test('[B10a, A11d] a call of a step that a cancel cut off awaits nothing any more, once the cancel is taken up again', async () => {
  const called = deferred<void>();
  const { scene } = either(async () => {
    called.resolve();
    return never();
  });
  const thread = await scene.begun();
  const running = thread.run();
  await called.promise;
  await thread.cancel();
  void thread.look();
  await scene.passes(2_000, 2_000); // that the step is given to end
  expect(await running).toEqual({ end: 'cancelled' });
  expect(await thread.effects()).toHaveLength(1);
  loseState(scene);

  const { end, thread: again } = await goOn(scene);
  expect(end).toEqual({ end: 'cancelled' });
  expect(await again.effects()).toHaveLength(1);
  expect((await head(again)).control.ledger).toMatchObject({ count: 1, replay: null });
});

test('[B10a, B9d, A11d] a question of a step that a cancel keeps from running again is closed', async () => {
  const { scene } = either();
  const thread = await scene.begun();
  await thread.run();
  const [asked] = await thread.waits();
  loseState(scene);
  await repairAlone(scene);
  await (await scene.open()).cancel();

  const { end, thread: again } = await goOn(scene);
  expect(end).toEqual({ end: 'cancelled' });
  const late = again.answer(String(asked?.id), String(asked?.digest), { decision: 'reply', value: 'late' });
  await expect(late).rejects.toMatchObject({ code: 'wait_closed', details: { winner: 'cancelled' } });
});

test.each(['interrupt', 'queue'] as const)(
  '[B7c, A11d] no time is over for runs that are gone through again after a repair (%s)',
  async (policy) => {
    const { scene, paid } = either(undefined, { runMs: 600_000 });
    const thread = await scene.begun();
    await thread.run();
    await thread.send({ notes: ['second'] }, 'second', policy);
    if (policy === 'queue') await answer(thread, only(await thread.waits()), { decision: 'reply', value: 'fine' });
    expect(await thread.run()).toEqual({ end: 'done' });
    const before = await plainState(thread);
    loseState(scene, 1);
    scene.clock.advance(3_600_000);

    const { end, state } = await goOn(scene);
    expect(end).toEqual({ end: 'done' });
    expect(state).toEqual(before);
    expect(paid).toEqual(['inn']);
  },
);

test('[B12d, B9d, A11d] a question of a step that an edit keeps from running again is closed', async () => {
  const { scene } = either();
  const thread = await scene.begun();
  await thread.run();
  const [asked] = await thread.waits();
  loseState(scene);
  await repairAlone(scene);
  await (await scene.open()).edit({ to: 'bar' });

  const { end, thread: again } = await goOn(scene);
  expect(end).toEqual({ end: 'waiting' });
  expect(only(await again.waits()).id).not.toBe(asked?.id);
  const late = again.answer(String(asked?.id), String(asked?.digest), { decision: 'reply', value: 'late' });
  await expect(late).rejects.toMatchObject({ code: 'wait_closed', details: { winner: 'cancelled' } });
});

test.each(['before', 'after'] as const)(
  '[A11d, B11b] the input of which nothing is left but its calls comes first, with another one from %s it',
  async (when) => {
    const called = deferred<void>();
    const paid: string[] = [];
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      input: z.object({}),
      effect: 'once',
      run: () => {
        paid.push('paid');
        return 'receipt';
      },
    });
    let lives = 1;
    const agent = defineAgent({
      name: 'holder',
      version: 1,
      state: { to: value(z.string(), '') },
      tools: { pay },
      start: 'go',
      nodes: {
        go: async ({ to }, { call, end }) => {
          if (to === 'second') return end();
          await call('pay', {});
          called.resolve();
          lives -= 1;
          return lives < 0 ? end() : never();
        },
      },
    });
    const scene = new Scene({ agent });
    if (when === 'before') await scene.begun({ to: 'second' });
    await (await scene.open()).send({ to: 'first' }, 'first', 'interrupt');
    const { thread, life } = await scene.mortal();
    void thread.run();
    await called.promise;
    life.end();
    loseState(scene);
    if (when === 'after') await (await scene.open()).send({ to: 'second' }, 'second', 'interrupt');

    expect((await goOn(scene)).end).toEqual({ end: 'done' });
    expect(paid).toEqual(['paid']);
    const effects = await (await scene.open()).effects();
    expect(effects).toMatchObject([{ name: 'pay', status: 'succeeded' }]);
  },
);

test.each(['interrupt', 'roll_back'] as const)(
  '[B11b, B9d, A11d] a question of a line that an input keeps from running again after a repair is closed (%s)',
  async (policy) => {
    const agent = defineAgent({
      name: 'lines',
      version: 1,
      state: { second: value(z.boolean(), false) },
      start: 'begin',
      nodes: {
        begin: ({ second }, { end, parallel }) => (second ? end() : parallel(['x'])),
        x: async (_, { ask, end }) => {
          await ask('Well?');
          return end();
        },
      },
    });
    const scene = new Scene({ agent });
    const thread = await scene.begun();
    expect(await thread.run()).toEqual({ end: 'waiting' });
    const asked = only(await thread.waits());
    loseState(scene);
    await (await scene.open()).send({ second: true }, 'second', policy);

    const { end, thread: again } = await goOn(scene);
    expect(end).toEqual({ end: 'done' });
    const late = again.answer(asked.id, asked.digest, { decision: 'reply', value: 'late' });
    await expect(late).rejects.toMatchObject({ code: 'wait_closed', details: { winner: 'cancelled' } });
  },
);
