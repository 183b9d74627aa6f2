import { beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { shown } from '../../src/base/text.ts';
import { Checkpointer } from '../../src/checkpointer/checkpointer.ts';
import type { CheckpointerOptions } from '../../src/checkpointer/options.ts';
import { openCheckpointer } from '../../src/entries/checkpointer.ts';
import { log, secret, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { Store } from '../../src/store/store.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';

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

describe('bad input', () => {
  test('[A7d] a state that cannot be stored is refused with its path; the thread is as it was', async () => {
    const saver = await open();
    await saver.save('t', { n: 1 });
    const error = await saver.save('t', { n: 2, run: () => 1 }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'value_not_storable', details: { path: 'run' } });
    await saver.save('t', { n: 3 });
    expect(await (await open()).load('t')).toEqual({ n: 3 });
  });

  test.each([
    ['', 0],
    ['x'.repeat(1_025), 1_025],
    ['\ud800', 1],
  ])('[A1a] %j is no thread id', async (id) => {
    await expect((await open()).save(id, {})).rejects.toMatchObject({ code: 'thread_id_invalid' });
  });

  test.each<[string, object | null]>([
    ['owner', { owner: 5 }],
    ['owner', { owner: '\ud800' }],
    ['namespace', { namespace: 5 }],
    ['namespace', { namespace: '' }],
    ['tiers', { tiers: 5 }],
    ['tiers', { tiers: null }],
    ['fields', { fields: 5 }],
    ['fields', { fields: { '\ud800': log(z.string()) } }],
    ['null', null],
  ])('[A1a] the option "%s" is refused before anything is written (%#)', async (option, options) => {
    const refused = { code: 'option_invalid', details: { option } };
    await expect(open(options as never)).rejects.toMatchObject(refused);
    await expect(openCheckpointer(options as never)).rejects.toMatchObject(refused);
  });

  test.each([5, '', null, '\ud800'])('[A1a] so is the database %j', async (database) => {
    await expect(openCheckpointer({ database } as never)).rejects.toMatchObject({
      code: 'option_invalid',
      details: { option: 'database' },
    });
  });

  test.each(['\ud800', '\ufefftext', '__proto__'])(
    '[A7d] a state with a field %j is refused: its name cannot be kept',
    async (name) => {
      const saver = await open();
      await expect(saver.save('t', Object.fromEntries([[name, 1]]))).rejects.toMatchObject({
        code: 'value_not_storable',
        details: { path: name },
      });
      expect(await saver.load('t')).toBeUndefined();
    },
  );

  test('[A1a] an unknown checkpoint is named', async () => {
    const saver = await open();
    await saver.save('t', {});
    for (const id of ['0000000009-aaaaaaaaaaaa', 'nonsense', '']) {
      await expect(saver.loadCheckpoint('t', id as never)).rejects.toMatchObject({ code: 'checkpoint_unknown' });
    }
  });

  test('[A7e] a value that does not fit its schema is refused by the field, also inside a log', async () => {
    const saver = await open({ fields });
    const save = (state: object) => saver.save('t', state as never).catch((thrown: unknown) => thrown);
    expect(await save({ messages: [], total: 'many' })).toMatchObject({
      code: 'state_invalid',
      details: { field: 'total' },
    });
    expect(await save({ messages: [{ text: 'a' }, { text: 1 }], total: 1 })).toMatchObject({
      code: 'state_invalid',
      details: { field: 'messages[1]' },
    });
    expect(await saver.load('t')).toBeUndefined();
  });

  test('[A1a] a log that is no list is refused', async () => {
    const saver = await open({ fields });
    await expect(saver.save('t', { messages: 'x', total: 1 })).rejects.toMatchObject({ code: 'log_not_a_list' });
  });

  test.each([
    [{ tiers: { everyStep: 3 } }, 'tiers', 'it has "everyStep"; there are everySteps,'],
    [{ tiers: { everySteps: 'x' } }, 'tiers', 'everySteps is "x", not a number from 0'],
    [
      { fields: { n: { kind: 'number' } } },
      'fields',
      'its field "n" has the kind "number": declare it by value, log or secret',
    ],
    [{ fields: { n: { kind: 'value' } } }, 'fields', 'its field "n" has no schema'],
    [{ field: {} }, 'field', 'there is none of that name; there are fields, namespace, owner, tiers'],
    [null, 'null', 'there is none of that name'],
  ])('[A1a] with the options %j none is made', async (options, option, problem) => {
    await expect(open(options as never)).rejects.toMatchObject({
      code: 'option_invalid',
      details: { option, problem: expect.stringContaining(problem) },
    });
  });

  test.each(['merge', null, true])('[A3c] onConflict %j is refused, and nothing is saved', async (onConflict) => {
    const saver = await open();
    await saver.save('t', { n: 1 });
    await (await open()).load('t');

    await expect(saver.save('t', { n: 2 }, { onConflict: onConflict as never })).rejects.toMatchObject({
      code: 'option_invalid',
      details: { option: 'onConflict', problem: `"${onConflict}" is none of fail, rebase` },
    });
    expect(await saver.load('t')).toEqual({ n: 1 });
  });

  test.each([0, -1, 1.5, Number.NaN, '5'])('[A1b] a list of %j is refused', async (limit) => {
    await expect((await open()).list('t', { limit: limit as never })).rejects.toMatchObject({
      code: 'option_invalid',
      details: { option: 'limit', problem: `${shown(limit)} is not a whole number from 1` },
    });
  });

  test('[A1a, A3c] an option that there is not is refused, and nothing is saved', async () => {
    const saver = await open();
    const refused = { code: 'option_invalid', details: { option: 'lim' } };

    await expect(saver.save('t', { n: 1 }, { lim: 1 } as never)).rejects.toMatchObject(refused);
    await expect(saver.list('t', { lim: 1 } as never)).rejects.toMatchObject(refused);
    expect(await saver.load('t')).toBeUndefined();
  });

  test('[A1a] a thread of an agent can be read, and not saved to', async () => {
    const agent = defineAgent({
      ...{ name: 'counter', version: 1, state: { n: value(z.number(), 0) }, start: 'go' },
      nodes: { go: (_state, { end }) => end({ n: 7 }) },
    });
    const thread = (await world.engine({ agent })).thread('t');
    await thread.send({});
    await thread.run();
    const saver = await open();
    const state = await saver.load('t');

    expect(state).toEqual({ n: 7 });
    await expect(saver.save('t', { n: 8 })).rejects.toMatchObject({
      code: 'thread_of_an_agent',
      details: { thread: 't', agent: 'counter' },
    });
    expect((await thread.state()).n).toBe(7);
  });

  test('[A14b] a thread of another owner is neither read, listed, saved nor deleted', async () => {
    const ann = await open({ owner: 'ann' });
    const id = await ann.save('t', { n: 1 });
    const bob = await open({ owner: 'bob' });
    const refused = { code: 'not_owner', details: { thread: 't', owner: 'bob' } };

    await expect(bob.load('t')).rejects.toMatchObject(refused);
    await expect(bob.loadCheckpoint('t', id)).rejects.toMatchObject(refused);
    await expect(bob.list('t')).rejects.toMatchObject(refused);
    await expect(bob.save('t', { n: 2 })).rejects.toMatchObject(refused);
    await expect(bob.delete('t')).rejects.toMatchObject(refused);
    expect(await ann.load('t')).toEqual({ n: 1 });
  });
});
