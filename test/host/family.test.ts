/** Children in a host: they run by themselves, whatever the store does while they are made. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { storeErrors } from '../../src/store/errors.ts';
import { quiet, withMethods } from '../engine/support.ts';
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
