/** PROTOCOL 9: the thread row is a cache. What the records say is enough to make it again. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { BodyReader } from '../../src/codec/body.ts';
import { openCheckpoint } from '../../src/codec/checkpoint-codec.ts';
import { openRowControl } from '../../src/codec/control-codec.ts';
import { deviceKeyName, ringOwner } from '../../src/codec/key-ring.ts';
import { readLedger } from '../../src/codec/ledger-codec.ts';
import { Sealer } from '../../src/codec/sealer.ts';
import { readWait } from '../../src/codec/wait-codec.ts';
import { log, value } from '../../src/model/fields.ts';
import type { ThreadRow } from '../../src/model/records.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';

const post = tool({
  name: 'post',
  description: 'Posts',
  input: z.object({ n: z.number() }),
  effect: 'once',
  approval: ({ n }) => n === 2,
  approvalExpiresMs: 60_000,
  run: () => 'posted',
});

const agent = defineAgent({
  name: 'poster',
  version: 3,
  state: { n: value(z.number(), 0), lines: log(z.string()) },
  tools: { post },
  start: 'next',
  nodes: {
    async next({ n }, { call, goto }) {
      const line = await call('post', { n });
      return goto('next', { n: n + 1, lines: [line] });
    },
  },
});

test('[I2, A2a] wrap, newest checkpoint, ledger, waits and inbox give back every field of the row', async () => {
  const world = new TestWorld();
  const thread = (await world.engine({ agent, owner: 'me', namespace: 'ns' })).thread('a thread');
  world.clock.advance(5);
  await thread.send({});
  expect(await thread.run()).toEqual({ end: 'waiting' });
  await thread.send({});
  const row = await thread.row();
  if (row === undefined) throw new Error('the thread was made');

  const { store, keyRing } = await world.ports();
  const codec = await keyRing.openThread(row.thread, row.incarnation);
  // The identity, from the wrap.
  const [wrap] = await store.range('wraps', row.thread, {});
  const ring = await store.get('wraps', ringOwner, 'ring');
  if (wrap === undefined || ring === undefined) throw new Error('wraps were made');
  const root = new Sealer(
    Uint8Array.from(Buffer.from(String(ring.plain.root), 'base64url')),
    await world.rootCipher(deviceKeyName),
    world.random,
  );
  const place = { ...codec.place('wraps', wrap.key, wrap.plain), database: store.name };
  const identity = BodyReader.of((await root.open(place, wrap.body)).plaintext, { table: 'wraps', key: wrap.key });
  identity.bytes();
  const [id, namespace, owner, agentName, createdAtMs] = [
    identity.text(),
    identity.text(),
    identity.text(),
    identity.text(),
    identity.number(),
  ];
  // Where it stands, from the newest checkpoint; what came after it, from the ledger.
  const [newest] = await store.range('checkpoints', row.thread, { reverse: true, limit: 1 });
  if (newest === undefined) throw new Error('checkpoints were made');
  const head = await openCheckpoint(codec, newest);
  const intents = await store.range('ledger', row.thread, {});
  const ledger = intents.filter(({ key }) => key.endsWith('.i')).length;
  const { entries, lost } = await readLedger(codec, 0, ledger);
  const waits = await Promise.all(head.control.waits.map((wait) => readWait(codec, wait)));
  const items = await store.range('inbox', row.thread, { from: 'o:', to: 'o;' });

  const rebuilt: Omit<ThreadRow, 'control' | 'updatedAtMs'> = {
    thread: row.thread,
    namespace,
    owner,
    agent: agentName,
    status: head.control.status,
    head: head.id,
    sequence: Number.parseInt(head.id.slice(0, 10), 16),
    ledger,
    inbox: items.length,
    inboxTaken: head.control.inboxTaken,
    epoch: head.control.epoch,
    incarnation: wrap.key.slice('data:'.length) as never,
    resumes: 0,
    wakeUpAtMs: Math.min(...waits.map((wait) => wait?.expiresAtMs ?? Number.POSITIVE_INFINITY)),
    createdAtMs,
    format: head.kind === undefined ? 0 : 1,
  };
  const { control, updatedAtMs, ...stored } = row;
  expect(rebuilt).toEqual(stored);
  expect(updatedAtMs).toBeGreaterThanOrEqual(head.atMs);
  expect(lost).toEqual([]);
  expect(await openRowControl(codec, { ...row, control })).toEqual({
    threadId: id,
    base: head.base,
    headTag: head.tag,
    ledgerDigest: entries.at(-1)?.digest,
    travel: null, // nobody went back
  });
});
