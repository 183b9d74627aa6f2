/** Compaction and the end of threads, as an engine does them. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { sealMarks } from '../../src/codec/quarantine.ts';
import { readArchive } from '../../src/engine/archive.ts';
import type { KeepArchive } from '../../src/engine/ports.ts';
import { log, value } from '../../src/model/fields.ts';
import { tables } from '../../src/model/records.ts';
import type { QuarantinedRecord } from '../../src/model/repair.ts';
import { dayMs } from '../../src/model/retention.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { answer, nth, only, plainState, Scene, withMethods } from './support.ts';

function given() {
  const sent: string[] = [];
  const send = tool({
    name: 'send',
    description: 'Sends',
    input: z.object({ text: z.string() }),
    effect: 'once',
    approval: ({ text }) => text === 'ask',
    run: ({ text }) => {
      sent.push(text);
      return `sent ${text}`;
    },
  });
  const agent = defineAgent({
    name: 'sender',
    version: 1,
    state: { text: value(z.string(), ''), lines: log(z.string()) },
    tools: { send },
    start: 'go',
    nodes: {
      go: {
        retry: { attempts: 1 },
        run: async ({ text }, { call, ask, end }) => {
          if (text === 'fail') throw new Error('no');
          if (text === 'twice') {
            await call('send', { text: 'first' });
            await call('send', { text: 'ask' });
            return end({ lines: [await call('send', { text: 'ask' })] });
          }
          if (text === 'survey') {
            const answers = [await ask('1?'), await ask('2?'), await ask('3?'), await ask('4?')];
            return end({ lines: answers.map(String) });
          }
          return end({ lines: [await call('send', { text: text.slice(0, 20) })] });
        },
      },
    },
  });
  const scene = new Scene({ agent });
  const handle = async (text: string) => {
    const thread = await scene.open();
    await thread.send({ text });
    const end = await thread.run();
    scene.clock.advance(1_000);
    return end;
  };
  return { scene, sent, handle };
}

/** As a repair does. */
async function mark(scene: Scene, { table, key }: Pick<QuarantinedRecord, 'table' | 'key'>): Promise<void> {
  const { keyRing, store } = await scene.world.ports();
  const row = await (await scene.open()).row();
  if (row === undefined) throw new Error('it is there');
  const { thread, incarnation } = row;
  const codec = await keyRing.openThread(thread, incarnation);
  const records = await sealMarks(codec, [{ table, key, reason: 'damaged', atMs: 1, repairedBy: 'a repair' as never }]);
  await store.commit([{ id: 'mark' as never, thread, incarnation, durability: 'strict', conditions: [], records }]);
}

const ended = { keepCheckpoints: 2, eventDays: 0 };

