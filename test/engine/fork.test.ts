import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { Engine } from '../../src/engine/engine.ts';
import { log, value } from '../../src/model/fields.ts';
import { FileRef } from '../../src/model/file-ref.ts';
import type { ThreadId } from '../../src/model/ids.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { head, nth, only, plainState } from './support.ts';
import { beforeNode, choices, TravelWorld } from './travel-agent.ts';

function engineOf(world: TravelWorld): Promise<Engine> {
  return world.scene.world.engine({ agent: world.agent, model: world.model });
}

/** A thread that is done, a checkpoint in its middle, and the choices that forking there needs. */
async function givenSource() {
  const world = new TravelWorld();
  const source = await world.done();
  const at = await beforeNode(source, 'mail');
  const effects = await choices(source.fork(at, { id: 'fork' }), () => 'redo');
  const engine = await engineOf(world);
  return { world, source, at, effects, engine };
}

describe('a fork', () => {
  test('[B12d] is a new thread that begins with the state of the checkpoint, and runs on by itself', async () => {
    const { world, source, at, effects, engine } = await givenSource();
    const before = [await source.row(), await source.checkpoints()];
    await source.fork(at, { id: 'fork', effects });
    const fork = engine.thread('fork');

    expect(await head(fork)).toMatchObject({ parent: null, sequence: 0, kind: 'snapshot', cause: 'forked' });
    expect(await plainState(fork)).toMatchObject({ name: 'ann', round: 1, notes: ['thought of mail to ann'] });
    expect((await fork.row())?.status).toBe('running');
    expect(await fork.run()).toEqual({ end: 'done' });
    expect(world.sent).toHaveLength(2);
    expect([await source.row(), await source.checkpoints()]).toEqual(before);
  });

  test('[B12d] begins with the edited state', async () => {
    const { world, source, at, effects, engine } = await givenSource();
    await source.fork(at, { id: 'fork', effects, edit: { name: 'bob', round: 5, notes: ['edited'] } });
    const fork = engine.thread('fork');

    expect(await plainState(fork)).toMatchObject({
      name: 'bob',
      round: 6,
      notes: ['thought of mail to ann', 'edited'],
    });
    await fork.run();
    expect(world.sent.at(-1)).toBe('bob: edited');
  });

  test('[B12d, A11b] has an incarnation and a key of its own: nothing in it opens with the source’s', async () => {
    const { source, at, effects, engine, world } = await givenSource();
    await source.fork(at, { id: 'fork', effects });
    const { keyRing, store } = await world.scene.world.ports();
    const [from, to] = [await source.row(), await engine.thread('fork').row()];
    if (from === undefined || to === undefined) throw new Error('both are there');
    const [record] = await store.range('checkpoints', to.thread, {});
    const [codec, own] = await Promise.all([from, to].map((row) => keyRing.openThread(row.thread, row.incarnation)));
    if (record === undefined) throw new Error('it has a checkpoint');

    expect(to.incarnation).not.toBe(from.incarnation);
    await expect(codec?.openRecord('checkpoints', record)).rejects.toMatchObject({ code: 'record_damaged' });
    expect((await own?.openRecord('checkpoints', record))?.plaintext.length).toBeGreaterThan(100);
  });

  test('[B12d] needs nothing of its source: it lives on when that is deleted', async () => {
    const { source, at, effects, engine, world } = await givenSource();
    await source.fork(at, { id: 'fork', effects });
    const row = await source.row();
    if (row === undefined) throw new Error('it is there');
    await world.scene.world.store().deleteThread(row.thread, row.incarnation, 1);

    expect(await engine.thread('fork').run()).toEqual({ end: 'done' });
    expect((await plainState(engine.thread('fork'))).notes).toHaveLength(4);
  });

  test('[B12d] takes long logs, large values and files along', async () => {
    const world = new TestWorld();
    const agent = defineAgent({
      name: 'keeper',
      version: 1,
      state: { big: value(z.string(), ''), file: value(z.unknown(), null), lines: log(z.string()) },
      start: 'go',
      nodes: { go: (_state, { end }) => end({}) },
    });
    const engine = await world.engine({ agent });
    const source = engine.thread('source');
    const lines = Array.from({ length: 300 }, (_, n) => (n % 100 === 7 ? `${n} ${'x'.repeat(9_000)}` : `line ${n}`));
    const bytes = new Uint8Array(200_000).fill(7);
    await source.send({ big: 'b'.repeat(150_000), file: FileRef.from({ name: 'a.bin', bytes }), lines });
    await source.run();
    await source.fork((await head(source)).id, { id: 'fork', edit: { lines: ['last'] } });
    const state = await plainState(engine.thread('fork'));

    expect(state.lines).toEqual([...lines, 'last']);
    expect(state.big).toBe('b'.repeat(150_000));
    expect(await (state.file as FileRef).bytes()).toEqual(bytes);
  });

  test('[B12d] writes what is large in pieces before it is visible', async () => {
    const world = new TravelWorld();
    const source = await world.scene.begun({ notes: Array.from({ length: 500 }, (_, n) => `note ${n}`) });
    await source.run();
    const sizes: number[] = [];
    const store = world.scene.world.store();
    const create = store.createThread.bind(store);
    store.createThread = (row, commit, records, conditions) => {
      sizes.push(records.length);
      return create(row, commit, records, conditions);
    };
    const watched = await world.scene.open({ store });
    await watched.fork((await head(source)).id, { id: 'fork' });

    expect(sizes).toEqual([2]); // the checkpoint and its events
  });

  test('[B12d] owes nothing and was granted nothing: no waits, no usage, no inputs taken', async () => {
    const { source, at, effects, engine } = await givenSource();
    await source.fork(at, { id: 'fork', effects });

    expect((await head(engine.thread('fork'))).control).toMatchObject({
      waits: [],
      grants: [],
      usage: { inputTokens: 0, outputTokens: 0 },
      inboxTaken: 0,
      ledger: { count: 0 },
      past: { origin: { thread: 'thread', checkpoint: at } },
    });
  });

  test('[B12d] takes new input as any thread does', async () => {
    const { source, engine } = await givenSource();
    await source.fork((await head(source)).id, { id: 'fork' });
    const fork = engine.thread('fork');
    await fork.send({ name: 'bob' });

    expect(await fork.run()).toEqual({ end: 'done' });
    expect((await plainState(fork)).notes).toHaveLength(8);
  });

  test('[B12d] can be forked and rolled back itself', async () => {
    const { source, at, effects, engine } = await givenSource();
    await source.fork(at, { id: 'fork', effects });
    const fork = engine.thread('fork');
    await fork.run();
    await fork.fork((await head(fork)).id, { id: 'fork of the fork' });
    const target = nth(await fork.checkpoints(), -1).id;
    await fork.rollBack(target, { effects: await choices(fork.rollBack(target), () => 'reuse') });

    expect(await fork.run()).toEqual({ end: 'done' });
    expect((await plainState(engine.thread('fork of the fork'))).notes).toHaveLength(4);
  });
});

