/** What the caller changes in a state that it saved or loaded: found by the next save, and never half of it by one under way. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { Checkpointer } from '../../src/checkpointer/checkpointer.ts';
import type { CheckpointerOptions } from '../../src/checkpointer/options.ts';
import { log, value } from '../../src/model/fields.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';

interface Item {
  text: string;
  parts?: { n: number; bytes?: Uint8Array; at?: Map<string, number> }[];
}
interface State {
  list: Item[];
  total?: unknown;
}

const options: CheckpointerOptions<State> = {
  fields: { list: log(z.any()), total: value(z.any(), null) } as never,
};
const open = async (world: TestWorld, given = options) => new Checkpointer<State>(await world.ports(), given);
const items = (): Item[] => [
  { text: 'a', parts: [{ n: 1, bytes: new Uint8Array([1]), at: new Map([['x', 1]]) }] },
  { text: 'b' },
];

const changes: readonly [string, (list: Item[]) => unknown][] = [
  ['a text inside it', ([first]) => Object.assign(first ?? {}, { text: 'other' })],
  ['a part deeper in it', ([first]) => Object.assign(first?.parts?.[0] ?? {}, { n: 2 })],
  ['a byte in it', ([first]) => first?.parts?.[0]?.bytes?.fill(9)],
  ['a map in it', ([first]) => first?.parts?.[0]?.at?.set('y', 2)],
  ['a part that is added', ([first]) => first?.parts?.push({ n: 3 })],
  ['the order of the items', (list) => list.reverse()],
];

describe('an item of a log that is on record, and in which there is changed', () => {
  test.each(changes)('[A1a, I8] %s: the next save has it, after a save as after a load', async (_what, change) => {
    for (const how of ['saved', 'loaded'] as const) {
      const world = new TestWorld();
      const saver = await open(world);
      let state: State = { list: items() };
      const first = await saver.save('t', state);
      if (how === 'loaded') state = (await saver.load('t')) ?? state;
      change(state.list);
      state.list.push({ text: 'c' });
      await saver.save('t', state);

      const other = await open(world);
      expect((await other.load('t'))?.list).toEqual(state.list);
      expect((await other.loadCheckpoint('t', first)).list).toEqual(items());
    }
  });

  test('[A1a] nothing: the log goes on, and is not written anew', async () => {
    const world = new TestWorld();
    const saver = await open(world);
    await saver.save('t', { list: items() });
    await saver.save('t', { list: [...items(), { text: 'c' }] });
    const loaded = await saver.load('t');
    loaded?.list.push({ text: 'd' });
    await saver.save('t', loaded ?? { list: [] });
    const [hash] = world.data.threads.keys();

    const segments = hash === undefined ? [] : world.data.records('segments', hash).range({});
    expect(segments).toHaveLength(3);
    expect((await (await open(world)).load('t'))?.list.map(({ text }) => text).join('')).toBe('abcd');
  });
});

describe('a state that is changed while it is being saved', () => {
  test.each([['with fields', options] as const, ['without fields', {}] as const])(
    '[A1a, I8] %s: is saved as it was when `save` was called, and the change by the next one',
    async (_name, given) => {
      const world = new TestWorld();
      const saver = await open(world, given);
      const state = { list: items(), total: { n: 1, bytes: new Uint8Array([1]), of: [1] } };
      const saving = saver.save('t', state);
      for (const [, change] of changes) change(state.list);
      state.list.push({ text: 'late' });
      state.total.n = 2;
      state.total.bytes.fill(9);
      state.total.of.push(2);
      await saving;

      const was = { list: items(), total: { n: 1, bytes: new Uint8Array([1]), of: [1] } };
      expect(await (await open(world, given)).load('t')).toEqual(was);
      await saver.save('t', state);
      expect(await (await open(world, given)).load('t')).toEqual(state);
    },
  );
});
