/** Whoever reads a thread holds no lease: what was about to be read may be collected meanwhile. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import type { EngineThread } from '../../src/engine/engine-thread.ts';
import { value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { head, nth, Scene, withMethods } from './support.ts';

const agent = defineAgent({
  name: 'taker',
  version: 1,
  state: { text: value(z.string(), ''), seen: value(z.string(), '') },
  start: 'go',
  nodes: { go: async ({ text }, { end }) => end({ seen: text }) },
});

/** A thread, opened by somebody for whom it goes on, and is compacted, right after its row was read. */
async function overtaken() {
  const scene = new Scene({ agent });
  const handle = async (text: string) => {
    const thread = await scene.open();
    await thread.send({ text });
    await thread.run();
    scene.clock.advance(1_000);
    return thread;
  };
  await handle('a');
  await handle('b');
  const store = scene.world.store();
  let toMove: 'readThread' | 'takeLease' | undefined;
  /** What the store said, after others did much more. */
  const afterwards = async <Said>(asked: typeof toMove, said: Said): Promise<Said> => {
    if (toMove !== asked) return said;
    toMove = undefined;
    await handle('c');
    await (await handle('d')).compact({ keepCheckpoints: 1, eventDays: 0 });
    return said;
  };
  const thread = await scene.open({
    store: withMethods(store, {
      readThread: async (hash) => afterwards('readThread', await store.readThread(hash)),
      takeLease: async (...given) => afterwards('takeLease', await store.takeLease(...given)),
    }),
  });
  const overtake = (at: 'readThread' | 'takeLease' = 'readThread') => {
    toMove = at;
  };
  return { scene, thread, overtake };
}

test.each<[string, (thread: EngineThread) => Promise<unknown>, unknown]>([
  ['its state', async (thread) => thread.state(), { text: 'd', seen: 'd' }],
  ['its waits', async (thread) => thread.waits(), []],
  ['its log of events', async (thread) => (await thread.events()).length > 0, true],
  ['a comparison', async (thread) => (await thread.compare(thread.id)).fields, []],
])('[A12e] %s is that of now where the thread went on and was compacted meanwhile', async (_, read, expected) => {
  const { thread, overtake } = await overtaken();
  overtake();
  expect(await read(thread)).toEqual(expected);
});

test('[A12e, B12e] a comparison with a thread that goes on and is compacted meanwhile is one with it as it is then', async () => {
  const { scene, thread, overtake } = await overtaken();
  await (await scene.open()).fork((await head(thread)).id, { id: 'fork' });
  scene.lose('checkpoints', (key) => key.includes('.pin.')); // nothing holds what is read
  const store = scene.world.store();
  const row = await thread.row();
  const engine = await scene.world.engine(
    { agent },
    withMethods(store, {
      readThread: async (hash) => {
        const found = await store.readThread(hash);
        if (hash === row?.thread && found?.head === row.head) {
          overtake();
          await thread.row();
        }
        return found;
      },
    }),
  );
  const { fields } = await engine.thread('fork').compare(thread.id);
  expect(fields).toMatchObject([{ field: 'text', changes: [{ before: 'b', after: 'd' }] }, { field: 'seen' }]);
});

test('[A12e, B12d] an edit goes on from now where the thread went on and was compacted meanwhile', async () => {
  const { thread, overtake } = await overtaken();
  overtake();
  await thread.edit({ text: 'edited' });
  expect(await thread.state()).toEqual({ text: 'edited', seen: 'd' });
});

test('[A12e, B12a] a checkpoint that was collected while it was being read is unknown', async () => {
  const { thread, overtake } = await overtaken();
  const [head] = await thread.checkpoints();
  overtake();
  await expect(thread.inspect(head?.id as never)).rejects.toMatchObject({ code: 'checkpoint_unknown' });
});

test('[A12e, A11a] a record that is lost while the thread stands still is reported as lost', async () => {
  const { scene, thread } = await overtaken();
  const [head] = await thread.checkpoints();
  scene.lose('checkpoints', (key) => key === head?.id);
  await expect(thread.state()).rejects.toMatchObject({ code: 'record_missing', details: { key: head?.id } });
});

