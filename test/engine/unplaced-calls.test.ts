/** What was called after a person went back or edited, where no record is left of that (PROTOCOL 3 and 4). */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { value } from '../../src/model/fields.ts';
import { sequenceOf } from '../../src/model/ids.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { notDone, tool } from '../../src/program/tool.ts';
import { answer, head, only, Scene } from './support.ts';

/** Asks, pays, asks again. */
function payer() {
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
    verify: () => notDone(),
  });
  const agent = defineAgent({
    name: 'payer',
    version: 1,
    state: { to: value(z.string(), 'inn'), receipt: value(z.string(), '') },
    tools: { pay },
    start: 'ask',
    nodes: {
      ask: async (_, { ask, goto }) => {
        await ask('Shall I?');
        return goto('pay');
      },
      pay: async ({ to }, { call, goto }) => goto('tell', { receipt: String(await call('pay', { to })) }),
      tell: async (_, { ask, end }) => {
        await ask('Is it well?');
        return end();
      },
    },
  });
  return { paid, scene: new Scene({ agent }) };
}

/** It was edited while it asked, has paid since, and nothing is left of either but the call. */
async function editLost({ isRowDamaged = false } = {}) {
  const { paid, scene } = payer();
  const thread = await scene.begun();
  await thread.run();
  const edited = sequenceOf(await thread.edit({ to: 'bar' })) ?? 0;
  await thread.run();
  await answer(thread, only(await thread.waits()), { decision: 'reply', value: 'yes' });
  await thread.run();
  expect(paid).toEqual(['bar']);
  if (isRowDamaged) {
    scene.changeRow((row) => ({ ...row, ledger: 0 }));
    await (await scene.open()).run(); // made again from the records
  }
  for (const table of ['checkpoints', 'events'] as const) scene.lose(table, (key) => (sequenceOf(key) ?? 0) >= edited);
  scene.clock.advance(1_000);
  return { paid, scene };
}

describe('a call of class once that may be one which was made after an edit of which no record is left', () => {
  test.each([false, true])(
    '[B4f, A11d] is not made: a person is asked, and told of the entry, also where its tool could verify it (row was damaged: %s)',
    async (isRowDamaged) => {
      const { paid, scene } = await editLost({ isRowDamaged });
      const thread = await scene.open();
      await thread.run();
      await answer(thread, only(await thread.waits()), { decision: 'reply', value: 'yes' });
      expect(await thread.run()).toEqual({ end: 'waiting' });

      const doubt = only(await thread.waits());
      expect(doubt).toMatchObject({ kind: 'in_doubt', tool: 'pay', args: { to: 'inn' } });
      expect(doubt.reason).toContain('entry 1 of the ledger is a call of "pay" made since');
      expect(paid).toEqual(['bar']);
      await answer(thread, doubt, { decision: 'done', result: 'receipt of bar' });
      await thread.run();
      expect(await thread.state()).toMatchObject({ receipt: 'receipt of bar' });
      expect(paid).toEqual(['bar']);
    },
  );

  test('[B4f, A11d] is made where the person says that it is another one', async () => {
    const { paid, scene } = await editLost();
    const thread = await scene.open();
    await thread.run();
    await answer(thread, only(await thread.waits()), { decision: 'reply', value: 'yes' });
    await thread.run();
    await answer(thread, only(await thread.waits()), { decision: 'not_done' });
    const run = thread.run();
    await scene.clock.whenAsleep((ms) => ms < 5_000); // as before any other attempt
    scene.clock.advance(5_000);
    await run;
    expect(paid).toEqual(['bar', 'inn']);
    await answer(thread, only(await thread.waits()), { decision: 'reply', value: 'yes' });
    expect(await thread.run()).toEqual({ end: 'done' });

    // With the run ends what was not known: the next one means its calls.
    expect((await head(thread)).control.ledger.replay).toBeNull();
    await thread.send({ to: 'hut' });
    await thread.run();
    await answer(thread, only(await thread.waits()), { decision: 'reply', value: 'yes' });
    await thread.run();
    expect(paid).toEqual(['bar', 'inn', 'hut']);
  });
});

test('[B9d, A11d] a question that was closed by an edit of which no record is left is asked anew, also where nothing was called since', async () => {
  const { paid, scene } = payer();
  const thread = await scene.begun();
  await thread.run();
  const closed = only(await thread.waits());
  const edited = sequenceOf(await thread.edit({ to: 'bar' })) ?? 0;
  for (const table of ['checkpoints', 'events'] as const) scene.lose(table, (key) => sequenceOf(key) === edited);
  scene.clock.advance(1_000);
  const again = await scene.open();
  expect(await again.run()).toEqual({ end: 'waiting' });
  const anew = only(await again.waits());
  expect(anew).toMatchObject({ kind: 'question', reason: closed.reason });
  expect(anew.id).not.toBe(closed.id);
  await answer(again, anew, { decision: 'reply', value: 'yes' });
  await again.run();
  expect(paid).toEqual(['inn']);
});
