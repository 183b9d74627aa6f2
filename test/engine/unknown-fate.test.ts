/** Entries of the ledger whose commit was never acknowledged: they count all the same (PROTOCOL 2). */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { storeErrors } from '../../src/store/errors.ts';
import { answer, only, quiet, Scene, withMethods } from './support.ts';

test('[B4b, B5a] an attempt whose intent is on record, and was not acknowledged, counts for a step that runs again at once', async () => {
  const attempts: number[] = [];
  const post = tool({
    name: 'post',
    description: 'Posts',
    input: z.object({}),
    effect: 'idempotent',
    run: (_, { attempt }) => {
      attempts.push(attempt);
      if (attempts.length === 1) throw new Error('The network broke.');
      return 'posted';
    },
  });
  const mail = tool({
    name: 'mail',
    description: 'Mails',
    input: z.object({}),
    effect: 'once',
    approval: 'always',
    run: () => 'sent',
  });
  const agent = defineAgent({
    name: 'both',
    version: 1,
    state: { notes: log(z.string()) },
    tools: { post, mail },
    start: 'go',
    nodes: {
      go: async (_state, { all, end }) => {
        const notes = await all(['post', 'mail'] as const, (name, scope) => scope.call(name, {}).catch(String));
        return end({ notes: notes.map(String) });
      },
    },
  });
  const scene = new Scene({ agent });
  const store = scene.world.store();
  let refusals = 4;
  const deaf = withMethods(store, {
    commit: async (groups) => {
      const results = await store.commit(groups);
      const isSecond = groups.some(({ records }) => records.some(({ key }) => key === '0000000002.i'));
      if (!isSecond || refusals === 0) return results;
      refusals -= 1;
      throw storeErrors.make('timed_out', { operation: 'commit', afterMs: 1_000 });
    },
  });
  await scene.begun();
  const thread = await scene.open({ store: deaf });
  const run = thread.run();
  await quiet();
  const other = await scene.open();
  await answer(other, only(await other.waits()), { decision: 'allow' });
  let isOver = false;
  void run.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    scene.clock.advance(100);
    await quiet();
  }

  expect(await run).toEqual({ end: 'done' });
  expect(refusals).toBe(0);
  const made = (await thread.effects()).filter(({ name }) => name === 'post');
  expect(made.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  expect(attempts).toEqual([1, 3]);
});
