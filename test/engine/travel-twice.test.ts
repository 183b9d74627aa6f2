/** Going back and forking where the thread was taken back before: each effect has one fate, and the newest choice counts. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { EngineThread } from '../../src/engine/engine-thread.ts';
import type { CheckpointInfo } from '../../src/model/checkpoint.ts';
import { value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { head, nth, plainState, Scene } from './support.ts';
import { beforeNode, choices, TravelWorld } from './travel-agent.ts';

/** A thread whose head was just taken back to before the mail, which is to be given its receipt again. */
async function takenBack(choice: 'reuse' | 'redo' = 'reuse') {
  const world = new TravelWorld();
  const thread = await world.done();
  const before = await beforeNode(thread, 'mail');
  const effects = await choices(thread.rollBack(before), () => choice);
  const back = await thread.rollBack(before, { effects });
  const engine = await world.scene.world.engine({ agent: world.agent, model: world.model });
  return { world, thread, before, back, effects, engine };
}

async function receipts(thread: EngineThread) {
  return z
    .array(z.string())
    .parse((await plainState(thread)).notes)
    .slice(1, 2);
}

describe('a fork of a checkpoint at which results are on offer', () => {
  test('[B12d, B4c] takes them along: the once call is not made again', async () => {
    const { world, thread, back, engine } = await takenBack();
    await thread.fork(back, { id: 'fork' });
    expect(await engine.thread('fork').run()).toEqual({ end: 'done' });
    expect([world.sent.length, world.posted.length]).toEqual([1, 1]);
  });

  test('[B12d, B4c] that is itself a fork takes along what it was given', async () => {
    const { world, thread, back, engine } = await takenBack();
    await thread.fork(back, { id: 'fork' });
    const fork = engine.thread('fork');
    await fork.fork((await head(fork)).id, { id: 'fork of the fork' });
    expect(await engine.thread('fork of the fork').run()).toEqual({ end: 'done' });
    await fork.run();
    expect([world.sent.length, world.posted.length]).toEqual([1, 1]);
  });

  test('[B12d, B4e] undoes the call that was really made, by its key', async () => {
    const { world, thread, back, engine } = await takenBack();
    await thread.run();
    await thread.fork(back, { id: 'fork', effects: await choices(thread.fork(back, { id: 'fork' }), () => 'reuse') });
    const fork = engine.thread('fork');
    const first = (await head(fork)).id;
    await fork.run();
    const undo = (name: string) => (name === 'send' ? 'compensate' : 'redo');
    await fork.rollBack(first, { effects: await choices(fork.rollBack(first), undo) });
    const [receipt = ''] = await receipts(thread);
    expect(world.calledBack).toEqual([`ann ${receipt.replace('sent ', '')}`]);
  });

  test('[B12d] makes the call where that is chosen for it', async () => {
    const { world, thread, back, effects, engine } = await takenBack();
    const other = Object.fromEntries(Object.keys(effects).map((key) => [key, 'redo' as const]));
    await thread.fork(back, { id: 'fork', effects: other });
    await engine.thread('fork').run();
    await thread.run();
    expect([world.sent.length, world.posted.length]).toEqual([2, 2]);
  });

  test('[B12d, B4e] asks about one that was undone since', async () => {
    const { thread, before, back, effects, engine } = await takenBack();
    const undo = Object.fromEntries(Object.keys(effects).map((key) => [key, 'redo' as const]));
    const [mail = ''] = Object.keys(effects);
    await thread.rollBack(before, { effects: { ...undo, [mail]: 'compensate' } });
    await expect(thread.fork(back, { id: 'fork' })).rejects.toMatchObject({
      code: 'choice_needed',
      details: { effects: [{ name: 'send', status: 'compensated' }] },
    });
    expect(await engine.thread('fork').row()).toBeUndefined();
  });
});

