/** Work lost in storage, as people reported it of other projects (FIELD-NOTES, 43 and the last section). */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { Checkpointer } from '../../src/checkpointer/checkpointer.ts';
import { type Log, log, value } from '../../src/model/fields.ts';
import { type Table, tables } from '../../src/model/records.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { storeErrors } from '../../src/store/errors.ts';
import { type Cut, CuttingStore, Life } from '../../src/testing/cutting-store.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { answer, only, plainState, quiet, Scene, withMethods } from '../engine/support.ts';
import { settled } from '../host/acting-agent.ts';
import { Workers } from '../host/workers.ts';
import { keeper } from './chat-agent.ts';

describe('two tabs', () => {
  test('[A3c, B14b] the last one does not overwrite all, as reported for BetterChatGPT 591: its old state is refused', async () => {
    const world = new TestWorld();
    const open = async () => new Checkpointer<{ chats: readonly string[] }>(await world.ports());
    const [left, right] = [await open(), await open()];
    await left.save('chats', { chats: ['old'] });
    await right.load('chats');
    await left.save('chats', { chats: ['old', 'written in the left tab'] });

    await expect(right.save('chats', { chats: ['old', 'right'] })).rejects.toMatchObject({ code: 'head_moved' });
    expect(await (await open()).load('chats')).toEqual({ chats: ['old', 'written in the left tab'] });
  });

  test('[B14a, B14c] the second one does not corrupt the thread, as reported for big-AGI 268: each step is committed once', async () => {
    const agent = defineAgent({
      name: 'counter',
      version: 1,
      state: { said: log(z.number()) },
      start: 'count',
      nodes: {
        count: ({ said }, { goto, end }) => (said.length < 20 ? goto('count', { said: [said.length] }) : end()),
      },
    });
    const scene = new Scene({ agent });
    await scene.begun();
    const ends = await Promise.all([(await scene.open()).run(), (await scene.open()).run()]);

    expect(ends.map(({ end }) => end).sort()).toEqual(['done', 'lost']);
    const thread = await scene.open();
    expect(await plainState(thread)).toEqual({ said: Array.from({ length: 20 }, (_, n) => n) });
    const checkpoints = await thread.checkpoints({ limit: 100 });
    expect(checkpoints.map(({ sequence }) => sequence)).toEqual(
      checkpoints.map((_, at, { length }) => length - 1 - at),
    );
    for (const { id } of checkpoints) {
      const said = await ((await thread.state(id)).said as Log<number>).slice(0);
      expect(said).toEqual(said.map((_, n) => n));
    }
  });

  test('[B11a, B14a] two runs at once lose no turn, as measured for LangGraph', async () => {
    const workers = new Workers(keeper);
    const tabs = [await workers.start(), await workers.start(), await workers.start()];
    const turns = Array.from({ length: 12 }, (_, n) => `turn ${n}`);
    await Promise.all(turns.map((text, n) => tabs[n % 3]?.send('t', { text }, text)));
    await settled();
    await settled();

    const thread = (await workers.engine()).thread('t');
    expect([...((await plainState(thread)).said as string[])].sort()).toEqual([...turns].sort());
  });
});

describe('a disk that is full', () => {
  const full = () => Promise.reject(storeErrors.make('quota_exceeded', { operation: 'commit' }));

  async function sessions(world: TestWorld) {
    const engine = await world.engine({ agent: keeper });
    return Promise.all(['one', 'two', 'three'].map((id) => plainState(engine.thread(id))));
  }

  test('[A15d, I10] wipes no session, as reported for Cherry Studio 15423: all are there, and go on when there is space', async () => {
    const world = new TestWorld();
    const engine = await world.engine({ agent: keeper });
    for (const id of ['one', 'two', 'three']) {
      await engine.thread(id).send({ text: `said in ${id}` });
      await engine.thread(id).run();
    }
    const before = await sessions(world);
    const onFull = (await world.engine({ agent: keeper }, withMethods(world.store(), { commit: full }))).thread('one');
    const attempt = onFull.send({ text: 'more' }, 'more').catch(({ code }: { code: string }) => code);
    for (const ms of [50, 250, 1_000]) await passing(world, ms);

    expect(await attempt).toBe('quota_exceeded');
    expect(await sessions(world)).toEqual(before);
    const thread = (await world.engine({ agent: keeper })).thread('one');
    await thread.send({ text: 'more' }, 'more');
    expect(await thread.run()).toEqual({ end: 'done' });
    expect((await plainState(thread)).said).toEqual(['said in one', 'more']);
  });

  test('[I1, A15d] nothing says saved although the write failed: the promise rejects, and no later reader finds it', async () => {
    const scene = new Scene({ agent: keeper });
    await (await scene.begun({ text: 'first' })).run();
    const thread = await scene.open({ store: withMethods(scene.world.store(), { commit: full }) });
    const saved = thread.send({ text: 'lost?' }, 'id').then(
      () => 'saved',
      ({ code }: { code: string }) => code,
    );
    for (const ms of [50, 250, 1_000]) await passing(scene.world, ms);

    expect(await saved).toBe('quota_exceeded');
    const later = await scene.open();
    expect(await later.run()).toEqual({ end: 'done' });
    expect((await plainState(later)).said).toEqual(['first']);
  });
});

