import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { EngineThread } from '../../src/engine/engine-thread.ts';
import { type Fields, type Log, log, value } from '../../src/model/fields.ts';
import { type AnyAgent, defineAgent } from '../../src/program/agent.ts';
import type { Migrations } from '../../src/program/migration.ts';
import { answer, head, only, plainState, Scene } from './support.ts';

type Items = readonly string[];

/** One agent through its versions: `name` becomes `names`, then a number is counted, and so on. */
const shapes: readonly Fields[] = [
  { name: value(z.string(), ''), lines: log(z.string()) },
  { names: value(z.array(z.string()), []), lines: log(z.string()) },
  { names: value(z.array(z.string()), []), lines: log(z.string()), count: value(z.number(), 0) },
  { names: value(z.set(z.string()), new Set<string>()), lines: log(z.string()), count: value(z.number(), 0) },
  { names: value(z.set(z.string()), new Set<string>()), words: log(z.string()), count: value(z.number(), 0) },
  { people: value(z.number(), 0), words: log(z.string()) },
];

const migrations: Migrations = {
  2: ({ name, ...rest }) => ({ ...rest, names: [name] }),
  3: (state) => ({ ...state, count: (state.names as Items).length }),
  4: (state) => ({ ...state, names: new Set(state.names as Items) }),
  5: async ({ lines, ...rest }) => ({
    ...rest,
    words: (await (lines as Log<string>).slice(0)).map((line) => line.toUpperCase()),
  }),
  6: ({ count, words }) => ({ people: count, words }),
};

function agentOf(version: number, given: Migrations = migrations, shape = shapes[version - 1] ?? {}): AnyAgent {
  const needed = Object.entries(given).filter(([to]) => Number(to) <= version);
  return defineAgent({
    name: 'changing',
    version,
    stateVersion: version,
    state: shape,
    migrations: Object.fromEntries(needed),
    start: 'go',
    nodes: {
      go: (state, { end }) => end({ ['lines' in state ? 'lines' : 'words']: [`line of ${version}`] } as never),
    },
  });
}

/** A thread that version 1 has run. */
async function givenOld() {
  const scene = new Scene({ agent: agentOf(1) });
  const thread = await scene.begun({ name: 'ann' });
  await thread.run();
  return scene;
}

describe('a state of an older version', () => {
  test.each([2, 3, 4, 5, 6])('[A10c] passes through all migrations up to version %i', async (version) => {
    const scene = await givenOld();
    const thread = await scene.open({ agent: agentOf(version) });
    await thread.send({});
    expect(await thread.run()).toEqual({ end: 'done' });
    const lines = version < 5 ? ['line of 1', `line of ${version}`] : ['LINE OF 1', `line of ${version}`];
    const expected = [
      { names: ['ann'], lines },
      { names: ['ann'], lines, count: 1 },
      { names: new Set(['ann']), lines, count: 1 },
      { names: new Set(['ann']), words: lines, count: 1 },
      { people: 1, words: lines },
    ];
    expect(await plainState(thread)).toEqual(expected[version - 2]);
    expect(await plainState(await scene.open({ agent: agentOf(version) }))).toEqual(expected[version - 2]);
  });

  test('[A10c, B12d] is migrated before it is edited: nothing of what the edit leaves alone is lost', async () => {
    const scene = await givenOld();
    const thread = await scene.open({ agent: agentOf(5) });
    await thread.edit({ words: ['edited'] });
    const expected = { names: new Set(['ann']), words: ['LINE OF 1', 'edited'], count: 1 };
    expect(await plainState(thread)).toEqual(expected);
    expect((await thread.checkpoints({ limit: 2 })).map(({ cause }) => cause)).toEqual(['edited', 'migrated']);
    expect(await plainState(await scene.open({ agent: agentOf(5) }))).toEqual(expected);
  });

  test('[A10c, B12d] is migrated before a fork of it is edited: the edit is what the fork begins with', async () => {
    const scene = await givenOld();
    const source = await scene.open({ agent: agentOf(5) });
    const { id } = await head(source);
    await source.fork(id, { id: 'fork', edit: { words: ['edited'], count: 9 } });
    const fork = (await scene.world.engine({ agent: agentOf(5) })).thread('fork');
    expect(await plainState(fork)).toEqual({ names: new Set(['ann']), words: ['LINE OF 1', 'edited'], count: 9 });
    await fork.send({});
    expect(await fork.run()).toEqual({ end: 'done' });
    const words = ['LINE OF 1', 'edited', 'line of 5'];
    expect(await plainState(fork)).toEqual({ names: new Set(['ann']), words, count: 9 });
  });

  test('[A10c] passes through them one version after the other as well', async () => {
    const scene = await givenOld();
    for (const version of [2, 3, 4, 5, 6]) {
      const thread = await scene.open({ agent: agentOf(version) });
      await thread.send({});
      expect(await thread.run()).toEqual({ end: 'done' });
    }
    expect(await plainState(await scene.open({ agent: agentOf(6) }))).toEqual({
      people: 1,
      words: ['LINE OF 1', 'LINE OF 2', 'LINE OF 3', 'LINE OF 4', 'line of 5', 'line of 6'],
    });
  });

  test('[A10c] is shown in the new version before anything is committed', async () => {
    const scene = await givenOld();
    const before = await scene.stored('checkpoints');
    expect(await plainState(await scene.open({ agent: agentOf(6) }))).toEqual({ people: 1, words: ['LINE OF 1'] });
    expect(await scene.stored('checkpoints')).toEqual(before);
  });

  test('[A10c, A10a] is committed once, by a checkpoint that says so', async () => {
    const scene = await givenOld();
    const thread = await scene.open({ agent: agentOf(3) });
    for (const _ of [1, 2]) {
      await thread.send({});
      await thread.run();
    }
    const infos = await thread.checkpoints();
    expect(infos.filter(({ cause }) => cause === 'migrated')).toHaveLength(1);
    expect(infos.map(({ stateVersion }) => stateVersion)).toEqual([3, 3, 3, 3, 3, 1, 1]);
  });
});

