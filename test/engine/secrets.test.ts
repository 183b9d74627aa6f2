/** What is declared secret is in no record, no event, no frame and no error; and all that is stored is sealed. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { Secrets } from '../../src/base/secrets.ts';
import { KeyRing } from '../../src/codec/key-ring.ts';
import { webCryptography } from '../../src/codec/webcrypto-cipher.ts';
import { Engine } from '../../src/engine/engine.ts';
import { log, secret, value } from '../../src/model/fields.ts';
import { tables } from '../../src/model/records.ts';
import { type AnyAgent, defineAgent } from '../../src/program/agent.ts';
import { Refusal, tool } from '../../src/program/tool.ts';
import { MemoryKeyStore } from '../../src/stores/memory/memory-key-store.ts';
import { MemoryStore } from '../../src/stores/memory/memory-store.ts';
import { ManualClock } from '../../src/testing/manual-clock.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { only, Scene } from './support.ts';

const token = 'tok-3n & "quoted"';
const shown = [token, encodeURIComponent(token), JSON.stringify(token).slice(1, -1)];

type Node = (given: { token: string; call: (name: 'ping', input: { text: string }) => Promise<string> }) => unknown;

/** A node that does something with its token, and a tool that fails with it. */
function given(
  work: Node,
  {
    effect = 'idempotent',
    ...options
  }: { readonly effect?: 'idempotent' | 'once'; readonly secrets?: () => readonly string[] } = {},
) {
  const ping = tool({
    name: 'ping',
    description: 'Pings',
    input: z.object({ text: z.string() }),
    effect,
    retry: { attempts: 1 },
    run: ({ text }) => {
      if (text === 'leak') return `your token is ${token}`;
      if (text === 'refuse') throw new Refusal(`401 for ${token}`);
      if (text === 'fail')
        throw new Error(`GET /?key=${encodeURIComponent(token)} failed`, { cause: new Error(token) });
      return 'pong';
    },
  });
  const agent = defineAgent({
    name: 'keeper',
    version: 1,
    state: { token: secret(z.string()), user: value(z.string(), ''), notes: log(z.string()) },
    tools: { ping },
    start: 'go',
    nodes: {
      go: {
        retry: { attempts: 1 },
        run: async (state, { call, end }) => {
          const update = await work({ token: `${state.token}`, call: call as never });
          return end(update as never);
        },
      },
    },
    rehydrate: () => ({ token }),
  });
  const scene = new Scene({ agent, ...options });
  const run = async () => {
    const thread = await scene.begun();
    const end = await thread.run();
    const lines: string[] = [];
    for await (const line of thread.exportLog()) lines.push(line);
    const left = JSON.stringify([end, scene.world.frames, lines, await thread.checkpoints(), await thread.effects()]);
    let stored = '';
    const decoder = new TextDecoder('utf-8');
    for (const table of tables) for (const { body } of await scene.stored(table)) stored += decoder.decode(body);
    return { thread, end, left, stored };
  };
  return { scene, run };
}

const leaks: readonly [string, Node][] = [
  ['the error of a node', ({ token }) => Promise.reject(new Error(`no access with ${token}`))],
  [
    'the cause of an error',
    ({ token }) => Promise.reject(new Error('no', { cause: new Error(JSON.stringify({ token })) })),
  ],
  ['the refusal of a tool', ({ call }) => call('ping', { text: 'refuse' })],
  ['the failure of a tool', ({ call }) => call('ping', { text: 'fail' })],
  ['the result of a tool', ({ call }) => call('ping', { text: 'leak' })],
  ['the arguments of a tool', ({ token, call }) => call('ping', { text: `for ${token}` })],
  ['the update of a node', ({ token }) => ({ notes: [`it is ${token}`] })],
  ['a value of the state', ({ token }) => ({ user: token })],
];

