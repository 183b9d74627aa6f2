/** A compaction keeps the checkpoint at which the run under way began. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { log, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { plainState, Scene } from './support.ts';

test('[A12e, B11b] keeps where the run began: an input that takes it back does so', async () => {
  const agent = defineAgent({
    name: 'back',
    version: 1,
    state: { notes: log(z.string()), left: value(z.number(), 0) },
    start: 'go',
    nodes: {
      go: async ({ left }, { goto, ask, end }) => {
        if (left > 1) return goto('go', { left: left - 1 });
        return left === 0 ? end() : end({ notes: [String(await ask('Well?'))] });
      },
    },
  });
  const scene = new Scene({ agent });
  const thread = await scene.begun({ notes: ['first'] });
  await thread.run();
  await thread.send({ notes: ['second'], left: 6 });
  expect(await thread.run()).toEqual({ end: 'waiting' });
  await thread.compact({ keepCheckpoints: 1 });
  await thread.send({ notes: ['third'], left: 0 }, 'third', 'roll_back');

  expect(await thread.run()).toEqual({ end: 'done' });
  expect(await plainState(thread)).toEqual({ notes: ['first', 'third'], left: 0 });
});
