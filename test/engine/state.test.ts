import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type Log, log, type SecretField, value } from '../../src/model/fields.ts';
import { FileRef } from '../../src/model/file-ref.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { answer, only, plainState, Scene, withMethods } from './support.ts';

const token: SecretField<string> = { kind: 'secret', schema: z.string() };

/** Uses a token that is never stored, across a wait. */
function guarded(rehydrated: string[] = []) {
  const used: string[] = [];
  const ask = tool({
    name: 'ask',
    description: 'Asks',
    input: z.object({}),
    effect: 'idempotent',
    approval: 'always',
    run: () => 'asked',
  });
  const agent = defineAgent({
    name: 'guarded',
    version: 1,
    state: { token, user: value(z.string(), 'ann') },
    tools: { ask },
    start: 'one',
    nodes: {
      one: (state, { goto }) => {
        used.push(`${state.token}`);
        return goto('two', { user: 'bob' });
      },
      two: async (state, { call, end }) => {
        used.push(`${state.token}`);
        await call('ask', {});
        used.push(`${state.token}`);
        return end();
      },
    },
    rehydrate: async ({ user }) => {
      rehydrated.push(user);
      return { token: `hush-${user}-${rehydrated.length}` };
    },
  });
  return { scene: new Scene({ agent }), used };
}

describe('a secret', () => {
  test('[A13b, A7f] is made again by rehydrate on each start, from the state as it is then', async () => {
    const rehydrated: string[] = [];
    const { scene, used } = guarded(rehydrated);
    const thread = await scene.begun();
    await thread.run();
    await answer(thread, only(await thread.waits()), { decision: 'allow' });
    await (await scene.open()).run();

    expect(rehydrated).toEqual(['ann', 'bob']);
    expect(used).toEqual(['hush-ann-1', 'hush-ann-1', 'hush-bob-2', 'hush-bob-2']);
  });

  test('[A13b] never enters a record of any kind', async () => {
    const { scene } = guarded();
    const thread = await scene.begun();
    await thread.run();
    await answer(thread, only(await thread.waits()), { decision: 'allow' });
    await thread.run();
    const tables = ['checkpoints', 'segments', 'blobs', 'ledger', 'events', 'inbox', 'waits'] as const;
    const records = (await Promise.all(tables.map((table) => scene.stored(table)))).flat();
    const texts = records.map(({ body }) => new TextDecoder('latin1').decode(body));

    expect(texts.filter((text) => text.includes('ask')).length).toBeGreaterThan(0); // the stand-in cipher hides nothing
    expect(texts.filter((text) => text.includes('hush'))).toEqual([]);
  });

  test('[A13b, A7e] cannot be set by an input or an update', async () => {
    const { scene } = guarded();
    const thread = await scene.open();

    await expect(thread.send({ token: 'hush' })).rejects.toMatchObject({
      code: 'field_unknown',
      details: { known: '"user"' },
    });
  });
});

