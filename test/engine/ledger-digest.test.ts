import { expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import { packBody, unpackBody } from '../../src/codec/packer.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';

test('[B4c, A11b] an authentic ledger entry that is not the one the thread names is lost, not "never called"', async () => {
  const calls: number[] = [];
  const isCut = deferred<void>();
  const send = tool({
    name: 'send',
    description: 'Sends',
    input: z.object({ n: z.number() }),
    effect: 'once',
    run: ({ n }) => {
      calls.push(n);
      isCut.resolve();
      return new Promise<string>(() => undefined);
    },
  });
  const agent = defineAgent({
    name: 'sender',
    version: 1,
    state: {},
    tools: { send },
    start: 'go',
    nodes: {
      async go(_, { call, end }) {
        await call('send', { n: 1 });
        return end();
      },
    },
  });
  const world = new TestWorld();
  const cut = (await world.engine({ agent })).thread('t');
  await cut.send({});
  void cut.run();
  await isCut.promise;

  // The same record sealed again by whoever has the key, under another effect key: it opens, and says nothing of this call.
  const { store, keyRing } = await world.ports();
  const row = await cut.row();
  if (row === undefined) throw new Error('the thread was made');
  const codec = await keyRing.openThread(row.thread, row.incarnation);
  const [entry] = await store.range('ledger', row.thread, {});
  if (entry === undefined) throw new Error('the call was recorded');
  const body = unpackBody((await codec.openRecord('ledger', entry)).plaintext) as unknown[];
  body[0] = 'another effect key';
  body[body.length - 1] = new Uint8Array(16);
  const forged = await codec.sealRecord('ledger', entry.key, packBody(body), { plain: entry.plain });
  world.data.records('ledger', row.thread).put({ ...entry, body: forged.body });

  const thread = (await world.engine({ agent })).thread('t');
  expect(await thread.run()).toEqual({ end: 'waiting' });
  expect((await thread.waits()).map(({ kind, tool: asked }) => [kind, asked])).toEqual([['in_doubt', 'send']]);
  expect(calls).toEqual([1]);
});

test('[B10c] a cancel that comes after the end changes nothing', async () => {
  const agent = defineAgent({
    name: 'quick',
    version: 1,
    state: {},
    start: 'go',
    nodes: { go: (_, { end }) => end() },
  });
  const world = new TestWorld();
  const thread = (await world.engine({ agent })).thread('t');
  await thread.send({});
  expect(await thread.run()).toEqual({ end: 'done' });
  await thread.cancel();
  expect(await thread.run()).toEqual({ end: 'done' });
  expect((await thread.row())?.status).toBe('done');
  await thread.send({});
  expect(await thread.run()).toEqual({ end: 'done' });
});
