import { expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { never, Scene } from './support.ts';

test('[B4e, B4c, A11b] a call that was undone ends, also where the record of its undoing is damaged', async () => {
  const [isCut, undone, sent] = [deferred<void>(), [] as number[], [] as number[]];
  let isToCut = true;
  const send = tool({
    name: 'send',
    description: 'Sends',
    input: z.object({}),
    effect: 'once',
    retry: { backoffMs: [0], jitter: 0 },
    run: (_input, { attempt }) => {
      sent.push(attempt);
      throw new Error('the answer was lost');
    },
    compensate: (_input, { attempt }) => {
      undone.push(attempt);
      if (undone.length === 1) throw new Error('not now');
    },
  });
  const look = tool({
    name: 'look',
    description: 'Looks',
    input: z.object({}),
    effect: 'read',
    run: () => {
      if (!isToCut) return 'seen';
      isCut.resolve();
      return never<string>();
    },
  });
  const agent = defineAgent({
    name: 'undoing',
    version: 1,
    state: { notes: log(z.string()) },
    tools: { send, look },
    start: 'go',
    nodes: {
      go: async (_state, { call, end }) => {
        const note = await call('send', {}).catch(({ code }) => String(code));
        return end({ notes: [note, await call('look', {})] });
      },
    },
  });
  const scene = new Scene({ agent });
  void (await scene.begun()).run();
  await isCut.promise;
  expect(undone).toEqual([1, 1]);
  isToCut = false;
  scene.damage('ledger', (key) => key === '0000000003.o'); // of the second attempt to undo it

  const thread = await scene.open();
  expect(await thread.run()).toEqual({ end: 'done' });
  expect((await thread.effects()).map(({ name, status }) => [name, status])).toContainEqual(['send', 'compensated']);
  expect(sent).toEqual([1]);
});
