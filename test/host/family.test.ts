/** Children in a host: they run by themselves, whatever the store does while they are made. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import { value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { storeErrors } from '../../src/store/errors.ts';
import { CuttingStore, Life } from '../../src/testing/cutting-store.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { never, quiet, withMethods } from '../engine/support.ts';
import { Workers } from './workers.ts';

const minor = defineAgent({
  name: 'minor',
  version: 1,
  state: { said: value(z.string(), '') },
  start: 'go',
  nodes: { go: (_state, { end }) => end({ said: 'hello' }) },
});
const agent = defineAgent({
  name: 'parent',
  version: 1,
  state: { heard: value(z.string(), '') },
  agents: [minor],
  start: 'go',
  nodes: {
    go: async (_state, { child, end }) => {
      const { state } = await child(minor, {});
      return end({ heard: state?.said ?? '' });
    },
  },
});

test('[B2a, A15a] a child is run although the store could not be read when it was made', async () => {
  const workers = new Workers(agent);
  const store = workers.world.store();
  let failures = 0;
  const host = await workers.start({
    store: withMethods(store, {
      readThread: async (hash) => {
        const row = await store.readThread(hash);
        if (row?.agent !== 'minor' || failures > 0) return row;
        failures += 1;
        throw storeErrors.make('timed_out', { operation: 'readThread', afterMs: 1_000 });
      },
    }),
  });
  await host.send('thread', {}, 'in1');
  await workers.world.clock.whenAsleep((ms) => ms === 5_000);
  workers.world.clock.advance(5_000);
  const engine = await workers.engine();
  const isDone = async () => (await engine.thread('thread').row())?.status === 'done';
  for (let turn = 0; turn < 50 && !(await isDone()); turn += 1) await quiet();

  expect(failures).toBe(1);
  expect(await engine.thread('thread').state()).toEqual({ heard: 'hello' });
});

test.each(['auto', 'on-request'] as const)(
  '[B2a, C3a] a child that was at work when its worker died goes on once its parent is resumed: %s',
  async (resume) => {
    const called = deferred<void>();
    let calls = 0;
    const look = tool({
      name: 'look',
      description: 'Looks',
      input: z.object({}),
      effect: 'idempotent',
      run: () => {
        calls += 1;
        called.resolve();
        return calls === 1 ? never<string>() : 'seen';
      },
    });
    const looker = defineAgent({
      name: 'looker',
      version: 1,
      state: { said: value(z.string(), '') },
      tools: { look },
      start: 'go',
      nodes: { go: async (_state, { call, end }) => end({ said: await call('look', {}) }) },
    });
    const asking = defineAgent({
      name: 'asking',
      version: 1,
      state: { heard: value(z.string(), '') },
      agents: [looker],
      start: 'go',
      nodes: {
        go: async (_state, { child, end }) => {
          const { state } = await child(looker, {});
          return end({ heard: state?.said ?? '' });
        },
      },
    });
    const world = new TestWorld();
    const life = new Life();
    const first = await new Workers(asking, undefined, world).start({
      resume,
      store: new CuttingStore(world.store(), life),
    });
    await first.send('thread', {}, 'in1');
    await called.promise;
    await quiet();
    life.end(); // its locks are gone with it

    const workers = new Workers(asking, undefined, world);
    await (await workers.start({ resume })).resume('thread');
    const engine = await workers.engine();
    const isDone = async () => (await engine.thread('thread').row())?.status === 'done';
    for (let turn = 0; turn < 200 && !(await isDone()); turn += 1) await quiet();
    expect(await engine.thread('thread').state()).toEqual({ heard: 'seen' });
  },
);
