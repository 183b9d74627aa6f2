/** Results that were passed on, where a compaction or damage takes what they came from. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { ledgerKey } from '../../src/codec/ledger-codec.ts';
import type { EngineThread } from '../../src/engine/engine-thread.ts';
import { value } from '../../src/model/fields.ts';
import type { CheckpointId } from '../../src/model/ids.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { done, notDone, tool } from '../../src/program/tool.ts';
import { answer, nth, only, plainState, Scene } from './support.ts';
import { beforeNode, choices, TravelWorld } from './travel-agent.ts';

const undo = (name: string) => (name === 'send' ? 'compensate' : 'redo');

/** A mail whose receipt was passed on twice; `back`: where the second going back led. */
async function passedOnTwice() {
  const world = new TravelWorld();
  const thread = await world.done();
  const notes = z.array(z.string()).parse((await plainState(thread)).notes);
  const key = nth(notes, 1).slice('sent '.length);
  const target = await beforeNode(thread, 'mail');
  const goBack = async () =>
    thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'reuse') });
  await goBack();
  await thread.run();
  const back = await goBack();
  await thread.run();
  return { world, thread, key, target, back };
}

async function compactTo(world: TravelWorld, thread: EngineThread, checkpoint: CheckpointId) {
  const keepCheckpoints = (await thread.checkpoints()).findIndex(({ id }) => id === checkpoint) + 1;
  world.scene.clock.advance(60_000);
  return thread.compact({ keepCheckpoints, eventDays: 0 });
}

test('[A12e, B4e] a compaction keeps the call that was really made: its undoing hears its key', async () => {
  const { world, thread, key, back } = await passedOnTwice();
  expect((await compactTo(world, thread, back)).deleted.checkpoints).toBeGreaterThan(0);
  await thread.rollBack(back, { effects: await choices(thread.rollBack(back), undo) });
  expect(world.calledBack).toEqual([`ann ${key}`]);
});

test('[A12e, B4e] a compaction keeps that a call was undone, of which only copies of its result are passed over', async () => {
  const { world, thread, back } = await passedOnTwice();
  const sent = nth(
    (await thread.checkpoints()).filter(({ position }) => position.next[0]?.node === 'publish'),
    0,
  ).id;
  await thread.rollBack(back, { effects: await choices(thread.rollBack(back), undo) });
  await thread.rollBack(sent);
  await thread.run();
  await compactTo(world, thread, back);
  await expect(thread.rollBack(back)).rejects.toMatchObject({
    details: { effects: expect.arrayContaining([expect.objectContaining({ name: 'send', status: 'compensated' })]) },
  });
});

test('[B4c, B4e] nothing is undone under the key of no call, where the record of the call that was made is lost', async () => {
  const { world, thread, key, target } = await passedOnTwice();
  const made = only((await thread.effects()).filter((effect) => effect.key === key));
  world.scene.lose('ledger', (at) => at.startsWith(ledgerKey(made.number, 'i').slice(0, -1)));
  const asked = await choices(thread.rollBack(target), (name) => (name === 'send' ? 'compensate' : 'redo'));
  await expect(thread.rollBack(target, { effects: asked })).rejects.toMatchObject({ code: 'compensation_failed' });
  expect(world.calledBack).toEqual([]);
});

test('[B12c, B4c] a result that was passed on is passed on again where the record of that is lost: no call is made', async () => {
  const paid: string[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: z.object({}),
    effect: 'once',
    run: (_input, { effectKey }) => {
      paid.push(effectKey);
      return effectKey;
    },
    verify: (_input, { effectKey }) => (paid.includes(effectKey) ? done(effectKey) : notDone({ closed: true })),
  });
  const agent = defineAgent({
    name: 'payer',
    version: 1,
    state: { receipt: value(z.string(), '') },
    tools: { pay },
    start: 'work',
    nodes: {
      work: async (_state, { call, ask, end }) => {
        const receipt = await call('pay', {});
        await ask('ok?');
        return end({ receipt });
      },
    },
  });
  const scene = new Scene({ agent });
  await (await scene.begun()).run();
  const thread = await scene.open();
  const first = await beforeNode(thread, 'work');
  await thread.rollBack(first, { effects: await choices(thread.rollBack(first), () => 'reuse') });
  await thread.run();
  const outcomes = (await scene.stored('ledger')).map(({ key }) => key).filter((key) => key.endsWith('.o'));
  scene.lose('ledger', (key) => key === outcomes.at(-1));
  const again = await scene.open();
  await answer(again, only(await again.waits()), { decision: 'reply', value: 'ok' });
  expect(await again.run()).toEqual({ end: 'done' });
  expect(paid).toHaveLength(1);
  expect(await again.state()).toEqual({ receipt: paid[0] });
});
