import { describe, expect, test } from 'vitest';
import { diffValues } from '../../src/model/diff.ts';
import { FileRef } from '../../src/model/file-ref.ts';
import { head, nth, plainState, withMethods } from './support.ts';
import { beforeNode, choices, TravelWorld } from './travel-agent.ts';

describe('looking back', () => {
  test('[B12a] a checkpoint shows its place, its state and its events', async () => {
    const thread = await new TravelWorld().done();
    const id = await beforeNode(thread, 'publish');
    const { info, state, events, forks } = await thread.inspect(id);

    expect(info).toMatchObject({ id, cause: 'step', position: { node: 'mail', next: [{ node: 'publish' }] } });
    expect(state).toMatchObject({ name: 'ann', round: 1, notes: { length: 2 } });
    expect(events).toMatchObject([{ type: 'step', details: { node: 'mail', next: 'publish' } }]);
    expect(forks).toEqual([]);
  });

  test('[B12a] after going back the list is a tree: two checkpoints have one parent', async () => {
    const thread = await new TravelWorld().done();
    const target = await beforeNode(thread, 'mail');
    await thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'redo') });
    await thread.run();
    const all = await thread.checkpoints();

    expect(all.filter(({ parent }) => parent === target).map(({ cause }) => cause)).toEqual(['rolled_back', 'step']);
    expect(all.map(({ sequence }) => sequence)).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 0]);
    const ids = new Set(all.map(({ id }) => id));
    expect(all.filter(({ parent }) => parent === null || !ids.has(parent))).toHaveLength(1);
  });

  test('[B12a] pages are full where there is more, also where records beside the checkpoints lie between', async () => {
    const thread = await new TravelWorld().done();
    const all = await thread.checkpoints();
    for (const { id, sequence } of all) await thread.fork(id, { id: `fork ${sequence}`, effects: {} }).catch(() => 0);
    const paged = [];
    for (let last = await thread.checkpoints({ limit: 1 }); last.length > 0; ) {
      paged.push(...last);
      last = await thread.checkpoints({ limit: 1, before: nth(last, -1).id });
    }

    expect(paged).toEqual(all);
  });

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('[B12a] a page of %d is refused', async (limit) => {
    const thread = await new TravelWorld().done();
    await expect(thread.checkpoints({ limit })).rejects.toMatchObject({ code: 'limit_invalid' });
  });

  test('[B12a] what is no checkpoint of the thread is refused', async () => {
    const thread = await new TravelWorld().done();
    await expect(thread.inspect('0000000000-AAAAAAAAAAAA' as never)).rejects.toMatchObject({
      code: 'checkpoint_unknown',
    });
  });
});

