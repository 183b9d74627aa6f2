import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type Deferred, deferred } from '../../src/base/deferred.ts';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { answer, head, never, nth, only, plainState, quiet, Scene, withMethods } from './support.ts';

const name = z.object({ name: z.string() });

/** Two lines of which each asks; the second one only after a call that the test holds. */
function twoLines(side: 'all' | 'keys') {
  const asked: string[] = [];
  const held: Deferred<string> = deferred<string>();
  const ask = tool({
    name: 'ask',
    description: 'Asks',
    input: name,
    effect: 'idempotent',
    approval: 'always',
    run: ({ name: who }) => {
      asked.push(who);
      return who;
    },
  });
  const hold = tool({ name: 'hold', description: 'Holds', input: name, effect: 'once', run: () => held.promise });
  const agent = defineAgent({
    name: 'two lines',
    version: 1,
    state: { log: log(z.string()) },
    tools: { ask, hold },
    start: 'go',
    nodes: {
      go: async (_state, { call, all, end }) => {
        const lines =
          side === 'all'
            ? await all(['a', 'b'], async (line, scope) => {
                if (line === 'b') await scope.call('hold', { name: 'b' });
                return scope.call('ask', { name: line });
              })
            : await Promise.all([
                call('ask', { name: 'a' }, { key: 'a' }),
                call('hold', { name: 'b' }, { key: 'hold' }).then(() => call('ask', { name: 'b' }, { key: 'b' })),
              ]);
        return end({ log: lines });
      },
    },
  });
  return { scene: new Scene({ agent }), asked, held };
}

describe('two lines of one node', () => {
  test.each([
    ['all', 2],
    ['keys', 1],
  ] as const)('[B9a] (%s): one that waits does not end the run while the other is in a call', async (side, shown) => {
    const { scene, held } = twoLines(side);
    const thread = await scene.begun();
    let ended: unknown;
    const running = thread.run().then((end) => {
      ended = end;
    });
    await quiet();
    expect(ended).toBeUndefined();
    expect(await thread.waits()).toHaveLength(1);
    held.resolve('b');
    await running;

    expect(ended).toEqual({ end: 'waiting' });
    expect(await thread.waits()).toHaveLength(shown);
    for (let round = 0; round < 2; round += 1) {
      for (const wait of await thread.waits()) await answer(thread, wait, { decision: 'allow' });
      await thread.run();
    }
    expect((await head(thread)).control.status).toBe('done');
    expect((await plainState(thread)).log).toEqual(['a', 'b']);
  });

  // The answer is found at every possible moment around the one at which the last line stops.
  test.each(Array.from({ length: 40 }, (_, delay) => delay))(
    '[B9b] an answer that is being looked up while the last line stops is not missed (%s ticks)',
    async (delay) => {
      const { scene, asked, held } = twoLines('all');
      await scene.begun();
      const store = scene.world.store();
      const found = deferred<void>();
      let answerKey = '';
      let isHeld = false;
      const thread = await scene.open({
        store: withMethods(store, {
          get: async (table, hash, key) => {
            const record = await store.get(table, hash, key);
            if (key !== answerKey || !isHeld) return record;
            isHeld = false;
            await found.promise;
            return record;
          },
        }),
        onFrame: (_id, frame) => {
          if (frame.type !== 'wait' || answerKey === '' || frame.wait.id === answerKey.slice(2)) return;
          let ticks: Promise<unknown> = Promise.resolve();
          for (let tick = 0; tick < delay; tick += 1) ticks = ticks.then(() => undefined);
          void ticks.then(() => found.resolve());
        },
      });
      const running = thread.run();
      await quiet();
      const first = only(await thread.waits());
      await answer(await scene.open(), first, { decision: 'allow' });
      answerKey = `a:${first.id}`;
      isHeld = true;
      void thread.look();
      await quiet();
      held.resolve('b');

      expect(await running).toEqual({ end: 'waiting' });
      expect(asked).toEqual(['a']);
      expect((await thread.waits()).map(({ args }) => args)).toEqual([{ name: 'b' }]);
    },
  );

  test('[B9b] an answer that comes while its wait opens is taken once: the next wait still ends the run', async () => {
    const ask = tool({
      name: 'ask',
      description: 'Asks',
      input: name,
      effect: 'idempotent',
      approval: 'always',
      run: ({ name: who }) => who,
    });
    const agent = defineAgent({
      name: 'in turn',
      version: 1,
      state: { log: log(z.string()) },
      tools: { ask },
      start: 'go',
      nodes: {
        go: async (_state, { call, end }) =>
          end({ log: [await call('ask', { name: 'a' }), await call('ask', { name: 'b' })] }),
      },
    });
    const scene = new Scene({ agent });
    await scene.begun();
    const other = await scene.open();
    const store = scene.world.store();
    let isAnswered = false;
    const thread = await scene.open({
      store: withMethods(store, {
        get: async (table, hash, key) => {
          const [open] = table === 'waits' && key.startsWith('a:') && !isAnswered ? await other.waits() : [];
          if (open !== undefined) {
            isAnswered = true;
            await answer(other, open, { decision: 'allow' });
            void thread.look();
          }
          return store.get(table, hash, key);
        },
      }),
    });

    expect(await thread.run()).toEqual({ end: 'waiting' });
    expect((await thread.waits()).map(({ args }) => args)).toEqual([{ name: 'b' }]);
    await answer(other, nth(await thread.waits(), 0), { decision: 'allow' });
    expect(await thread.run()).toEqual({ end: 'done' });
  });
});