describe('going back again to where going back led', () => {
  test('[B12c] calls what is to be made again now, whatever was chosen then', async () => {
    const { world, thread, back } = await takenBack();
    await thread.run();
    await thread.rollBack(back, { effects: await choices(thread.rollBack(back), () => 'redo') });
    await thread.run();
    expect([world.sent.length, world.posted.length]).toEqual([2, 2]);

    await thread.rollBack(back, { effects: await choices(thread.rollBack(back), () => 'redo') });
    await thread.run();
    expect([world.sent.length, world.posted.length]).toEqual([3, 3]);
  });

  test('[B12c] gives the newest receipt, where that is to be reused', async () => {
    const { world, thread, back } = await takenBack();
    await thread.run();
    await thread.rollBack(back, { effects: await choices(thread.rollBack(back), () => 'redo') });
    await thread.run();
    const newest = await receipts(thread);
    const effects = await choices(thread.rollBack(back), () => 'reuse');
    expect(Object.keys(effects)).toHaveLength(2);
    await thread.rollBack(back, { effects });
    await thread.run();
    expect(await receipts(thread)).toEqual(newest);
    expect(world.sent).toHaveLength(2);
  });

  test('[B12c, B4e] gives no receipt of a mail that was called back since', async () => {
    const { world, thread, back } = await takenBack();
    await thread.run();
    const effects = await choices(thread.rollBack(back), (name) => (name === 'send' ? 'compensate' : 'redo'));
    await thread.rollBack(back, { effects });
    expect(world.calledBack).toHaveLength(1);
    await thread.run();
    await thread.rollBack(back, { effects: await choices(thread.rollBack(back), () => 'redo') });
    await thread.run();
    expect([world.sent.length, world.calledBack.length]).toEqual([3, 1]);
  });

  test('[B12c, B4e] a result that was passed on, whose call was undone since, is no receipt', async () => {
    const { world, thread, before } = await takenBack();
    await thread.run();
    const published = ({ position }: CheckpointInfo) => position.next[0]?.node === 'publish';
    const passedOn = nth((await thread.checkpoints()).filter(published), 0).id; // the newest
    const undo = (name: string) => (name === 'send' ? 'compensate' : 'redo');
    await thread.rollBack(before, { effects: await choices(thread.rollBack(before), undo) });
    await thread.rollBack(passedOn);
    const effects = await choices(thread.rollBack(before), () => 'reuse');
    expect(Object.keys(effects)).toHaveLength(1);
    await thread.rollBack(before, { effects });
    expect(await thread.run()).toMatchObject({ end: 'failed', failure: { code: 'effect_compensated' } });
    expect([world.sent.length, world.calledBack.length]).toEqual([1, 1]);
  });

  test('[B12c] after a run that did not use what was on offer asks about it', async () => {
    const { world, thread, back } = await takenBack();
    await thread.cancel();
    await thread.run();
    const effects = await choices(thread.rollBack(back), () => 'reuse');
    expect(Object.keys(effects)).toHaveLength(2);
    await thread.rollBack(back, { effects });
    await thread.run();
    expect([world.sent.length, world.posted.length]).toEqual([1, 1]);
  });

  test('[B12c] to a checkpoint that has the mail in its state asks about none, and offers none', async () => {
    const { world, thread } = await takenBack();
    await thread.run();
    const [published] = (await thread.checkpoints()).filter(({ position }) => position.next[0]?.node === 'publish');
    const id = published?.id ?? (await beforeNode(thread, 'publish'));
    const effects = await choices(thread.rollBack(id), () => 'redo');
    await thread.rollBack(id, { effects });
    await thread.run();
    expect([world.sent.length, world.posted.length]).toEqual([1, 2]);
  });
});

test('[B12c, B4e] a result that a step was given, which a cancel cut off, is asked about once and undone once', async () => {
  const undone: string[] = [];
  const sent: string[] = [];
  const send = tool({
    name: 'send',
    description: 'Sends',
    input: z.object({}),
    effect: 'once',
    run: (_, { effectKey }) => {
      sent.push(effectKey);
      return effectKey;
    },
    compensate: (_, { effectKey }) => void undone.push(effectKey),
  });
  const agent = defineAgent({
    name: 'sender',
    version: 1,
    state: { n: value(z.number(), 0) },
    tools: { send },
    start: 'go',
    nodes: {
      go: async (_, { call, ask, end }) => {
        await call('send', {});
        await ask('And now?');
        return end();
      },
    },
  });
  const thread = await new Scene({ agent }).begun({ n: 1 });
  await thread.run();
  const target = await beforeNode(thread, 'go');
  await thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'reuse') });
  await thread.run();
  await thread.cancel();
  await thread.run();

  const effects = await choices(thread.rollBack(target), () => 'compensate');
  expect(Object.keys(effects)).toHaveLength(1);
  await thread.rollBack(target, { effects });
  expect([sent.length, undone.length]).toEqual([1, 1]);
});

test('[B12c] what is to be reused behind the end of a run is given to the calls of the next one, and to no later one', async () => {
  const world = new TravelWorld();
  const thread = await world.done({ name: 'ann' });
  const ended = (await head(thread)).id;
  await thread.send({ name: 'bob' });
  await thread.run();
  expect([world.sent.length, world.posted.length]).toEqual([2, 2]);
  await thread.rollBack(ended, { effects: await choices(thread.rollBack(ended), () => 'reuse') });
  await thread.send({ name: 'bob' });
  expect(await thread.run()).toEqual({ end: 'done' });
  expect([world.sent.length, world.posted.length, world.model.calls.length]).toEqual([2, 2, 2]);
  await thread.send({ name: 'bob' });
  await thread.run();
  expect(world.sent).toHaveLength(3);
});