describe('a difference', () => {
  test('[B12b] of two checkpoints names the fields, with paths inside, and what each log adds', async () => {
    const thread = await new TravelWorld().done();
    const found = await thread.diff(await beforeNode(thread, 'publish'), await beforeNode(thread, 'finish'));

    expect(found).toEqual([
      {
        field: 'facts',
        kind: 'value',
        change: 'changed',
        isComplete: true,
        changes: [
          { path: '.deep.list[1]', change: 'changed', before: 2, after: 3 },
          { path: '.deep.line', change: 'added', after: 'posted 1' },
        ],
      },
      {
        field: 'notes',
        kind: 'log',
        change: 'changed',
        common: 2,
        before: { count: 0, items: [] },
        after: { count: 1, items: ['posted 1'] },
      },
    ]);
  });

  test('[B12b] of a checkpoint with itself is none', async () => {
    const thread = await new TravelWorld().done();
    const { id } = await head(thread);
    expect(await thread.diff(id, id)).toEqual([]);
  });

  test('[B12b] of two lines: logs by what they have in common, and each side’s own', async () => {
    const thread = await new TravelWorld().done();
    const left = await head(thread);
    const target = await beforeNode(thread, 'publish');
    await thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'redo') });
    await thread.edit({ notes: ['other'] });
    const notes = (await thread.diff(left.id, (await head(thread)).id)).find(({ field }) => field === 'notes');

    expect(notes).toMatchObject({
      common: 2,
      before: { count: 2, items: ['posted 1', '3 notes'] },
      after: { count: 1, items: ['other'] },
    });
  });

  test('[B12b] never reads what two logs share', async () => {
    const world = new TravelWorld();
    const thread = await world.scene.begun({ notes: Array.from({ length: 500 }, (_, n) => `note ${n}`) });
    await thread.run();
    const store = world.scene.world.store();
    const read: string[] = [];
    const watching = await world.scene.open({
      store: withMethods(store, {
        range: async (table, hash, range) => {
          const records = await store.range(table, hash, range);
          if (table === 'segments') read.push(...records.map(({ plain }) => String(plain.from)));
          return records;
        },
      }),
    });
    const found = await watching.diff(await beforeNode(thread, 'publish'), (await head(thread)).id);

    expect(found.find(({ field }) => field === 'notes')).toMatchObject({ common: 502, after: { count: 2 } });
    expect(read.filter((from) => Number(from) < 501)).toEqual([]);
  });

  test('[B12b] of a checkpoint and the state in memory', async () => {
    const thread = await new TravelWorld().done();
    const { id } = await head(thread);
    const state = await plainState(thread);

    expect(await thread.diff(id, await thread.state())).toEqual([]);
    expect(await thread.diff(id, state)).toEqual([]);
    expect(await thread.diff(id, { ...state, name: 'bob', notes: ['x'], extra: 1 })).toMatchObject([
      { field: 'name', changes: [{ path: '', before: 'ann', after: 'bob' }] },
      { field: 'notes', common: 0, before: { count: 4 }, after: { count: 1, items: ['x'] } },
      { field: 'extra', change: 'added', changes: [{ after: 1 }] },
    ]);
    const { name: _, ...without } = state;
    expect(await thread.diff(id, without)).toMatchObject([{ field: 'name', change: 'removed' }]);
  });

  test.each([null, undefined, 3, [[]]])('[B12b] with %j is refused', async (side) => {
    const thread = await new TravelWorld().done();
    const { id } = await head(thread);
    await expect(thread.diff(id, side as never)).rejects.toMatchObject({ code: 'side_invalid' });
  });

  test('[B12b] with what is no checkpoint is refused', async () => {
    const thread = await new TravelWorld().done();
    const entry = (await thread.checkpoints())[0];
    await expect(thread.diff(entry as never, {})).rejects.toMatchObject({ code: 'side_invalid' });
    await expect(thread.inspect(entry as never)).rejects.toThrow('no checkpoint an object, not an id');
    await expect(thread.diff('nonsense' as never, {})).rejects.toMatchObject({ code: 'checkpoint_unknown' });
  });
});

describe('values', () => {
  const cyclic = (name: string) => {
    const made: Record<string, unknown> = { name };
    made.self = made;
    return made;
  };
  const cases: readonly [string, unknown, unknown, readonly string[]][] = [
    ['equal', { a: [1, { b: new Date(1) }] }, { a: [1, { b: new Date(1) }] }, []],
    ['minus zero', { a: 0 }, { a: -0 }, ['changed .a']],
    ['not a number', { a: Number.NaN }, { a: Number.NaN }, []],
    ['dates', new Date(1), new Date(2), ['changed ']],
    ['bytes', new Uint8Array([1]), new Uint8Array([2]), ['changed ']],
    ['same bytes', new Uint8Array([1]), new Uint8Array([1]), []],
    ['maps', new Map([['a', 1]]), new Map([['b', 1]]), ['removed .get("a")', 'added .get("b")']],
    [
      'keys of two types',
      new Map<unknown, number>([[1, 1]]),
      new Map<unknown, number>([['1', 1]]),
      ['removed .get(1)', 'added .get("1")'],
    ],
    ['sets', new Set([1, 2]), new Set([2, 3]), ['removed ', 'added ']],
    ['sets of objects', new Set([{ a: 1 }]), new Set([{ a: 2 }]), ['changed .values()[0].a']],
    ['errors', new Error('a'), new Error('b'), ['changed .message']],
    ['lists', [1, 2, 3], [1], ['removed [1]', 'removed [2]']],
    ['kinds', [], {}, ['changed ']],
    ['cycles', cyclic('a'), cyclic('b'), ['changed .name']],
    [
      'files',
      FileRef.from({ name: 'a', bytes: new Uint8Array(1) }),
      FileRef.from({ name: 'b', bytes: new Uint8Array(1) }),
      ['changed '],
    ],
  ];
  test.each(cases)('[B12b] %s', (_name, before, after, expected) => {
    expect(diffValues(before, after).changes.map(({ change, path }) => `${change} ${path}`)).toEqual(expected);
  });

  test('[B12b] a difference is bounded in number and depth, and says so', () => {
    const deep = (levels: number, leaf: number): unknown => (levels === 0 ? leaf : { in: deep(levels - 1, leaf) });

    expect(diffValues(Array(500).fill(1), Array(500).fill(2))).toMatchObject({
      isComplete: false,
      changes: { length: 200 },
    });
    expect(diffValues(deep(100, 1), deep(100, 2)).changes).toMatchObject([{ path: '.in'.repeat(32) }]);
  });
});