describe('the source’s effects', () => {
  test('[B12d] each that it has had since needs a choice, also those of later steps', async () => {
    const { source, at } = await givenSource();
    await expect(source.fork(at, { id: 'fork' })).rejects.toMatchObject({
      code: 'choice_needed',
      details: { effects: [{ name: 'send' }, { name: 'post' }] },
    });
  });

  test('[B12d] `reuse` gives the fork the recorded result, from a ledger of its own', async () => {
    const { world, source, at, engine } = await givenSource();
    const effects = await choices(source.fork(at, { id: 'fork' }), (name) => (name === 'send' ? 'reuse' : 'redo'));
    const [send] = (await source.effects()).filter(({ name }) => name === 'send');
    await source.fork(at, { id: 'fork', effects });
    const fork = engine.thread('fork');
    await fork.run();

    expect(world.sent).toHaveLength(1);
    expect(world.posted).toEqual(['1', '1']);
    expect((await plainState(fork)).notes).toMatchObject({ 1: `sent ${send?.key}` });
    const { after } = await source.compare('fork');
    expect(after.effects).toMatchObject([
      { name: 'send', status: 'succeeded', count: 1, reused: 1 },
      { name: 'look', count: 1 },
      { name: 'post', count: 1, reused: 0 },
    ]);
  });

  test('[B12d] an effect in doubt needs a person, wherever it is', async () => {
    const world = new TravelWorld();
    world.onSend = () => new Promise(() => undefined);
    const source = await world.scene.begun({ name: 'ann' });
    void source.run();
    await world.scene.clock.whenAsleep((ms) => ms === 60_000);
    const first = await beforeNode(source, 'think');
    const reader = await world.scene.open();

    await expect(reader.fork(first, { id: 'fork' })).rejects.toMatchObject({
      details: { effects: [{ name: 'scripted' }, { name: 'send', status: 'in_doubt' }] },
    });
    source.stop();
  });

  test('[B12d] a fork undoes nothing of its source', async () => {
    const { source, at } = await givenSource();
    const effects = await choices(source.fork(at, { id: 'fork' }), () => 'compensate');
    await expect(source.fork(at, { id: 'fork', effects })).rejects.toMatchObject({ code: 'choice_invalid' });
  });

  test('[B12d] of a lineage that was left: the fork still asks for its calls', async () => {
    const { source, at } = await givenSource();
    await source.rollBack(at, { effects: await choices(source.rollBack(at), () => 'redo') });
    await expect(source.fork(at, { id: 'fork' })).rejects.toMatchObject({
      details: { effects: [{ name: 'send' }, { name: 'post' }] },
    });
  });
});