/** Lets the pause before the next try pass, if there is one. */
async function passing(world: TestWorld, ms: number): Promise<void> {
  await quiet();
  world.clock.advance(ms);
  await quiet();
}

test('[A10c, I7] a migration that is cut off at any moment loses no message, as reported for llama.cpp 24151', async () => {
  const old = defineAgent({
    name: 'chat',
    version: 1,
    state: { text: value(z.string(), ''), messages: log(z.string()) },
    start: 'keep',
    nodes: { keep: ({ text }, { end }) => end({ messages: [text] }) },
  });
  const message = z.object({ id: z.number(), text: z.string() });
  const young = defineAgent({
    name: 'chat',
    version: 2,
    stateVersion: 2,
    state: { text: value(z.string(), ''), messages: log(message) },
    migrations: {
      2: async ({ text, messages }) => {
        const texts = await (messages as { slice(from: number): Promise<readonly string[]> }).slice(0);
        return { text, messages: texts.map((each, id) => ({ id, text: each })) };
      },
    },
    start: 'keep',
    nodes: { keep: ({ text, messages }, { end }) => end({ messages: [{ id: messages.length, text }] }) },
  });
  const texts = Array.from({ length: 40 }, (_, n) => `message ${n}`);
  const live = async (cut?: Cut) => {
    const scene = new Scene({ agent: old });
    const before = await scene.begun({ messages: texts.slice(0, -1), text: texts.at(-1) });
    await before.run();
    const life = new Life(cut);
    const store = new CuttingStore(scene.world.store(), life);
    const migrated = (async () => {
      const thread = await scene.open({ agent: young, store });
      await thread.send({ text: 'new' }, 'new');
      return thread.run();
    })();
    await Promise.race([migrated, life.death]);
    const thread = await scene.open({ agent: young });
    await thread.send({ text: 'new' }, 'new');
    const end = await thread.run();
    const { messages } = await plainState(thread);
    const first = await thread.checkpoints({ limit: 100 });
    return { operations: life.operations, end, messages, versions: first.map(({ stateVersion }) => stateVersion) };
  };
  const { operations } = await live();
  const expected = [...texts, 'new'].map((text, id) => ({ id, text }));

  expect(operations).toBeGreaterThan(5);
  for (let at = 1; at <= operations; at += 1) {
    for (const side of ['before', 'after'] as const) {
      const { end, messages, versions } = await live({ at, side });
      expect({ at, side, end, messages }).toEqual({ at, side, end: { end: 'done' }, messages: expected });
      expect(versions).toEqual([2, 2, 2, 1, 1]);
    }
  }
});

test('[B15a, I10] a renamed node is an error that names it, not a run that does nothing, as measured for LangGraph', async () => {
  const about = { name: 'renamed', version: 1, state: { said: log(z.string()) }, start: 'ask' } as const;
  const was = defineAgent({
    ...about,
    nodes: {
      ask: (_state, { goto }) => goto('decide'),
      decide: async (_state, { ask, end }) => end({ said: [await ask<string>('well?')] }),
    },
  });
  const is = defineAgent({
    ...about,
    nodes: {
      ask: (_state, { goto }) => goto('choose'),
      choose: async (_state, { ask, end }) => end({ said: [await ask<string>('well?')] }),
    },
  });
  const scene = new Scene({ agent: was });
  const thread = await scene.begun();
  expect(await thread.run()).toEqual({ end: 'waiting' });
  await answer(thread, only(await thread.waits()), { decision: 'reply', value: 'yes' });
  const before = await scene.stored('checkpoints');

  expect(await (await scene.open({ agent: is })).run()).toMatchObject({
    end: 'blocked',
    error: { code: 'node_unknown', details: { node: 'decide', version: 1, known: '"ask", "choose"' } },
  });
  expect(await scene.stored('checkpoints')).toEqual(before);
  expect(await (await scene.open()).run()).toEqual({ end: 'done' });
  expect(await plainState(thread)).toEqual({ said: ['yes'] });
});

test('[I8] a thread of 1,000 steps of 1 KB stays small, as measured otherwise for LangGraph (624.7 MB)', async () => {
  const random = seededRandom(7);
  const kilobyte = () => Array.from(random.bytes(512), (byte) => byte.toString(16).padStart(2, '0')).join('');
  const agent = defineAgent({
    name: 'long',
    version: 1,
    maxSteps: 2_000,
    state: { messages: log(z.string()) },
    start: 'turn',
    nodes: {
      turn: ({ messages }, { goto, end }) =>
        messages.length === 1_000 ? end() : goto('turn', { messages: [kilobyte()] }),
    },
  });
  const scene = new Scene({ agent });
  const thread = await scene.begun();

  expect(await thread.run()).toEqual({ end: 'done' });
  let bytes = 0;
  const count = async (table: Table) => {
    for (const { key, plain, body } of await scene.stored(table)) {
      bytes += key.length + JSON.stringify(plain ?? {}).length + body.length;
    }
  };
  for (const table of tables) await count(table);
  // 1.62 times what the steps said; with a snapshot after each step it would be 1.91.
  expect(bytes / (1_000 * 1_024)).toBeLessThan(1.75);
});