describe('a log', () => {
  const counter = (turns: number, look: (items: Log<number>) => Promise<unknown> = async () => undefined) =>
    defineAgent({
      name: 'counter',
      version: 1,
      state: { items: log(z.number()) },
      start: 'turn',
      maxSteps: 1_000,
      nodes: {
        turn: async ({ items }, { goto, end }) => {
          await look(items);
          return items.length < turns ? goto('turn', { items: [items.length] }) : end();
        },
      },
    });

  test('[A2b] longer than what a run keeps at hand gives tail, slices and all items after a restart', async () => {
    const scene = new Scene({ agent: counter(150) });
    await (await scene.begun()).run();
    const { items } = await (await scene.open()).state();
    const view = items as Log<number>;
    const all: number[] = [];
    for await (const item of view) all.push(item);

    expect(view.length).toBe(150);
    expect(all).toEqual(Array.from({ length: 150 }, (_, index) => index));
    expect(await view.tail(3)).toEqual([147, 148, 149]);
    expect(await view.tail(500)).toEqual(all);
    expect(await view.slice(60, 66)).toEqual([60, 61, 62, 63, 64, 65]);
    expect(await view.slice(149)).toEqual([149]);
    expect(await view.slice(10, 5)).toEqual([]);
    expect(await view.slice(140, 900)).toEqual(all.slice(140));
  });

  test('[A2b] gives the running node the same as a restarted one', async () => {
    const seen: unknown[] = [];
    const look = async (items: Log<number>) => {
      if (items.length === 100) seen.push([await items.tail(70), await items.slice(0, 3), await items.slice(30, 40)]);
    };
    const scene = new Scene({ agent: counter(100, look) });
    await (await scene.begun()).run();
    const view = (await (await scene.open()).state()).items as Log<number>;

    expect(seen).toEqual([[await view.tail(70), await view.slice(0, 3), await view.slice(30, 40)]]);
  });

  test('[A2b] of an earlier checkpoint has the length that it had then', async () => {
    const scene = new Scene({ agent: counter(20) });
    await (await scene.begun()).run();
    const thread = await scene.open();
    const early = (await thread.checkpoints()).find(({ sequence }) => sequence === 7);
    const view = (await thread.state(early?.id)).items as Log<number>;

    expect(await view.slice(0)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test('[A2b] takes many items and large ones in one step', async () => {
    const agent = defineAgent({
      name: 'bulk',
      version: 1,
      state: { lines: log(z.string()) },
      start: 'go',
      nodes: {
        go: (_state, { end }) =>
          end({ lines: Array.from({ length: 300 }, (_, index) => `${index} `.repeat(index === 150 ? 5_000 : 60)) }),
      },
    });
    const scene = new Scene({ agent });
    await (await scene.begun({ lines: ['first'] })).run();
    const { lines } = await plainState(await scene.open());
    const texts = lines as string[];

    expect(texts).toHaveLength(301);
    expect(texts[0]).toBe('first');
    expect(texts[151]).toBe('150 '.repeat(5_000));
    expect(texts[300]).toBe('299 '.repeat(60));
  });
});

describe('a file', () => {
  test('[A8b, A8a] is stored once and its bytes are read only when a node asks for them, also after a restart', async () => {
    const bytes = new Uint8Array(200_000).fill(7);
    const read: number[] = [];
    const agent = defineAgent({
      name: 'files',
      version: 1,
      state: { file: value(z.instanceof(FileRef).nullable(), null), sums: log(z.number()) },
      start: 'skip',
      nodes: {
        skip: ({ file }, { goto }) => goto('sum', { file, sums: [file?.sizeBytes ?? 0] }),
        sum: async ({ file }, { end }) => {
          const content = (await file?.bytes()) ?? new Uint8Array(0);
          return end({ file, sums: [content.reduce((sum, byte) => sum + byte, 0)] });
        },
      },
    });
    const scene = new Scene({ agent });
    await scene.begun({ file: FileRef.from({ name: 'a.bin', type: 'x/y', bytes }) });
    const store = scene.world.store();
    const thread = await scene.open({
      store: withMethods(store, {
        range: async (table, ...rest) => {
          const records = await store.range(table, ...rest);
          if (table === 'blobs') read.push(records.length);
          return records;
        },
      }),
      onFrame: (_id, frame) => frame.type === 'running' && frame.node === 'sum' && read.push(-1),
    });
    await thread.run();

    expect(read).toEqual([-1, 5]);
    expect(await scene.stored('blobs')).toHaveLength(5);
    expect((await plainState(thread)).sums).toEqual([200_000, 1_400_000]);
    expect((await (await scene.open()).state()).file).toMatchObject({ name: 'a.bin', type: 'x/y', sizeBytes: 200_000 });
  });
});

describe('what a commit costs', () => {
  const steady = defineAgent({
    name: 'steady',
    version: 1,
    state: { count: value(z.number(), 1_000), lines: log(z.string()) },
    tools: {
      act: tool({ name: 'act', description: 'Acts', input: z.object({}), effect: 'idempotent', run: () => 'result' }),
    },
    start: 'turn',
    maxSteps: 1_000,
    nodes: {
      turn: async ({ count }, { call, goto, end }) => {
        const line = await call('act', {});
        return count < 1_220 ? goto('turn', { count: count + 1, lines: [line] }) : end();
      },
    },
  });

  test('[I8] in records and bytes, step 200 costs what step 10 cost, its effect included', async () => {
    const scene = new Scene({ agent: steady, tiers: { everySteps: 10_000 } });
    await (await scene.begun()).run();
    const records = await Promise.all(
      (['checkpoints', 'segments', 'ledger', 'events'] as const).map((table) => scene.stored(table)),
    );
    const costOf = (step: number) => {
      const key = step.toString(16).padStart(10, '0');
      const checkpoint = records[0]?.find((record) => record.key.startsWith(key));
      const own = records
        .flat()
        .filter(({ commit, key: name }) => commit === checkpoint?.commit || name.startsWith(`${key}.`));
      return { records: own.length, bytes: own.reduce((sum, { body }) => sum + body.length, 0) };
    };

    expect(costOf(10).records).toBe(6);
    expect(costOf(200).records).toBe(6);
    expect(Math.abs(costOf(200).bytes - costOf(10).bytes)).toBeLessThan(24); // counters that need more digits
  });

  test('[I8] reads do not grow with the thread either', async () => {
    const scene = new Scene({ agent: steady, tiers: { everySteps: 10_000 } });
    await scene.begun();
    const store = scene.world.store();
    const reads: number[] = [];
    let current = 0;
    const thread = await scene.open({
      store: withMethods(store, {
        range: async (table, ...rest) => {
          const records = await store.range(table, ...rest);
          current += records.length;
          return records;
        },
      }),
      onFrame: (_id, frame) => {
        if (frame.type !== 'step') return;
        reads.push(current);
        current = 0;
      },
    });
    await thread.run();

    expect(reads[200]).toBe(reads[10]);
  });
});
