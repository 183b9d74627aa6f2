import { expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { never, quiet, Scene } from '../engine/support.ts';
import { Workers } from './workers.ts';

const agent = defineAgent({
  name: 'waiting',
  version: 1,
  state: { said: log(z.string()) },
  rehydrate: () => never<Record<string, never>>(),
  start: 'go',
  nodes: { go: (_state, { end }) => end() },
});

test('[B10a, C1a] a rehydrate that never ends does not keep a run from being stopped', async () => {
  const thread = await new Scene({ agent }).begun();
  const running = thread.run();
  await quiet();
  thread.stop();

  expect(await running).toEqual({ end: 'stopped' });
});

test('[C1a] a rehydrate that never ends does not keep a host from closing', async () => {
  const workers = new Workers(agent);
  const host = await workers.start();
  await host.send('thread', {}, 'a');
  for (let turn = 0; turn < 5; turn += 1) await quiet();

  await expect(host.close()).resolves.toBeUndefined();
});
