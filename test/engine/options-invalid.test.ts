/** What JavaScript lets through: options that there are not, arguments that are changed after they were handed over. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { EngineThread } from '../../src/engine/engine-thread.ts';
import { log, value } from '../../src/model/fields.ts';
import { FileRef } from '../../src/model/file-ref.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { head, only, Scene, ScriptedModel } from './support.ts';
import { beforeNode, TravelWorld } from './travel-agent.ts';

const any = <Value>(given: unknown) => given as Value;

describe('an engine', () => {
  test.each<[string, object | undefined]>([
    ['agent', undefined],
    ['agent', {}],
    ['agent', { agent: { name: 'no agent' } }],
    ['durabilty', { agent: new TravelWorld().agent, durabilty: 'strict' }],
    ['database', { agent: new TravelWorld().agent, database: 'mine' }],
    ['owner', { agent: new TravelWorld().agent, owner: 5 }],
    ['owner', { agent: new TravelWorld().agent, owner: null }],
    ['owner', { agent: new TravelWorld().agent, owner: '' }],
    ['owner', { agent: new TravelWorld().agent, owner: '\ud800' }],
    ['namespace', { agent: new TravelWorld().agent, namespace: {} }],
    ['namespace', { agent: new TravelWorld().agent, namespace: Symbol('n') }],
    ['namespace', { agent: new TravelWorld().agent, namespace: '' }],
    ['namespace', { agent: new TravelWorld().agent, namespace: '\ufeffn' }],
    ['tiers', { agent: new TravelWorld().agent, tiers: 5 }],
    ['tiers', { agent: new TravelWorld().agent, tiers: null }],
    ['models', { agent: new TravelWorld().agent, models: [new ScriptedModel(() => 'yes')] }],
    ['models', { agent: new TravelWorld().agent, models: 5 }],
  ])('[C2a] is refused by its option "%s": %#', async (option, options) => {
    await expect(new TestWorld().engine(any(options))).rejects.toMatchObject({
      code: 'option_invalid',
      details: { option },
    });
  });

  test.each<[object]>([
    [{ inputPerMillion: 1 }],
    [{ inputPerMillion: 1, outputPerMillion: '2' }],
    [{ inputPerMillion: 1, outputPerMillion: -2 }],
    [{ inputPerMillion: 1, outputPerMillion: 2, perToken: 3 }],
    [any(5)],
  ])('[B7d, C2a] is refused by the price %j of a model, before anything is paid for', async (price) => {
    const model = any<ScriptedModel>({ name: 'm', price, stream: () => undefined });
    const refused = { code: 'option_invalid', details: { option: 'fast' } };
    const { agent } = new TravelWorld();
    await expect(new TestWorld().engine({ agent, models: { fast: model } })).rejects.toMatchObject(refused);
  });

  test('[B7d, C2a] is refused by a model without a name', async () => {
    const model = any<ScriptedModel>({ stream: () => undefined });
    const { agent } = new TravelWorld();
    const details = { option: 'model', problem: 'a model has a name, a text' };
    await expect(new TestWorld().engine({ agent, model })).rejects.toMatchObject({ code: 'option_invalid', details });
  });

  test.each([
    ['checkpoints', { lim: 5 }],
    ['checkpoints', { from: '0' }],
    ['checkpoints', null],
    ['events', { before: '0' }],
    ['events', null],
  ] as const)('[A1c] lists no %s by the options %j', async (list, options) => {
    const thread = await new TravelWorld().done();
    await expect(thread[list](any(options))).rejects.toMatchObject({ code: 'option_invalid' });
  });

  test.each([0, -1, 1.5, {}, 'all'])('[A1c] gives no list of %j threads', async (limit) => {
    const world = new TestWorld();
    const engine = await world.engine({ agent: new TravelWorld().agent });
    await expect(engine.threads(any(limit))).rejects.toMatchObject({ code: 'limit_invalid' });
    expect(await engine.threads(Infinity)).toEqual([]);
  });
});

describe('going back', () => {
  test('[B12c, B12d] with an option that there is not is refused, and nothing changes', async () => {
    const thread = await new TravelWorld().done();
    const at = await beforeNode(thread, 'mail');
    const before = await thread.checkpoints();
    const refused = { code: 'argument_invalid' };

    await expect(thread.rollBack(at, any({ effect: {} }))).rejects.toMatchObject(refused);
    await expect(thread.edit({ name: 'bob' }, any({ effect: {} }))).rejects.toMatchObject(refused);
    await expect(thread.fork(at, any({ id: 'fork', edits: {} }))).rejects.toMatchObject(refused);
    await expect(thread.fork(at, any(undefined))).rejects.toMatchObject(refused);
    expect(await thread.checkpoints()).toEqual(before);
  });

  test('[B12c] says for each effect what can be chosen', async () => {
    const thread = await new TravelWorld().done();
    const at = await beforeNode(thread, 'mail');
    const choices = async (leave: Promise<unknown>) => {
      const { details } = await leave.then(
        () => ({ details: { effects: [] } }),
        (error) => error,
      );
      return Object.fromEntries(
        details.effects.map((effect: { name: string; choices: object }) => [effect.name, effect.choices]),
      );
    };

    expect(await choices(thread.rollBack(at))).toEqual({
      send: ['reuse', 'redo', 'compensate'],
      post: ['reuse', 'redo'],
    });
    expect(await choices(thread.fork(at, { id: 'fork' }))).toMatchObject({ send: ['reuse', 'redo'] });
    await expect(thread.fork(at, { id: 'fork' })).rejects.toThrow(/"send" \(succeeded, [^:]+: reuse or redo\)/);
  });
});

test('[I1, B9f] what is sent and told is what it was then, whatever becomes of it later', async () => {
  const agent = defineAgent({
    name: 'taker',
    version: 1,
    state: { given: value(z.any(), null), told: value(z.any(), null), answered: value(z.any(), null) },
    start: 'go',
    nodes: {
      go: async (_state, { waitFor, ask, end }) => {
        const told = await waitFor('news');
        const show = { list: [1] };
        const asking = ask('ok?', { show });
        show.list.push(2);
        return end({ told, answered: await asking });
      },
    },
  });
  const scene = new Scene({ agent });
  const thread = await scene.open();
  const [given, told] = [{ list: [1] }, { list: [1] }];
  const sending = thread.send({ given });
  given.list.push(2);
  await sending;
  const telling = thread.signal('news', told);
  told.list.push(2);
  await telling;

  expect(await thread.run()).toEqual({ end: 'waiting' });
  const { id, digest, args } = only(await thread.waits());
  expect(args).toEqual({ list: [1] });
  const reply = { list: [1] };
  const answering = thread.answer(id, digest, { decision: 'reply', value: reply });
  reply.list.push(2);
  await answering;
  expect(await thread.run()).toEqual({ end: 'done' });
  const was = { given: { list: [1] }, told: { list: [1] }, answered: { list: [1] } };
  expect(await thread.state()).toEqual(was);

  const [edit, other] = [{ given: { list: [3] } }, { given: { list: [4] } }];
  const forking = thread.fork((await head(thread)).id, { id: 'fork', edit: other });
  other.given.list.push(5);
  await forking;
  const editing = thread.edit(edit);
  edit.given.list.push(4);
  await editing;
  expect(await thread.state()).toEqual({ ...was, given: { list: [3] } });
  expect(await (await scene.world.engine({ agent })).thread('fork').state()).toEqual({ ...was, given: { list: [4] } });
});

describe('what a node hands over', () => {
  test('[B3a] is recorded and sent as it was then, whatever becomes of it later', async () => {
    const sent: unknown[] = [];
    const note = tool({
      name: 'note',
      description: 'Notes',
      input: z.any(),
      effect: 'idempotent',
      run: (given) => {
        sent.push(structuredClone(given));
      },
    });
    const model = new ScriptedModel(() => 'yes');
    const agent = defineAgent({
      name: 'hasty',
      version: 1,
      state: { n: value(z.number(), 0) },
      start: 'go',
      tools: { note },
      nodes: {
        go: async (_state, { call, model, end }) => {
          const given = { list: [1], deep: { n: 1 } };
          const calling = call('note', given);
          given.list.push(2);
          given.deep.n = 2;
          await calling;
          const messages = [{ role: 'user' as const, text: 'first' }];
          const asking = model.answer({ messages });
          messages.push({ role: 'user', text: 'second' });
          await asking;
          return end({ n: 1 });
        },
      },
    });
    const scene = new Scene({ agent, model });
    const thread = await scene.begun();

    expect(await thread.run()).toEqual({ end: 'done' });
    expect(sent).toEqual([{ list: [1], deep: { n: 1 } }]);
    expect(model.calls.map(({ prompt }) => prompt)).toEqual(['first']);
  });

  test.each<[string, (context: never) => Promise<unknown>]>([
    ['call', ({ call }: { call: (...given: unknown[]) => Promise<unknown> }) => call('note', {}, { Key: 'a' })],
    [
      'model',
      ({ model }: { model: { text: (...given: unknown[]) => Promise<unknown> } }) => model.text('a', { k: 'a' }),
    ],
    ['all', ({ all }: { all: (...given: unknown[]) => Promise<unknown> }) => all(5, () => 1)],
    ['all', ({ all }: { all: (...given: unknown[]) => Promise<unknown> }) => all([5], 'work')],
  ] as never)('[B3c] as options or work of `%s` that cannot be is refused: %#', async (_name, work) => {
    const note = tool({ name: 'note', description: 'Notes', input: z.any(), effect: 'read', run: () => 1 });
    const agent = defineAgent({
      name: 'careless',
      version: 1,
      state: { n: value(z.number(), 0) },
      start: 'go',
      tools: { note },
      nodes: {
        go: async (_state, context) => {
          await work(any(context));
          return context.end({});
        },
      },
    });
    const thread = await new Scene({ agent, model: new ScriptedModel(() => 'yes') }).begun();

    expect(await thread.run()).toMatchObject({ end: 'failed', failure: { code: 'argument_invalid' } });
  });
});

test('[A9a] a slice of a log that counts from its end is one', async () => {
  const agent = defineAgent({
    name: 'sayer',
    version: 1,
    state: { said: log(z.string()) },
    start: 'go',
    nodes: { go: (_state, { end }) => end({ said: ['a', 'b', 'c'] }) },
  });
  const thread = await new Scene({ agent }).begun();
  await thread.run();
  const { said } = any<{ said: { slice(from: number, to?: number): Promise<string[]> } }>(await thread.state());

  expect(await said.slice(-2)).toEqual(['b', 'c']);
  expect(await said.slice(-9, -1)).toEqual(['a', 'b']);
  expect(await said.slice(1, 9)).toEqual(['b', 'c']);
  expect(await said.slice(2, 1)).toEqual([]);
});

test('[A7a] a file is made of bytes or of a text', async () => {
  expect(await FileRef.from({ name: 'a.txt', bytes: 'grün' }).text()).toBe('grün');
  expect(FileRef.from({ name: 'a.txt', bytes: 'grün' }).sizeBytes).toBe(5);
  expect(() => FileRef.from({ name: 'a.txt', bytes: any([1, 2]) })).toThrow('no Uint8Array and no text');
});

describe('what has no text', () => {
  const evil = any<never>({ toString: 1, valueOf: 1 });

  test.each<[what: string, ask: (thread: EngineThread) => Promise<unknown>, code: string]>([
    ['effects that are null', (thread) => thread.edit({ name: 'x' }, { effects: any(null) }), 'argument_invalid'],
    ['effects in a list', (thread) => thread.edit({ name: 'x' }, { effects: any([]) }), 'argument_invalid'],
    [
      'a fork with effects that are null',
      (thread) => thread.fork(evil, { id: 'f', effects: any(null) }),
      'argument_invalid',
    ],
    ['pins that are null', (thread) => thread.compact({}, any(null)), 'retention_invalid'],
    ['pins that are a text', (thread) => thread.compact({}, any('x')), 'retention_invalid'],
    ['a pin', (thread) => thread.compact({}, [evil]), 'checkpoint_unknown'],
    ['a pin that is not there', (thread) => thread.compact({}, [any('0000000001-xxxxxxxxxxxx')]), 'checkpoint_unknown'],
    ['the wait to be answered', (thread) => thread.answer(evil, '', { decision: 'give_up' }), 'wait_unknown'],
    ['the checkpoint to go back to', (thread) => thread.rollBack(evil), 'checkpoint_unknown'],
    ['the checkpoint to look at', (thread) => thread.inspect(evil), 'checkpoint_unknown'],
    ['a policy of the inbox', (thread) => thread.send({}, 'd', evil), 'policy_unknown'],
    ['the name of an event', (thread) => thread.signal(evil), 'event_name_invalid'],
  ])('[C2a] as %s is refused with a typed error', async (_what, ask, code) => {
    const thread = await new TravelWorld().done();
    await expect(ask(thread)).rejects.toMatchObject({ code });
  });
});

describe('an update that is no plain object', () => {
  const strange: readonly [what: string, update: object][] = [
    ['a promise: await it', Promise.resolve({ said: ['x'] })],
    ['an instance of Map', new Map([['said', ['x']]])],
    ['an instance of Date', new Date(0)],
    ['a list', [['said', 'x']]],
  ];

  test.each(strange)('[B1a, C2a] as %s fails its step, and is not passed over', async (what, update) => {
    const agent = defineAgent({
      name: 'strange',
      version: 1,
      state: { said: log(z.string()) },
      start: 'go',
      nodes: { go: { retry: { attempts: 1 }, run: (_state, { end }) => end(any(update)) } },
    });
    const end = await (await new Scene({ agent }).begun()).run();
    expect(end).toMatchObject({
      end: 'failed',
      failure: { code: 'state_invalid', details: { problem: expect.stringContaining(what) } },
    });
  });

  test.each(strange)(
    '[B11a, B12d, C2a] as %s is neither sent nor edited in, and nothing changes',
    async (what, update) => {
      const thread = await new TravelWorld().done();
      const [before, inbox] = [await thread.checkpoints(), (await thread.row())?.inbox];
      const refused = { code: 'state_invalid', details: { problem: expect.stringContaining(what) } };

      await expect(thread.send(update)).rejects.toMatchObject(refused);
      await expect(thread.edit(update)).rejects.toMatchObject(refused);
      expect(await thread.checkpoints()).toEqual(before);
      expect((await thread.row())?.inbox).toBe(inbox);
    },
  );
});