describe('forking again', () => {
  test('[B12d] with the same id leaves the fork as it is', async () => {
    const { source, at, effects, engine } = await givenSource();
    await source.fork(at, { id: 'fork', effects });
    await engine.thread('fork').run();
    const row = await engine.thread('fork').row();
    await source.fork(at, { id: 'fork', effects });

    expect(await engine.thread('fork').row()).toEqual(row);
    expect(only((await source.inspect(at)).forks)?.thread).toBe('fork');
  });

  test('[B12d] at the same time from two tabs makes one thread', async () => {
    const { source, at, effects, engine, world } = await givenSource();
    const other = await world.scene.open();
    await Promise.all([source, other].map((thread) => thread.fork(at, { id: 'fork', effects })));

    expect(await engine.thread('fork').run()).toEqual({ end: 'done' });
    expect((await plainState(engine.thread('fork'))).notes).toHaveLength(4);
  });

  test('[B12d] after the fork was deleted makes another one', async () => {
    const { source, at, effects, engine, world } = await givenSource();
    await source.fork(at, { id: 'fork', effects });
    const row = await engine.thread('fork').row();
    if (row === undefined) throw new Error('it is there');
    await world.scene.world.store().deleteThread(row.thread, row.incarnation, 1);
    await source.fork(at, { id: 'fork', effects });
    const again = await (await engineOf(world)).thread('fork').row();

    expect(again?.incarnation).not.toBe(row.incarnation);
    expect(again?.epoch.local).toBeGreaterThan(row.epoch.local);
    expect(await (await engineOf(world)).thread('fork').run()).toEqual({ end: 'done' });
  });

  test('[B12d] onto another thread, or another checkpoint’s fork, is refused', async () => {
    const { source, at, effects, engine } = await givenSource();
    await engine.thread('other').send({});
    const last = await head(source);
    await source.fork(last.id, { id: 'fork' });

    for (const id of ['other', 'fork', 'thread']) {
      await expect(source.fork(at, { id, effects })).rejects.toMatchObject({ code: 'thread_exists' });
    }
  });
});

