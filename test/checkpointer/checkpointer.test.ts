import { beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { Checkpointer } from '../../src/checkpointer/checkpointer.ts';
import { checkpointerErrors } from '../../src/checkpointer/errors.ts';
import type { CheckpointerOptions } from '../../src/checkpointer/options.ts';
import { log, secret, value } from '../../src/model/fields.ts';
import type { CheckpointId } from '../../src/model/ids.ts';
import type { Store } from '../../src/store/store.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { withMethods } from '../engine/support.ts';

let world: TestWorld;
beforeEach(() => {
  world = new TestWorld();
});

async function open<State extends object = Record<string, unknown>>(
  options?: CheckpointerOptions<State>,
  store?: Store,
) {
  return new Checkpointer<State>(await world.ports(store), options);
}

const fields = {
  messages: log(z.object({ text: z.string() })),
  total: value(z.number(), 0, (now: number, more: number) => Math.max(now, more)),
  token: secret(z.string()),
};

describe('a checkpointer alone', () => {
  test('[A1a, A1d] saves, and another one loads the head and any checkpoint', async () => {
    const first = await open();
    const one = await first.save('t', { step: 1, done: ['a'] });
    const two = await first.save('t', { step: 2, done: ['a', 'b'] });
    const other = await open();
    expect(await other.load('t')).toEqual({ step: 2, done: ['a', 'b'] });
    expect(await other.loadCheckpoint('t', one)).toEqual({ step: 1, done: ['a'] });
    expect(await other.loadCheckpoint('t', two)).toEqual({ step: 2, done: ['a', 'b'] });
    expect(await other.load('unknown')).toBeUndefined();
  });

  test('[A1b, A3b] lists checkpoints in commit order, each with its parent', async () => {
    const saver = await open();
    const ids = [];
    for (let step = 0; step < 5; step += 1) ids.push(await saver.save('t', { step }));
    const list = await saver.list('t');
    expect(list.map(({ id }) => id)).toEqual(ids);
    expect(list.map(({ parent }) => parent)).toEqual([null, ...ids.slice(0, -1)]);
    expect((await saver.list('t', { limit: 2 })).map(({ id }) => id)).toEqual(ids.slice(-2));
    expect(await saver.list('unknown')).toEqual([]);
  });

  test('[A1a] a field that is no longer in the state is gone from the next checkpoint', async () => {
    const saver = await open();
    await saver.save('t', { a: 1, b: 2 });
    await saver.save('t', { a: 1 });
    expect(await (await open()).load('t')).toEqual({ a: 1 });
  });

  test('[A1a, I8] what was changed in place is saved too', async () => {
    const saver = await open();
    const state = { plan: { todo: ['x'] }, count: 1 };
    await saver.save('t', state);
    state.plan.todo.push('y');
    await saver.save('t', state);
    expect(await (await open()).load('t')).toEqual({ plan: { todo: ['x', 'y'] }, count: 1 });
  });

  test('[A3c] a save from an old head is refused with both heads, and changes nothing', async () => {
    const [mine, theirs] = [await open(), await open()];
    const start = await mine.save('t', { n: 0 });
    await theirs.load('t');
    const head = await theirs.save('t', { n: 1 });
    const error = await mine.save('t', { n: 2 }).catch((thrown: unknown) => thrown);
    expect(checkpointerErrors.is(error, 'head_moved') && error.details).toEqual({
      thread: 't',
      expected: start,
      actual: head,
    });
    expect(await (await open()).load('t')).toEqual({ n: 1 });
    expect(await mine.list('t')).toHaveLength(2);
  });

  test('[A3c] without having loaded, a known thread is not overwritten', async () => {
    const head = await (await open()).save('t', { n: 0 });
    const error = await (await open()).save('t', { n: 1 }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'head_moved', details: { expected: null, actual: head } });
  });

  test('[A3c] two first saves at once: one wins, the other hears of it', async () => {
    const savers = await Promise.all([open(), open()]);
    const ends = await Promise.allSettled(savers.map((saver, n) => saver.save('t', { n })));
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  test('[A3d] of two first saves at once, the loser is not rebased over the winner', async () => {
    const savers = await Promise.all([open(), open()]);
    const ends = await Promise.allSettled(savers.map((saver, n) => saver.save('t', { n }, { onConflict: 'rebase' })));
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await savers[0]?.list('t')).toHaveLength(1);
  });

  test('[A3d] rebase applies the change again to the new head, through the reducers', async () => {
    const [mine, theirs] = [
      await open<{ messages: { text: string }[]; total: number }>({ fields }),
      await open<{ messages: { text: string }[]; total: number }>({ fields }),
    ];
    await mine.save('t', { messages: [{ text: 'a' }], total: 1 });
    const seen = await theirs.load('t');
    if (seen === undefined) throw new Error('it was saved');
    await theirs.save('t', { messages: [...seen.messages, { text: 'theirs' }], total: 9 });
    const state = await open<{ messages: { text: string }[]; total: number }>({ fields });
    const old = await state.load('t');
    expect(old?.total).toBe(9);
    const first = { text: 'a' };
    // `mine` still stands at its own save.
    await mine.save('t', { messages: [first, { text: 'mine' }], total: 5 }, { onConflict: 'rebase' });
    const after = await (await open<{ messages: { text: string }[]; total: number }>({ fields })).load('t');
    expect(after?.messages.at(-1)).toEqual({ text: 'mine' });
    expect(after?.messages.map(({ text }) => text)).toContain('theirs');
    expect(after?.total).toBe(9);
  });

  test('[A3d] after a rebase, the next save takes nothing back that the other writer did', async () => {
    type State = { n: number; tags: string[]; messages: { text: string }[] };
    const declared = { n: value(z.number(), 0), tags: value(z.array(z.string()), []), messages: fields.messages };
    const [mine, theirs] = [await open<State>({ fields: declared }), await open<State>({ fields: declared })];
    await mine.save('t', { n: 0, tags: ['x'], messages: [] });
    const [a, b] = [await mine.load('t'), await theirs.load('t')];
    if (a === undefined || b === undefined) throw new Error('it was saved');
    a.n = 1;
    a.messages.push({ text: 'a1' });
    await mine.save('t', a);
    b.tags = ['y'];
    b.messages.push({ text: 'b1' });
    await theirs.save('t', b, { onConflict: 'rebase' });
    b.tags = ['z'];
    b.messages.push({ text: 'b2' });
    await theirs.save('t', b, { onConflict: 'rebase' });
    expect(await (await open<State>({ fields: declared })).load('t')).toEqual({
      n: 1,
      tags: ['z'],
      messages: [{ text: 'a1' }, { text: 'b1' }, { text: 'b2' }],
    });
  });

  test('[A3d] without a head it was made from, a state is never rebased over a thread that is there', async () => {
    await (await open()).save('t', { n: 0, keep: true });
    const error = await (await open()).save('t', { n: 1 }, { onConflict: 'rebase' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'head_moved' });
    expect(String(error)).toContain('was not loaded here');
    expect(await (await open()).load('t')).toEqual({ n: 0, keep: true });
  });

  test('[A7e, A13b] only declared fields are stored, and no secret', async () => {
    const saver = await open({ fields });
    const items = [{ text: 'a' }];
    const id = await saver.save('t', { messages: items, total: 1, token: 'hush-hush' });
    const error = await saver
      .save('t', { messages: items, total: 2, extra: 'not declared' }, { parent: id })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'field_unknown',
      details: { field: 'extra', known: 'messages, total, token' },
    });
    expect(await (await open({ fields })).load('t')).toEqual({ messages: items, total: 1 });
  });

  test.each([
    ['null', null],
    ['a text', 'state'],
    ['a list', ['a']],
    ['a map', new Map([['a', 1]])],
    ['an instance of a class', new (class State {})()],
  ])('[A7d] %s is no state: refused, and nothing is saved', async (_what, state) => {
    const saver = await open();
    await expect(saver.save('t', state as never)).rejects.toMatchObject({ code: 'state_not_an_object' });
    expect(await (await open()).load('t')).toBeUndefined();
  });

  test('[A7e] what is no longer declared is gone from loads and from the next save', async () => {
    const id = await (await open()).save('t', { kept: 1, old: 'x' });
    const saver = await open({ fields: { kept: value(z.number(), 0) } });
    expect(await saver.load('t')).toEqual({ kept: 1 });
    const earlier = await saver.loadCheckpoint('t', id);
    await saver.save('t', { ...earlier, kept: 2 });
    expect(await (await open()).load('t')).toEqual({ kept: 2 });
  });

  test.each([
    ['value', 'hush-hush'],
    ['log', ['hush-hush']],
  ])('[A13b, A7e] a %s that is declared secret now is not in the next checkpoint', async (kind, token) => {
    const before = kind === 'log' ? await open({ fields: { token: log(z.string()), n: fields.total } }) : await open();
    await before.save('t', { n: 1, token });
    const saver = await open({ fields: { n: fields.total, token: secret(z.string()) } });
    await saver.load('t');
    await saver.save('t', { n: 2, token: 'hush-hush' });
    expect(await (await open()).load('t')).toEqual({ n: 2 });
  });

  test('[A1a] a list that was stored as a value keeps its items when it becomes a log', async () => {
    await (await open()).save('t', { items: ['a'] });
    const asLog = { fields: { items: log(z.string()) } };
    const saver = await open<{ items: string[] }>(asLog);
    const state = await saver.load('t');
    state?.items.push('b');
    if (state !== undefined) await saver.save('t', state);
    expect(await (await open<{ items: string[] }>(asLog)).load('t')).toEqual({ items: ['a', 'b'] });
  });

  test('[A1a] a state without a prototype is one, too', async () => {
    await (await open()).save('t', Object.assign(Object.create(null), { n: 1 }));
    expect(await (await open()).load('t')).toEqual({ n: 1 });
  });

  test('[A7e] every field of the state is declared, and nothing else: checked by the compiler', async () => {
    type State = { messages: { text: string }[]; total: number };
    const { messages, total } = fields;
    await open<State>({ fields: { messages, total } });
    // @ts-expect-error one is forgotten
    await open<State>({ fields: { messages } });
    // @ts-expect-error there is no such field
    await open<State>({ fields: { messages, total, totl: total } });
  });

  test('[A5a, I8] a log costs what is added, not what is there', async () => {
    const saver = await open({ fields });
    const messages: { text: string }[] = [];
    const bytes = async () => {
      let sum = 0;
      for (const table of ['checkpoints', 'segments', 'events', 'blobs'] as const) {
        const [row] = world.data.threads.values();
        const records = row === undefined ? [] : world.data.records(table, row.thread).range({});
        sum += records.reduce((total, { body }) => total + body.length, 0);
      }
      return sum;
    };
    const costs: number[] = [];
    for (let step = 0; step < 200; step += 1) {
      messages.push({ text: `message number ${String(step).padStart(3, '0')}` });
      const before = await bytes();
      await saver.save('t', { messages, total: 1 });
      costs.push((await bytes()) - before);
    }
    expect(costs[190]).toBeLessThanOrEqual((costs[10] ?? 0) + 4); // counters grow by a byte
    expect((await (await open({ fields })).load('t'))?.messages).toEqual(messages);
  });

  test('[A1a] a log that does not go on from its items begins anew', async () => {
    const saver = await open({ fields });
    await saver.save('t', { messages: [{ text: 'a' }, { text: 'b' }], total: 0 });
    const id = await saver.save('t', { messages: [{ text: 'z' }], total: 0 });
    expect((await (await open({ fields })).load('t'))?.messages).toEqual([{ text: 'z' }]);
    await saver.save('t', { messages: [{ text: 'z' }, { text: 'y' }], total: 0 });
    expect((await saver.loadCheckpoint('t', id)).messages).toEqual([{ text: 'z' }]);
  });
});