describe('a value declared secret', () => {
  test.each(leaks)(
    '[A13c, A13b] is taken out of %s: no record, event, frame or error holds it',
    async (_what, work) => {
      const { scene, run } = given(work);
      const { end, left, stored } = await run();
      expect(end.end).toBe('failed');
      for (const form of shown)
        expect(left.includes(form) || left.includes(JSON.stringify(form).slice(1, -1))).toBe(false);
      // The cipher of these tests hides nothing.
      expect(stored).not.toContain(token);
      expect(scene.frames('status').at(-1)?.failure?.message).not.toContain(token);
    },
  );

  test('[A13c] leaves the rest of a message', async () => {
    const { scene, run } = given(({ token }) => Promise.reject(new Error(`no access with ${token} today`)));
    await run();
    expect(scene.frames('status').at(-1)?.failure?.message).toBe('no access with [secret] today');
  });

  test('[A13c] a failed call gives the same error on a re-run as on the first', async () => {
    const errors: string[] = [];
    const { run } = given(async ({ call }) => {
      await call('ping', { text: 'refuse' }).catch((error: Error) => errors.push(error.message));
      return {};
    });
    expect((await run()).end.end).toBe('done');
    expect(only(errors)).toContain('[secret]');
  });

  test('[A13c, A13b] is taken out of the reason why a call is in doubt', async () => {
    const { run } = given(({ call }) => call('ping', { text: 'fail' }), { effect: 'once' });
    const { end, stored, left } = await run();
    expect(end).toEqual({ end: 'waiting' });
    expect(stored + left).toContain('[secret]');
    for (const form of shown) expect(stored.includes(form) || left.includes(form)).toBe(false);
  });

  test('[A13c] a text of the registry is treated like one', async () => {
    const work: Node = () => Promise.reject(new Error('key sk-12345678 was refused'));
    const { scene, run } = given(work, { secrets: () => ['sk-12345678'] });
    await run();
    expect(scene.frames('status').at(-1)?.failure?.message).toBe('key [secret] was refused');
  });

  test('[A13c] short texts and other values stay what they are', () => {
    const secrets = new Secrets();
    secrets.add({ pin: '123', deep: ['abcdefgh', new Map([['k', 'mapsecret']])] });
    const data = { text: '123 abcdefgh', at: new Date(0), list: ['mapsecret'] };
    expect(secrets.masked(data)).toEqual({ text: '123 [secret]', at: new Date(0), list: ['[secret]'] });
    expect(secrets.isIn({ a: [new Set(['x mapsecret'])] })).toBe(true);
    expect(secrets.isIn({ a: '123' })).toBe(false);
  });
});

test('[A13a] no payload of any kind is in the clear, in no table and no row', async () => {
  const marker = 'the marker of a payload';
  const store = new MemoryStore();
  const random = seededRandom(1);
  const keyRing = await KeyRing.open(store, new MemoryKeyStore<CryptoKey>(), webCryptography, random);
  const echo = tool({
    name: 'echo',
    description: 'Echoes',
    input: z.object({ text: z.string() }),
    effect: 'once',
    retry: { attempts: 1 },
    approval: ({ text }) => text.includes('ask'),
    reason: () => marker,
    run: ({ text }) => {
      if (text.includes('fail')) throw new Refusal(`${marker} failed`);
      return `${marker} of ${text}`;
    },
  });
  const agent: AnyAgent = defineAgent({
    name: 'marked',
    version: 1,
    state: { text: value(z.string(), ''), big: value(z.string(), ''), lines: log(z.string()) },
    tools: { echo },
    start: 'go',
    nodes: {
      go: async ({ text }, { call, end }) => {
        const line = await call('echo', { text });
        await call('echo', { text: `${text} fail` }).catch(() => undefined);
        await call('echo', { text: `${text} ask` }).catch(() => undefined);
        return end({ lines: [line] });
      },
    },
  });
  const engine = new Engine({ store, keyRing, clock: new ManualClock(), random }, { agent });
  const thread = engine.thread(marker);
  await thread.send({ text: marker, big: marker.repeat(4_000) });
  await thread.run();
  const [wait] = await thread.waits();
  if (wait === undefined) throw new Error('it asks');
  await thread.answer(wait.id, wait.digest, { decision: 'deny', reason: marker });
  await thread.run();

  const hash = await thread.hash();
  const decoder = new TextDecoder('utf-8');
  const kinds = new Set<string>();
  for (const table of tables) {
    for (const record of await store.range(table, hash, {})) {
      kinds.add(table);
      const clear = decoder.decode(record.body) + JSON.stringify({ ...record, body: '' });
      expect(clear).not.toContain('marker');
    }
  }
  expect([...kinds].sort()).toEqual([...tables].sort());
  const row = await store.readThread(hash);
  expect(JSON.stringify({ ...row, control: '' }) + decoder.decode(row?.control)).not.toContain('marker');
});
