/** Waits of lines whose run ended at its limit of steps, and was extended. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { plainState, Scene } from './support.ts';

const asking = (code: (error: { readonly code: string }) => string) =>
  defineAgent({
    name: 'two lines',
    version: 1,
    maxSteps: 2,
    state: { said: log(z.string()) },
    start: 'go',
    nodes: {
      go: (_state, { parallel }) => parallel(['asks', 'again']),
      asks: async (_state, { ask, end }) => end({ said: [String(await ask('Well?').catch(code))] }),
      again: async (_state, { waitFor, goto, end }) => ((await waitFor('go on')) === 'end' ? end() : goto('again')),
    },
  });

test('[B9d, B1c] a question of a run that reached its step limit and was extended is not taken for answered', async () => {
  const scene = new Scene({ agent: asking(({ code }) => code) });
  const thread = await scene.begun();
  await thread.run();
  await thread.signal('go on', null);
  expect(await thread.run()).toMatchObject({ end: 'failed' });
  await thread.extend({ steps: 10 });
  await thread.run();
  await thread.signal('go on', 'end');

  expect(await (await scene.open()).run()).toEqual({ end: 'done' });
  expect(await plainState(await scene.open())).toEqual({ said: ['wait_cancelled'] });
});