describe('deleting', () => {
  test('[A1c] a thread, with everything in it; it can be made again', async () => {
    const saver = await open();
    await saver.save('t', { big: 'x'.repeat(10_000) });
    await saver.delete('t');
    expect(await saver.load('t')).toBeUndefined();
    expect(await saver.list('t')).toEqual([]);
    await saver.delete('t');
    await saver.save('t', { n: 1 });
    expect(await (await open()).load('t')).toEqual({ n: 1 });
  });

  test('[A1c, A12e] any one checkpoint but the head, and all others can still be loaded', async () => {
    for (let victim = 0; victim < 11; victim += 1) {
      const saver = await open({ tiers: { everySteps: 4 } });
      const thread = `t${victim}`;
      const ids = [];
      for (let step = 0; step < 12; step += 1) ids.push(await saver.save(thread, { step, [`only${step}`]: step }));
      const id = ids[victim];
      if (id === undefined) throw new Error('it was saved');
      await saver.delete(thread, id);
      const fresh = await open();
      for (const [step, other] of ids.entries()) {
        if (step === victim)
          await expect(fresh.loadCheckpoint(thread, other)).rejects.toMatchObject({ code: 'checkpoint_unknown' });
        else expect(await fresh.loadCheckpoint(thread, other)).toEqual({ step, [`only${step}`]: step });
      }
      expect(await fresh.load(thread)).toEqual({ step: 11, only11: 11 });
      await fresh.save(thread, { step: 12 });
      expect(await (await open()).load(thread)).toEqual({ step: 12 });
    }
  });

  test('[A1c, A12e] several in a row, the root among them', async () => {
    const saver = await open();
    const ids = [];
    for (let step = 0; step < 8; step += 1) ids.push(await saver.save('t', { step, all: step * 2 }));
    for (const id of ids.slice(0, 6)) await saver.delete('t', id);
    expect((await saver.list('t')).map(({ id }) => id)).toEqual(ids.slice(6));
    expect(await (await open()).load('t')).toEqual({ step: 7, all: 14 });
  });

  test('[A1c, A9a] what is no id of a checkpoint deletes nothing, also where ids begin with it', async () => {
    const saver = await open();
    const first = await saver.save('t', { step: 1 });
    const second = await saver.save('t', { step: 2 });
    for (const part of ['', first.slice(0, 5), `${first}x`]) await saver.delete('t', part as CheckpointId);

    expect((await saver.list('t')).map(({ id }) => id)).toEqual([first, second]);
  });

  test('[A1c, A1a] a checkpoint of a thread that another runs by now is not said to be deleted', async () => {
    const saver = await open();
    const old = await saver.save('t', { step: 1 });
    await saver.save('t', { step: 2 });
    const store = world.store();
    const overtaken = withMethods(store, {
      deleteRecords: async (thread, incarnation, ...others) => {
        await store.takeLease(thread, incarnation);
        return store.deleteRecords(thread, incarnation, ...others);
      },
    });

    await expect((await open({}, overtaken)).delete('t', old)).rejects.toMatchObject({ code: 'store_failed' });
    expect(await saver.loadCheckpoint('t', old)).toEqual({ step: 1 });
  });

  test('[A1a, A1c] a load from a head that is deleted meanwhile gives the new one', async () => {
    const other = await open();
    const old = await other.save('t', { step: 1 });
    const store = world.store();
    const overtaken = withMethods(store, {
      readThread: async (thread) => {
        const row = await store.readThread(thread);
        if (row?.head === old) {
          await other.save('t', { step: 2 });
          await other.delete('t', old);
        }
        return row;
      },
    });
    expect(await (await open({}, overtaken)).load('t')).toEqual({ step: 2 });
  });

  test('[A1c, I10] an id that is undefined is refused, and does not delete the thread', async () => {
    const saver = await open();
    await saver.save('t', { n: 1 });
    const [, another] = await saver.list('t');
    await expect(saver.delete('t', another?.id)).rejects.toMatchObject({ code: 'checkpoint_unknown' });
    expect(await saver.load('t')).toEqual({ n: 1 });
    await saver.delete('t');
    expect(await saver.load('t')).toBeUndefined();
  });

  test('[A1c] the head is refused', async () => {
    const saver = await open();
    const id = await saver.save('t', { n: 1 });
    await expect(saver.delete('t', id)).rejects.toMatchObject({ code: 'checkpoint_needed' });
    expect(await saver.load('t')).toEqual({ n: 1 });
  });
});