describe('compaction', () => {
  test('[A12e] keeps what an open wait needs, and the thread goes on', async () => {
    const { scene, sent, handle } = given();
    for (const text of ['a', 'b', 'c', 'ask']) await handle(text);
    const { deleted } = await (await scene.open()).compact(ended);
    expect(deleted.checkpoints).toBeGreaterThan(4);
    expect(deleted.ledger).toBeGreaterThan(2);

    const thread = await scene.open();
    await answer(thread, only(await thread.waits()), { decision: 'allow' });
    expect(await thread.run()).toEqual({ end: 'done' });
    expect(sent).toEqual(['a', 'b', 'c', 'ask']);
    expect(await plainState(thread)).toMatchObject({ lines: ['sent a', 'sent b', 'sent c', 'sent ask'] });
  });

  test.each(['its head is', 'all of its checkpoints are'])(
    '[A12e, I10] takes nothing from a thread of which %s gone: it is repaired first',
    async (gone) => {
      const { scene, sent, handle } = given();
      for (const text of ['a', 'b']) await handle(text);
      const newest = (await scene.stored('checkpoints')).at(-1)?.key;
      scene.lose('checkpoints', (key) => gone.startsWith('all') || key === newest);
      const records = () => Promise.all(tables.map((table) => scene.stored(table)));
      const before = await records();

      const compacting = (await scene.open()).compact({ ...ended, keepCheckpoints: 1 });
      await expect(compacting).rejects.toMatchObject({ code: 'record_missing' });
      expect(await records()).toEqual(before);
      expect(await (await scene.open()).run()).toEqual({ end: 'done' });
      expect(sent).toEqual(['a', 'b']);
    },
  );

  test('[A12e, A11d] keeps what a repair needs: the thread falls back, and does nothing twice', async () => {
    const { scene, sent, handle } = given();
    for (const text of ['a', 'b', 'c', 'd']) await handle(text);
    await (await scene.open()).compact({ ...ended, keepCheckpoints: 4 });
    const [fallback, ...newer] = (await scene.stored('checkpoints')).filter(({ key }) => !key.endsWith('.base'));
    scene.damage('checkpoints', (key) => newer.some((record) => record.key === key));
    scene.damage('events', (key) => newer.some((record) => record.key === key));

    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(only(scene.frames('repaired')).repair.to).toBe(fallback?.key);
    expect(sent).toEqual(['a', 'b', 'c', 'd']);
    expect(await plainState(await scene.open())).toEqual({
      text: 'd',
      lines: ['sent a', 'sent b', 'sent c', 'sent d'],
    });
  });

  test('[A12e, A11b] leaves a base that a repair marked, and the checkpoint above it', async () => {
    const { scene, handle } = given();
    for (const text of ['a', 'b', 'c', 'd']) await handle(text);
    await (await scene.open()).compact(ended);
    const base = only((await scene.stored('checkpoints')).filter(({ key }) => key.endsWith('.base')));
    await mark(scene, { table: 'checkpoints', key: base.key });
    for (const text of ['e', 'f', 'g', 'h']) await handle(text);
    await (await scene.open()).compact(ended);

    const left = (await scene.stored('checkpoints')).map(({ key }) => key);
    expect(left).toHaveLength(5);
    expect(left).toEqual(expect.arrayContaining([base.key, base.key.replace('.base', '')]));
  });

  test('[A12e, A11d] keeps the calls before a wait, of a step that runs again from it', async () => {
    const { scene, sent, handle } = given();
    await handle('twice');
    for (const _ of [1, 2]) {
      scene.clock.advance(1_000);
      const thread = await scene.open();
      await answer(thread, only(await thread.waits()), { decision: 'allow' });
      await thread.run();
    }
    scene.clock.advance(1_000);
    await (await scene.open()).compact(ended);
    const { key } = nth(await scene.stored('checkpoints'), -1);
    scene.damage('checkpoints', (other) => other === key);
    scene.damage('events', (other) => other === key);

    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(sent).toEqual(['first', 'ask', 'ask']);
  });

  test('[A12e, B9a] keeps the answers that a step was given before the wait at which it stands', async () => {
    const { scene, handle } = given();
    await handle('survey');
    for (const value of ['a', 'b', 'c', 'd']) {
      const thread = await scene.open();
      await answer(thread, only(await thread.waits()), { decision: 'reply', value });
      await thread.compact({ keepCheckpoints: 1, eventDays: 0 });
      await thread.run();
      scene.clock.advance(1_000);
    }
    expect(await plainState(await scene.open())).toMatchObject({ lines: ['a', 'b', 'c', 'd'] });
  });

  test('[A12e, A11d] keeps the answers of a step that a repair let run again from before its waits', async () => {
    const { scene, handle } = given();
    await handle('survey');
    const one = async (value: string) => {
      const thread = await scene.open();
      await answer(thread, only(await thread.waits()), { decision: 'reply', value });
      return thread;
    };
    await one('a');
    const { key } = nth(await scene.stored('checkpoints'), -1);
    for (const table of ['checkpoints', 'events'] as const) scene.lose(table, (other) => other === key);
    scene.clock.advance(1_000);
    await (await scene.open()).run();
    for (const value of ['b', 'c', 'd']) {
      scene.clock.advance(1_000);
      await (await scene.open()).compact({ keepCheckpoints: 1, eventDays: 0 });
      await (await one(value)).run();
    }
    expect(await plainState(await scene.open())).toMatchObject({ lines: ['a', 'b', 'c', 'd'] });
  });

  test('[A12e, B12c] keeps the results that calls are given again after a wait', async () => {
    const { scene, sent, handle } = given();
    const allowOne = async () => {
      const thread = await scene.open();
      await answer(thread, only(await thread.waits()), { decision: 'allow' });
      scene.clock.advance(1_000);
      return thread.run();
    };
    await handle('twice');
    await allowOne();
    await allowOne();
    await handle('b');
    const thread = await scene.open();
    const [first, second, ...others] = await thread.effects();
    const { id } = nth(await thread.checkpoints(), -1);
    const reused = [first, second].map((effect) => [effect?.key, 'reuse']);
    await thread.rollBack(id, {
      effects: Object.fromEntries([...reused, ...others.map(({ key }) => [key, 'redo'])]),
    });
    expect(await thread.run()).toEqual({ end: 'waiting' });
    scene.clock.advance(1_000);
    await (await scene.open()).compact({ keepCheckpoints: 1, eventDays: 0 });

    expect(await allowOne()).toEqual({ end: 'done' });
    expect(sent).toEqual(['first', 'ask', 'ask', 'b', 'ask']);
  });

  test('[A12e, B11b] an input that was taken is known by its id, also when the item itself is gone', async () => {
    const { scene, sent } = given();
    for (const text of ['a', 'b', 'c']) {
      const thread = await scene.open();
      await thread.send({ text }, `id of ${text}`);
      await thread.run();
      scene.clock.advance(1_000);
    }
    expect((await (await scene.open()).compact(ended)).deleted.inbox).toBe(2);
    const thread = await scene.open();
    await thread.send({ text: 'a' }, 'id of a');
    await thread.run();
    expect(sent).toEqual(['a', 'b', 'c']);
  });

  test('[A12d, A12e] a large value that an input names again while its bytes are being freed stays', async () => {
    const { scene, handle } = given();
    const big = 'b'.repeat(20_000);
    for (const text of [big, 'x', 'y', 'z']) await handle(text);
    const store = scene.world.store();
    let isSent = false;
    const racing = withMethods(store, {
      commit: async (groups) => {
        const isFreeing = groups.some(({ records }) =>
          records.some(({ table, body }) => table === 'blobs' && body.length === 0),
        );
        if (isFreeing && !isSent) {
          isSent = true;
          await (await scene.open()).send({ text: big });
        }
        return store.commit(groups);
      },
    });
    await (await scene.open({ store: racing })).compact(ended);

    expect(isSent).toBe(true);
    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(await plainState(await scene.open())).toMatchObject({ text: big });
  });

  test('[A12e] does nothing to a thread that runs', async () => {
    const { scene, handle } = given();
    for (const text of ['a', 'b', 'c']) await handle(text);
    scene.changeRow((row) => ({ ...row, status: 'running' }));
    expect(await (await scene.open()).compact(ended)).toEqual({ deleted: {} });
  });

  test.each(['before', 'after'] as const)(
    '[A12d, I1] leaves alone a large value that comes with an input right %s it reads which there are',
    async (when) => {
      const { scene, handle } = given();
      await handle('a');
      const store = scene.world.store();
      const text = 'x'.repeat(9_000);
      let isSent = false;
      const overtaken = withMethods(store, {
        range: async (table, thread, range) => {
          if (table !== 'blobs' || isSent) return store.range(table, thread, range);
          isSent = true;
          const before = when === 'after' ? await store.range(table, thread, range) : undefined;
          await (await scene.open()).send({ text });
          return before ?? store.range(table, thread, range);
        },
      });
      await (await scene.open({ store: overtaken })).compact({ keepCheckpoints: 1, eventDays: 0 });

      expect(isSent).toBe(true);
      const thread = await scene.open();
      expect(await thread.run()).toEqual({ end: 'done' });
      expect((await plainState(thread)).text).toBe(text);
    },
  );

  test('[A6b, A6c] the event log goes on where it was cut, and shows no call as lost', async () => {
    const { scene, handle } = given();
    for (const text of ['a', 'b', 'c', 'd', 'e']) await handle(text);
    scene.clock.advance(5 * dayMs);
    const before = await (await scene.open()).events();
    const { deleted } = await (await scene.open()).compact({ keepCheckpoints: 4, eventDays: 2 });
    expect(deleted.events).toBeGreaterThan(2);
    const after = await (await scene.open()).events();
    expect(after).toEqual(before.slice(-after.length));
  });
});