test('[A10b] a field that an old state does not have gets its default', async () => {
  const scene = await givenOld();
  const shape = { ...shapes[0], colour: value(z.string(), 'green') };
  const agent = agentOf(1, {}, shape);
  expect(await plainState(await scene.open({ agent }))).toEqual({ name: 'ann', lines: ['line of 1'], colour: 'green' });
});

test('[A10b] so does one that a migration leaves out', async () => {
  const scene = await givenOld();
  const agent = agentOf(3, { ...migrations, 3: (state) => state });
  expect(await plainState(await scene.open({ agent }))).toMatchObject({ count: 0 });
});

test('[A10c] a log whose items change keeps its name and its order, and grows on', async () => {
  const scene = await givenOld();
  const upper: Migrations = {
    2: async ({ lines, ...rest }) => ({
      ...rest,
      lines: (await (lines as Log<string>).slice(0)).map((line) => line.toUpperCase()),
    }),
  };
  const agent = agentOf(2, upper, shapes[0]);
  const thread = await scene.open({ agent });
  await thread.send({});
  expect(await thread.run()).toEqual({ end: 'done' });
  const lines = ['LINE OF 1', 'line of 2'];
  expect(await plainState(await scene.open({ agent }))).toEqual({ name: 'ann', lines });
});

test('[A10c] a field that a migration left out does not come back under its name', async () => {
  const scene = await givenOld();
  const leaving: Migrations = { 2: ({ lines }) => ({ lines }), 3: (state) => state };
  for (const [version, shape] of [
    [2, { lines: log(z.string()) }],
    [3, { lines: log(z.string()), name: value(z.string(), 'nobody') }],
  ] as const) {
    const thread = await scene.open({ agent: agentOf(version, leaving, shape) });
    await thread.send({});
    expect(await thread.run()).toEqual({ end: 'done' });
    if (version === 3) expect(await thread.state()).toMatchObject({ name: 'nobody' });
  }
});

