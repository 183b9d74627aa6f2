import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { log, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { head, plainState, quiet, Scene } from './support.ts';

const state = { trail: log(z.string()), sum: value(z.number(), 0, (sum, more: number) => sum + more) };

describe('a fan-out', () => {
  const agent = defineAgent({
    name: 'fan',
    version: 1,
    state: { words: value(z.array(z.string()), []), out: log(z.string()), most: value(z.number(), 0) },
    start: 'spread',
    nodes: {
      spread: ({ words }, { fanOut }) => fanOut('read', words, { join: 'gather', limit: 3 }),
      read: (_state, { item, goto }) => goto('write', { out: [`read ${item(z.string())}`] }),
      write: (_state, { item, end }) => end({ out: [`write ${item(z.string())}`] }),
      gather: (_state, { end }) => end({ out: ['gather'] }),
    },
  });

  test('[B1e] runs a line for each item, in the order of the items', async () => {
    const thread = await new Scene({ agent }).begun({ words: ['x', 'y'] });

    expect(await thread.run()).toEqual({ end: 'done' });
    expect((await plainState(thread)).out).toEqual(['read x', 'write x', 'read y', 'write y', 'gather']);
  });

  test('[B1e] of no items goes on at once', async () => {
    const thread = await new Scene({ agent }).begun({ words: [] });

    expect(await thread.run()).toEqual({ end: 'done' });
    expect((await plainState(thread)).out).toEqual(['gather']);
  });

  test('[B1e] leaves nothing of its lines in the state once they are joined', async () => {
    const scene = new Scene({ agent });
    const thread = await scene.begun({ words: ['x', 'y'] });
    await thread.run();

    expect(Object.keys(await thread.state()).sort()).toEqual(['most', 'out', 'words']);
    const [newest] = await thread.checkpoints({ limit: 1 });
    expect(newest?.kind).toBe('snapshot');
    expect(newest?.position.next).toEqual([]);
  });

  test('[B1e] runs no more lines at a time than its limit', async () => {
    let running = 0;
    let most = 0;
    const limited = defineAgent({
      name: 'limited',
      version: 1,
      state: { out: log(z.string()) },
      start: 'spread',
      nodes: {
        spread: (_state, { fanOut }) => fanOut('read', [1, 2, 3, 4, 5], { limit: 2 }),
        read: async (_state, { end }) => {
          running += 1;
          most = Math.max(most, running);
          await quiet();
          running -= 1;
          return end();
        },
      },
    });
    const thread = await new Scene({ agent: limited }).begun();

    expect(await thread.run()).toEqual({ end: 'done' });
    expect(most).toBe(2);
  });

  test('[B1e] inside of a line is joined into that line', async () => {
    const nested = defineAgent({
      name: 'nested',
      version: 1,
      state,
      start: 'outer',
      nodes: {
        outer: (_state, { fanOut }) => fanOut('inner', ['a', 'b'], { join: 'last' }),
        inner: (_state, { fanOut, item }) =>
          fanOut('leaf', [1, 2], { join: 'joined', update: { trail: [`fork ${item(z.string())}`] } }),
        leaf: (_state, { end, item }) => end({ trail: [`leaf ${item(z.number())}`], sum: 1 }),
        joined: ({ trail, sum }, { end, item }) => end({ trail: [`join ${item(z.string())} ${trail.length} ${sum}`] }),
        last: ({ sum }, { end }) => end({ trail: [`sum ${sum}`] }),
      },
    });
    const thread = await new Scene({ agent: nested }).begun();

    expect(await thread.run()).toEqual({ end: 'done' });
    const line = (name: string) => [`fork ${name}`, 'leaf 1', 'leaf 2', `join ${name} 3 2`];
    expect((await plainState(thread)).trail).toEqual([...line('a'), ...line('b'), 'sum 4']);
  });

  test('[B1e] an item that does not fit its schema, or is not there, is a clear error', async () => {
    const wrong = defineAgent({
      name: 'wrong',
      version: 1,
      state,
      start: 'spread',
      nodes: { spread: (_state, { item, end }) => end({ trail: [item(z.string())] }) },
    });
    const thread = await new Scene({ agent: wrong }).begun();

    expect(await thread.run()).toMatchObject({ end: 'failed' });
    expect((await head(thread)).control.failure).toMatchObject({ code: 'item_invalid', details: { node: 'spread' } });
  });
});