describe('a thread whose time is over', () => {
  async function archived(days: number, text: string, archive?: KeepArchive) {
    const { scene, handle } = given();
    await handle(text);
    const engine = await scene.world.engine({ agent: scene.agent });
    scene.clock.advance(days * dayMs);
    return { scene, engine, purge: await engine.purge({}, archive) };
  }

  test.each([
    ['done', 'a', 7],
    ['failed', 'fail', 30],
  ] as const)('[A12b] a %s one goes after its days, and not before', async (_status, text, days) => {
    expect((await archived(days - 1, text)).purge.purged).toEqual([]);
    const { scene, purge } = await archived(days, text);
    expect(purge.purged).toHaveLength(1);
    expect(await (await scene.open()).row()).toBeUndefined();
  });

  test('[A12b, A12c] a failed one is archived first, too; none goes where what should keep it is no function', async () => {
    const archives: Uint8Array[] = [];
    const { purge } = await archived(30, 'fail', async (bytes) => void archives.push(bytes));
    expect([purge.purged.length, archives.length]).toEqual([1, 1]);

    const { scene, handle } = given();
    await handle('a');
    scene.clock.advance(7 * dayMs);
    const engine = await scene.world.engine({ agent: scene.agent });
    const keep = async (bytes: Uint8Array) => void archives.push(bytes);
    await expect(engine.purge(keep as never)).rejects.toMatchObject({ code: 'retention_invalid' });
    await expect(engine.purge({}, { archive: keep } as never)).rejects.toMatchObject({ code: 'option_invalid' });
    await expect(scene.world.engine({ agent: scene.agent, archive: 'yes' as never })).rejects.toMatchObject({
      code: 'option_invalid',
    });
    expect(await (await scene.open()).row()).toMatchObject({ status: 'done' });
  });

  test('[A12c] a finished one is archived first, with every record as it was', async () => {
    const archives: Uint8Array[] = [];
    const { scene, handle } = given();
    await handle('x'.repeat(9_000));
    const before = [
      ...(await scene.stored('checkpoints')),
      ...(await scene.stored('blobs')),
      ...(await scene.stored('wraps')),
    ];
    scene.clock.advance(7 * dayMs);
    const engine = await scene.world.engine({ agent: scene.agent });
    await engine.purge({}, async (bytes) => void archives.push(bytes));

    const { records, row, database } = readArchive(only(archives));
    const own = records.filter(({ table }) => table === 'checkpoints' || table === 'blobs' || table === 'wraps');
    const inOrder = (list: readonly { key: string }[]) => list.map(({ key }) => key).sort();
    expect(inOrder(own)).toEqual(inOrder(before));
    expect(own.map(({ table: _, ...record }) => record)).toEqual(expect.arrayContaining(before));
    expect({ database, status: row.status, owner: row.owner }).toEqual({
      database: 'test',
      status: 'done',
      owner: 'local',
    });
    expect(() => readArchive(only(archives).slice(0, -1))).toThrow(/ends within entry/);
  });

  test('[A12c] is archived with its id, which its row has as a hash alone; without where its record is damaged', async () => {
    const ids: unknown[] = [];
    const keep: KeepArchive = async (_bytes, _row, id) => void ids.push(id);
    await archived(7, 'a', keep);
    const { scene, handle } = given();
    await handle('a');
    scene.changeRow((row) => ({ ...row, control: row.control.slice(0, -1) }));
    scene.clock.advance(7 * dayMs);
    await (await scene.world.engine({ agent: scene.agent })).purge({}, keep);

    expect(ids).toEqual(['thread', undefined]);
  });

  test('[A12c, I10] stays where its archive cannot be kept, and goes the next time', async () => {
    const { scene, engine, purge } = await archived(7, 'a', () => Promise.reject(new Error('no network')));
    expect(purge).toMatchObject({ purged: [], kept: [{ reason: { message: 'no network' } }] });
    expect(await plainState(await scene.open())).toMatchObject({ lines: ['sent a'] });
    expect((await engine.purge()).purged).toHaveLength(1);
  });

  test('[A12e, A15d] stays where an input comes while it is being archived', async () => {
    const { scene, handle } = given();
    await handle('a');
    scene.clock.advance(7 * dayMs);
    const engine = await scene.world.engine({ agent: scene.agent });
    const purge = await engine.purge({}, async () => (await scene.open()).send({ text: 'late' }));
    expect(purge).toMatchObject({ purged: [], kept: [{ reason: 'it has moved on' }] });
    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(nth((await plainState(await scene.open())).lines as string[], -1)).toBe('sent late');
  });
});