test('[A10c, B1d] lines that are under way go on in the new version, with what they have done', async () => {
  const agent = (version: number): AnyAgent =>
    defineAgent({
      name: 'forking',
      version,
      stateVersion: version,
      state: { total: value(z.number(), 0, (sum: number, more: number) => sum + more) },
      ...(version === 2 && { migrations: { 2: ({ total }) => ({ total: Number(total) + 10 }) } }),
      start: 'fork',
      nodes: {
        fork: (_, { parallel }) => parallel(['waits', 'adds'], { join: 'last' }),
        waits: async (_, { end, ask }) => end({ total: (await ask('How many?')) as number }),
        adds: (_, { end }) => end({ total: 2 }),
        last: (_, { end }) => end({ total: 100 }),
      },
    });
  const scene = new Scene({ agent: agent(1) });
  const old = await scene.begun({});
  expect(await old.run()).toEqual({ end: 'waiting' });

  const thread = await scene.open({ agent: agent(2) });
  await answer(thread, only(await thread.waits()), { decision: 'reply', value: 3 });
  expect(await thread.run()).toEqual({ end: 'done' });
  expect(await plainState(thread)).toEqual({ total: 115 });
});

describe('refused, with the version that wrote it, and nothing is changed:', () => {
  async function blocked(scene: Scene, agent: AnyAgent) {
    const thread = await scene.open({ agent });
    await thread.send({});
    const before = await scene.stored('checkpoints');
    const row = await thread.row();
    const end = await thread.run();
    expect(await scene.stored('checkpoints')).toEqual(before);
    expect((await thread.row())?.head).toEqual(row?.head);
    if (end.end !== 'blocked') throw new Error(`it ended as ${end.end}`);
    await expect(thread.state()).rejects.toMatchObject({ code: end.error.code });
    return end.error;
  }

  test('[A10d] a state that is too old for the migrations', async () => {
    const { 2: _, ...others } = migrations;
    const error = await blocked(await givenOld(), agentOf(5, others));
    expect(error).toMatchObject({
      code: 'state_too_old',
      details: { stateVersion: 1, agentVersion: 1, known: 5, missing: 2 },
    });
    expect(error.message).toContain('written by version 1 of its agent');
  });

  test('[A10d] a state that is too new', async () => {
    const scene = await givenOld();
    const thread = await scene.open({ agent: agentOf(4) });
    await thread.send({});
    await thread.run();
    const older = { ...agentOf(3), version: 4 };
    expect(await blocked(scene, older)).toMatchObject({
      code: 'state_too_new',
      details: { stateVersion: 4, agentVersion: 4, known: 3 },
    });
  });

  test('[A10d] a state whose migration throws', async () => {
    const broken: Migrations = {
      2: () => {
        throw new Error('no name');
      },
    };
    expect(await blocked(await givenOld(), agentOf(2, broken))).toMatchObject({
      code: 'migration_failed',
      details: { from: 1, to: 2, agentVersion: 1, reason: 'no name' },
    });
  });

  test('[A10d] a state that does not fit its schemas after the migration', async () => {
    const wrong: Migrations = { 2: ({ lines }) => ({ lines, names: 7 }) };
    expect(await blocked(await givenOld(), agentOf(2, wrong))).toMatchObject({
      code: 'migration_failed',
      details: { thread: 'thread', from: 1, to: 2, reason: expect.stringContaining('its field "names" does not fit') },
    });
  });

  test('[A10d] a log under the name of another field', async () => {
    const moved: Migrations = { ...migrations, 5: ({ lines, ...rest }) => ({ ...rest, words: lines }) };
    expect(await blocked(await givenOld(), agentOf(5, moved))).toMatchObject({ code: 'migration_failed' });
  });

  test.each([
    ['a list', []],
    ['an instance of Map', new Map()],
    ['an instance of Date', new Date(0)],
  ])('[A10d] %s in place of the fields', async (what, given) => {
    expect(await blocked(await givenOld(), agentOf(2, { 2: () => given as never }))).toMatchObject({
      code: 'migration_failed',
      details: { reason: `it returned ${what}, not the fields` },
    });
  });

  test('[A10d] a field that the agent does not declare', async () => {
    const misspelt: Migrations = { 2: ({ name, ...rest }) => ({ ...rest, nmaes: [name] }) };
    expect(await blocked(await givenOld(), agentOf(2, misspelt))).toMatchObject({
      code: 'migration_failed',
      details: {
        thread: 'thread',
        reason:
          'it returned the field "nmaes", which the agent does not declare; there are names, lines. Leave out what is to go',
      },
    });
  });

  test.each([
    [{ name: value(z.string(), ''), lines: value(z.array(z.string()), []) }, 'lines', 'log', 'value'],
    [{ name: log(z.string()), lines: log(z.string()) }, 'name', 'value', 'log'],
  ] as const)(
    '[A10d] a value that became a log, or the reverse, in one state version (%#)',
    async (shape, field, stored, declared) => {
      expect(await blocked(await givenOld(), agentOf(1, {}, shape))).toMatchObject({
        code: 'field_changed',
        details: { thread: 'thread', field, stored, declared },
      });
    },
  );
});