describe('a run that fails while somebody is asked', () => {
  test('[B9b, B10c] closes the wait: a later answer is refused, and nothing is called', async () => {
    const asked: string[] = [];
    const ask = tool({
      name: 'ask',
      description: 'Asks',
      input: name,
      effect: 'once',
      approval: 'always',
      run: ({ name: who }) => asked.push(who),
    });
    const hold = tool({ name: 'hold', description: 'Holds', input: name, effect: 'read', run: () => never<string>() });
    const agent = defineAgent({
      name: 'failing',
      version: 1,
      state: {},
      tools: { ask, hold },
      start: 'go',
      nodes: {
        go: {
          retry: { attempts: 1 },
          timeLimitMs: 3_000,
          run: async (_state, { all, end }) => {
            await all(['ask', 'hold'] as const, (which, scope) => scope.call(which, { name: 'a' }));
            return end();
          },
        },
      },
    });
    const scene = new Scene({ agent });
    const thread = await scene.begun();
    const running = thread.run();
    await quiet();
    const wait = only(await thread.waits());
    await scene.passes(3_000, 3_000);
    await scene.passes(2_000, 2_000);

    expect(await running).toMatchObject({ end: 'failed' });
    expect(await thread.waits()).toEqual([]);
    await expect(answer(thread, wait, { decision: 'allow' })).rejects.toMatchObject({ code: 'wait_closed' });
    expect(asked).toEqual([]);
  });
});

test('[B9f] an event is given to a wait that was opened while the standing waits were being read', async () => {
  const [mayAsk, mayEnd, reading, held] = [deferred<void>(), deferred<void>(), deferred<void>(), deferred<void>()];
  const agent = defineAgent({
    name: 'lines',
    version: 1,
    state: { said: log(z.string()) },
    start: 'split',
    nodes: {
      split: (_state, { parallel }) => parallel(['first', 'second', 'busy'], { join: 'sum' }),
      first: async (_state, { waitFor, end }) => end({ said: [await waitFor<string>('first')] }),
      second: async (_state, { waitFor, end }) => {
        await mayAsk.promise;
        return end({ said: [await waitFor<string>('second')] });
      },
      busy: async (_state, { end }) => {
        await mayEnd.promise;
        return end();
      },
      sum: (_state, { end }) => end(),
    },
  });
  const scene = new Scene({ agent });
  const store = scene.world.store();
  let looks = 0;
  const get: typeof store.get = async (...given) => {
    if (given[0] === 'waits' && given[2].startsWith('a:')) looks += 1;
    if (looks === 2) {
      looks += 1; // the step itself has looked; now its run reads what stands
      reading.resolve();
      await held.promise;
    }
    return store.get(...given);
  };
  await scene.begun();
  const thread = await scene.open({ store: withMethods(store, { get }) });
  const running = thread.run();
  await reading.promise;
  mayAsk.resolve();
  await quiet();
  held.resolve();
  await quiet();
  await thread.signal('second', 'came');
  await thread.look();
  await quiet();
  expect((await thread.waits()).map(({ tool }) => tool)).toEqual(['first']);
  mayEnd.resolve();
  expect(await running).toEqual({ end: 'waiting' });
});
