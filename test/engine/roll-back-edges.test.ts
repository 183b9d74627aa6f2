import { expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import type { CheckpointId } from '../../src/model/ids.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { askingAgent } from './asking-agent.ts';
import { answer, head, nth, only, Scene } from './support.ts';
import { beforeNode, choices, TravelWorld } from './travel-agent.ts';

test('[B12c, I7] asked for again after a compensation failed, it undoes what it still owes', async () => {
  const world = new TravelWorld();
  const thread = await world.done();
  const target = await beforeNode(thread, 'mail');
  const effects = await choices(thread.rollBack(target), (name) => (name === 'send' ? 'compensate' : 'redo'));
  world.refusals = 1;
  await expect(thread.rollBack(target, { effects })).rejects.toMatchObject({ code: 'compensation_failed' });
  const made = await thread.rollBack(target, { effects });

  expect(world.calledBack).toHaveLength(1);
  expect((await thread.checkpoints()).filter(({ cause }) => cause === 'rolled_back').map(({ id }) => id)).toEqual([
    made,
  ]);
});

test('[B12c] a record of the ledger that is lost may have been any call: passing over it needs a choice', async () => {
  const world = new TravelWorld();
  const thread = await world.done();
  world.scene.lose('ledger', (key) => key === '0000000002.i');
  const target = await beforeNode(thread, 'mail');

  await expect(thread.rollBack(target)).rejects.toMatchObject({
    code: 'choice_needed',
    details: { effects: [{ key: 'lost:2', effectClass: 'once', status: 'in_doubt' }, { name: 'post' }] },
  });
  const reuse = await choices(thread.rollBack(target), () => 'reuse');
  await expect(thread.rollBack(target, { effects: reuse })).rejects.toMatchObject({ code: 'choice_invalid' });
  await expect(thread.rollBack(target, { effects: { ...reuse, 'lost:2': 'compensate' } })).rejects.toMatchObject({
    code: 'choice_invalid',
    details: { effect: 'lost:2', problem: 'what it was is not known' },
  });
});

test('[B12c] what its tool has undone already cannot be undone once more', async () => {
  const world = new TravelWorld();
  world.onSend = () => {
    throw new Error('the line went dead');
  };
  const thread = await world.done();
  expect((await head(thread)).control.failure?.code).toBe('effect_compensated');
  const target = await beforeNode(thread, 'think');

  const effects = await choices(thread.rollBack(target), (name) => (name === 'send' ? 'compensate' : 'redo'));
  await expect(thread.rollBack(target, { effects })).rejects.toMatchObject({
    code: 'choice_invalid',
    details: { name: 'send', problem: 'it was undone already' },
  });
  expect(world.calledBack).toHaveLength(1);
});

test('[B12c] the salt of the step ids is a new one', async () => {
  const thread = await new TravelWorld().done();
  const was = await head(thread);
  await thread.rollBack(await beforeNode(thread, 'finish'));

  expect((await head(thread)).control.lineage).not.toBe(was.control.lineage);
});

test('[B12b] two lineages that were left at the same place have in common only what was before it', async () => {
  const thread = await new TravelWorld().done();
  const target = await beforeNode(thread, 'publish');
  const sides = [];
  for (const note of ['one', 'two']) {
    await thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'redo').catch(() => ({})) });
    sides.push(await thread.edit({ notes: [note] }));
  }
  const [a, b] = [nth(sides, 0), nth(sides, 1)];

  expect(await thread.diff(a, b)).toMatchObject([{ common: 2, before: { items: ['one'] }, after: { items: ['two'] } }]);
});

test('[B12d] a fork is granted nothing', async () => {
  const { agent } = askingAgent({ to: ['ann'] });
  const scene = new Scene({ agent });
  const thread = await scene.begun();
  await thread.run();
  await answer(thread, only(await thread.waits()), { decision: 'allow', forThread: true });
  await thread.run();
  await thread.fork((await head(thread)).id, { id: 'fork' });
  const fork = (await scene.world.engine({ agent })).thread('fork');

  expect((await head(thread)).control.grants).toEqual(['send']);
  expect((await head(fork)).control.grants).toEqual([]);
});

test('[B12d] a fork asks for calls that are under way', async () => {
  const world = new TravelWorld();
  world.onSend = () => new Promise(() => undefined);
  const source = await world.scene.begun({ name: 'ann' });
  void source.run();
  await world.scene.clock.whenAsleep((ms) => ms === 60_000);

  await expect(source.fork(await beforeNode(source, 'think'), { id: 'fork' })).rejects.toMatchObject({
    details: { effects: [{ name: 'scripted' }, { name: 'send', status: 'in_progress' }] },
  });
  source.stop();
});

test('[B12c, I6] a result that was to be reused and is lost is not forgotten by going back once more: its call is not made again', async () => {
  const world = new TravelWorld();
  const thread = await world.done();
  const target = await beforeNode(thread, 'mail');
  await thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'reuse') });
  world.scene.lose('ledger', (key) => key === '0000000002.i');
  await thread.edit({ round: 1 });

  expect(await thread.run()).toMatchObject({ end: 'blocked', error: { code: 'record_missing' } });
  expect(world.sent).toHaveLength(1);
  await thread.edit({}, { effects: { 'lost:2': 'redo' } });
  expect(await thread.run()).toEqual({ end: 'done' });
});

test('[B15a, B12c] a thread that newer code ran is not taken back, nor edited, by an older version', async () => {
  const of = (version: number) =>
    defineAgent({
      ...{ name: 'aging', version, state: { said: log(z.string()) }, start: 'go' },
      nodes: { go: (_state, { end }) => end({ said: [`version ${version}`] }) },
    });
  const scene = new Scene({ agent: of(2) });
  const thread = await scene.begun();
  await thread.run();
  const [newest, root] = await thread.checkpoints();

  const older = await scene.open({ agent: of(1) });
  const refused = { code: 'agent_too_old', details: { agentVersion: 2, version: 1 } };
  await expect(older.rollBack(root?.id as CheckpointId)).rejects.toMatchObject(refused);
  await expect(older.edit({ said: ['edited'] })).rejects.toMatchObject(refused);
  expect((await thread.row())?.head).toBe(newest?.id);
});