test.each([[{ 1: (state: object) => ({ ...state }) }], [{ 4: (state: object) => ({ ...state }) }]])(
  '[A10c] a migration to a version that the agent cannot have is refused when it is defined: %o',
  (given) => {
    expect(() =>
      defineAgent({
        name: 'a',
        version: 1,
        stateVersion: 3,
        state: {},
        migrations: given,
        start: 'go',
        nodes: { go: (_, { end }) => end() },
      }),
    ).toThrow(/migration to state version/);
  },
);

describe('lines that are under way', () => {
  const fields = (version: number) => ({
    said: log(z.string()),
    ...(version === 1 ? { count: value(z.number(), 0) } : { total: value(z.number(), 0) }),
  });

  /** Three lines that have each done something, and then ask. */
  function forkingAgent(version: number, done: object): AnyAgent {
    return defineAgent({
      name: 'forking',
      version,
      stateVersion: version,
      state: fields(version) as Fields,
      ...(version > 1 && { migrations: { 2: ({ count, ...rest }) => ({ ...rest, total: count }) } }),
      start: 'split',
      nodes: {
        split: (_state, { fanOut }) => fanOut('begin', ['a', 'b', 'c'], { join: 'sum' }),
        begin: (_state, { goto }) => goto('finish', done as never),
        finish: async (_state, { item, ask, end }) =>
          end({ said: [`${item(z.string())} ${await ask('Which day?')}`] } as never),
        sum: (_state, { end }) => end({ said: ['sum'] } as never),
      },
    });
  }

  async function givenLines(done: object) {
    const scene = new Scene({ agent: forkingAgent(1, done) });
    const thread = await scene.begun({ count: 7 });
    expect(await thread.run()).toEqual({ end: 'waiting' });
    return scene;
  }

  const replyAll = async (thread: EngineThread) => {
    for (const wait of await thread.waits()) await answer(thread, wait, { decision: 'reply', value: 'Tue' });
  };

  test('[A10c, B1b] keep their items and what they did through a migration, and are joined', async () => {
    const scene = await givenLines({ said: ['begun'] });
    const [first] = await (await scene.open()).waits();
    if (first !== undefined) await answer(await scene.open(), first, { decision: 'reply', value: 'Mon' });
    const agent = forkingAgent(2, {});
    expect(await (await scene.open({ agent })).run()).toEqual({ end: 'waiting' });

    await replyAll(await scene.open({ agent }));
    const thread = await scene.open({ agent });
    expect(await thread.run()).toEqual({ end: 'done' });
    const said = ['begun', 'a Mon', 'begun', 'b Tue', 'begun', 'c Tue', 'sum'];
    expect(await plainState(thread)).toEqual({ total: 7, said });
  });

  test('[A10d, B1b] whose changes do not fit the new state stop the migration; the version before goes on', async () => {
    const scene = await givenLines({ count: 8 });
    await replyAll(await scene.open());
    const newer = await scene.open({ agent: forkingAgent(2, {}) });
    expect(await newer.run()).toMatchObject({
      end: 'blocked',
      error: { code: 'migration_failed', details: { thread: 'thread', from: 1, to: 2 } },
    });

    const older = await scene.open();
    expect(await older.run()).toEqual({ end: 'done' });
    expect(await plainState(older)).toEqual({ count: 8, said: ['a Tue', 'b Tue', 'c Tue', 'sum'] });
  });
});

test('[A10c] a gap between the migrations is refused when the agent is defined', () => {
  const { 3: _, ...others } = migrations;
  expect(() => agentOf(5, others)).toThrow(/migrations to state versions 2, 4, 5, and none to 3: add it/);
});