test('[P3b, B12a] several views of one head read it once; a new head is read anew', async () => {
  const { scene } = await overtaken();
  const store = scene.world.store();
  let reads = 0;
  const thread = await scene.open({
    store: withMethods(store, {
      range: (table, ...rest) => {
        if (table === 'checkpoints') reads += 1;
        return store.range(table, ...rest);
      },
    }),
  });
  expect(await thread.state()).toEqual({ text: 'b', seen: 'b' });
  const first = reads;
  expect(first).toBeGreaterThan(0);
  expect(await thread.waits()).toEqual([]);
  expect(await thread.state()).toEqual({ text: 'b', seen: 'b' });
  expect(reads).toBe(first);

  await (await scene.open()).edit({ text: 'edited' });
  expect(await thread.state()).toEqual({ text: 'edited', seen: 'b' });
});

const calling = defineAgent({
  name: 'caller',
  version: 1,
  state: {},
  tools: {
    look: tool({ name: 'look', description: 'Looks', input: z.object({}), effect: 'idempotent', run: () => 1 }),
  },
  start: 'go',
  nodes: {
    go: async (_state, { call, end }) => {
      await call('look', {});
      return end();
    },
  },
});

type Table = 'ledger' | 'events';

/** A thread that goes on, and is compacted, between its row and what is read of this table; once, or each time. */
async function collectedUnder(table: Table) {
  const scene = new Scene({ agent: calling });
  const input = async () => {
    const thread = await scene.open();
    await thread.send({});
    await thread.run();
    scene.clock.advance(1_000);
    return thread;
  };
  for (let count = 0; count < 3; count += 1) await input();
  const store = scene.world.store();
  let isToMove = false;
  const thread = await scene.open({
    store: withMethods(store, {
      range: async (read, ...rest) => {
        if (isToMove && read === table) {
          isToMove = false;
          await input();
          await (await input()).compact({ keepCheckpoints: 1, eventDays: 0 });
        }
        return store.range(read, ...rest);
      },
    }),
  });
  const overtake = () => {
    isToMove = true;
  };
  return { scene, thread, overtake };
}

test('[A12e, A2e] its effects are those of now where the thread went on and was compacted meanwhile', async () => {
  const { scene, thread, overtake } = await collectedUnder('ledger');
  overtake();
  const read = await thread.effects();
  expect(read).toEqual(await (await scene.open()).effects());
  expect(read.length).toBeGreaterThan(0);
});

test.each<Table>(['ledger', 'events'])(
  '[A12e, A6b] its log is exported as of now where %s were collected meanwhile',
  async (table) => {
    const { scene, thread, overtake } = await collectedUnder(table);
    const exported = async (from: EngineThread) => {
      const lines: unknown[] = [];
      for await (const line of from.exportLog()) lines.push(JSON.parse(line));
      return lines;
    };
    overtake();
    expect(await exported(thread)).toEqual(await exported(await scene.open()));
  },
);

test.each<Table>(['ledger', 'events'])(
  '[A12e, A6b] its events are those of now where %s were collected meanwhile',
  async (table) => {
    const { scene, thread, overtake } = await collectedUnder(table);
    overtake();
    expect(await thread.events()).toEqual(await (await scene.open()).events());
  },
);

test('[A12e, A6b] a log that is read on after its older part was collected shows nothing of that as lost', async () => {
  const { scene, thread } = await collectedUnder('ledger');
  const { id } = nth(await thread.events({ limit: 1 }), -1);
  for (let count = 0; count < 2; count += 1) {
    await thread.send({});
    await thread.run();
    scene.clock.advance(1_000);
  }
  await thread.compact({ keepCheckpoints: 1, eventDays: 0 });
  expect((await thread.events({ from: id })).map(({ outcome }) => outcome)).not.toContain('lost');
});

test('[B14c, A12e] a runner that stood still while the thread went on and was compacted has lost it: nothing is missing', async () => {
  const { scene, thread, overtake } = await overtaken();
  overtake('takeLease');

  expect(await thread.run()).toEqual({ end: 'lost' });
  expect(scene.frames('blocked')).toEqual([]);
  expect(await (await scene.open()).run()).toEqual({ end: 'done' });
});