describe('what cannot be forked', () => {
  test.each([
    ['', 'thread_id_invalid'],
    [7, 'thread_id_invalid'],
    ['x'.repeat(1_025), 'thread_id_invalid'],
  ])('[B12d] the id %j is refused', async (id, code) => {
    const { source, at, effects } = await givenSource();
    await expect(source.fork(at, { id: id as string, effects })).rejects.toMatchObject({ code });
  });

  test.each([
    [{ round: 'many' }, 'state_invalid'],
    [{ other: 1 }, 'field_unknown'],
    [{ facts: { run: () => 1 } }, 'value_not_storable'],
    [null, 'state_invalid'],
  ])('[B12d] the edit %j is refused, and nothing is left behind', async (edit, code) => {
    const { source, at, effects, engine, world } = await givenSource();
    await expect(source.fork(at, { id: 'fork', effects, edit: edit as object })).rejects.toMatchObject({ code });

    expect((await source.inspect(at)).forks).toEqual([]);
    const { keyRing, store } = await world.scene.world.ports();
    expect(await store.range('wraps', await keyRing.threadHash('default', 'fork' as ThreadId), {})).toEqual([]);
    expect(await engine.threads()).toHaveLength(1);
  });

  test('[B12d] an unknown checkpoint and an unknown effect are refused', async () => {
    const { source, at, effects } = await givenSource();
    await expect(source.fork('nonsense' as never, { id: 'fork' })).rejects.toMatchObject({
      code: 'checkpoint_unknown',
    });
    await expect(source.fork(at, { id: 'fork', effects: { ...effects, x: 'redo' } })).rejects.toMatchObject({
      code: 'choice_unknown',
    });
  });
});

describe('two threads compared', () => {
  test('[B12e] both lines are run: what they hold, and what each did', async () => {
    const { source, at, effects, engine } = await givenSource();
    await source.fork(at, { id: 'fork', effects, edit: { name: 'bob' } });
    await engine.thread('fork').run();
    const { fields, before, after } = await source.compare('fork');

    expect(fields.map(({ field }) => field).sort()).toEqual(['name', 'notes']);
    expect(fields.find(({ field }) => field === 'name')).toMatchObject({ changes: [{ before: 'ann', after: 'bob' }] });
    expect(fields.find(({ field }) => field === 'notes')).toMatchObject({
      common: 1,
      before: { count: 3 },
      after: { count: 3 },
    });
    expect(before).toMatchObject({ thread: 'thread', status: 'done', usage: { outputTokens: 3 } });
    expect(before.effects.map(({ name, count }) => [name, count])).toEqual([
      ['scripted', 1],
      ['send', 1],
      ['look', 1],
      ['post', 1],
    ]);
    expect(after).toMatchObject({
      thread: 'fork',
      visits: { think: 1, mail: 1, publish: 1, finish: 1 },
      usage: { outputTokens: 0 },
    });
    expect(after.effects.map(({ name }) => name)).toEqual(['send', 'look', 'post']);
  });

  test('[B12e] two forks of one checkpoint have in common what they were forked with', async () => {
    const { source, at, effects, engine } = await givenSource();
    await source.fork(at, { id: 'one', effects, edit: { notes: ['a', 'b'] } });
    await source.fork(at, { id: 'two', effects, edit: { notes: ['a'] } });
    const { fields } = await engine.thread('one').compare('two');

    expect(fields.find(({ field }) => field === 'notes')).toMatchObject({
      common: 1,
      before: { items: ['a', 'b'] },
      after: { items: ['a'] },
    });
  });

  test('[B12e] a fork is compared with its source from either side', async () => {
    const { source, at, effects, engine } = await givenSource();
    await source.fork(at, { id: 'fork', effects });
    const { fields } = await engine.thread('fork').compare('thread');

    expect(fields.find(({ field }) => field === 'notes')).toMatchObject({
      common: 1,
      before: { count: 0 },
      after: { count: 3 },
    });
  });

  test.each([
    ['nobody', 'thread_unknown'],
    ['', 'thread_id_invalid'],
  ])('[B12e] with %j is refused', async (id, code) => {
    const { source } = await givenSource();
    await expect(source.compare(id)).rejects.toMatchObject({ code });
  });
});
