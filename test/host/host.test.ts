/** What a worker does by itself, and what pages see of its threads. Browser and store are the test's; time stands still. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import { log, secret, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import type { HostMethods, StreamMessage } from '../../src/protocol/host-api.ts';
import { nth, only, quiet, withMethods } from '../engine/support.ts';
import { Workers } from './workers.ts';

/** Acts as often as it is told to, each time when the test lets it; then asks for leave to send, if it is told to. */
function given({ expiresMs }: { readonly expiresMs?: number } = {}) {
  const acts: { readonly end: () => void }[] = [];
  const sent: string[] = [];
  const act = tool({
    name: 'act',
    description: 'Acts',
    input: z.object({}),
    effect: 'idempotent',
    run: () => {
      const held = deferred<null>();
      acts.push({ end: () => held.resolve(null) });
      return held.promise;
    },
  });
  const send = tool({
    name: 'send',
    description: 'Sends a letter',
    input: z.object({ to: z.string() }),
    effect: 'once',
    approval: 'always',
    ...(expiresMs !== undefined && { approvalExpiresMs: expiresMs }),
    run: ({ to }) => {
      sent.push(to);
      return to;
    },
  });
  const agent = defineAgent({
    name: 'acting',
    version: 1,
    state: {
      left: value(z.number(), 0),
      to: value(z.string(), ''),
      notes: log(z.string()),
      token: secret(z.string()),
    },
    tools: { act, send },
    rehydrate: () => ({ token: 'hush' }),
    start: 'act',
    nodes: {
      async act({ left }, { call, goto }) {
        if (left === 0) return goto('send');
        await call('act', {});
        return goto('act', { left: left - 1, notes: [`acted ${left}`] });
      },
      async send({ to }, { call, end }) {
        if (to === '') return end();
        return end({ notes: [await call('send', { to }).catch((error: { code: string }) => error.code)] });
      },
    },
  });
  return { workers: new Workers(agent), acts, sent };
}

const statusIn = async (host: HostMethods) => (await host.view('t'))?.status;
const notesIn = async (host: HostMethods) => (await host.state('t', null)).notes;

/** The stream of the thread, as a page gets it. */
async function watched(host: HostMethods): Promise<{ readonly messages: StreamMessage[]; stop(): void }> {
  const { port1, port2 } = new MessageChannel();
  const messages: StreamMessage[] = [];
  port1.onmessage = ({ data }: MessageEvent<StreamMessage>) => messages.push(data);
  await host.watch('t', port2);
  return { messages, stop: () => port1.close() };
}

describe('a worker that starts', () => {
  test('[C3f] goes on by itself with a thread that was running', async () => {
    const { workers, acts } = given();
    const first = await workers.start();
    await first.send('t', { left: 2 }, 'a');
    await quiet();
    await first.close();
    expect(acts).toHaveLength(1);

    const second = await workers.start();
    await quiet();
    expect(acts).toHaveLength(2);
    nth(acts, 1).end();
    await quiet();
    nth(acts, 2).end();
    await quiet();
    expect(await statusIn(second)).toBe('done');
  });

  test('[C3f] on request, leaves it until it is asked to go on', async () => {
    const { workers, acts } = given();
    const first = await workers.start();
    await first.send('t', { left: 1 }, 'a');
    await quiet();
    await first.close();

    const second = await workers.start({ resume: 'on-request' });
    await quiet();
    expect(acts).toHaveLength(1);
    expect(await statusIn(second)).toBe('running');
    await second.resume('t');
    await quiet();
    expect(acts).toHaveLength(2);
  });

  test('[B9b] goes on with a thread whose answer came while nobody ran it', async () => {
    const { workers, sent } = given();
    const first = await workers.start();
    await first.send('t', { to: 'ann' }, 'a');
    await quiet();
    await first.close();
    const engine = await workers.engine();
    const wait = only(await engine.thread('t').waits());
    await engine.thread('t').answer(wait.id, wait.digest, { decision: 'allow' });
    expect(sent).toEqual([]);

    const second = await workers.start();
    await quiet();
    expect(sent).toEqual(['ann']);
    expect(await statusIn(second)).toBe('done');
  });

  test('[I1] goes on with an input that was acknowledged and not begun', async () => {
    const { workers, acts } = given();
    await (await workers.engine()).thread('t').send({ left: 1 });

    await workers.start();
    await quiet();
    expect(acts).toHaveLength(1);
  });
});

describe('a worker that has a thread', () => {
  test('[B9e] wakes it when its approval expires, with nobody asking', async () => {
    const { workers, sent } = given({ expiresMs: 60_000 });
    const host = await workers.start();
    await host.send('t', { to: 'ann' }, 'a');
    await quiet();
    expect(await statusIn(host)).toBe('waiting');
    workers.world.clock.advance(59_999);
    await quiet();
    expect(await statusIn(host)).toBe('waiting');
    workers.world.clock.advance(1);
    await quiet();
    expect(await statusIn(host)).toBe('done');
    expect(await notesIn(host)).toEqual({ length: 1, tail: ['approval_expired'] });
    expect(sent).toEqual([]);
  });

  test('[B9e] wakes it for an approval that expires after a restart', async () => {
    const { workers } = given({ expiresMs: 60_000 });
    const first = await workers.start();
    await first.send('t', { to: 'ann' }, 'a');
    await quiet();
    await first.close();
    const second = await workers.start();
    await quiet();
    workers.world.clock.advance(60_000);
    await quiet();
    expect(await statusIn(second)).toBe('done');
  });

  test('[I10] that the store refuses says why, and tries again by itself: nothing is lost', async () => {
    const { workers, acts } = given();
    const store = workers.world.store();
    let isRefusing = true;
    const fails = () => Promise.reject(new Error('the disk is gone'));
    const refusing = withMethods(store, {
      takeLease: (...args) => (isRefusing ? fails() : store.takeLease(...args)),
    });
    const host = await workers.start({ store: refusing });
    await host.send('t', { left: 1 }, 'a');
    await quiet();
    expect((await host.view('t'))?.blocked?.message).toBe('the disk is gone');
    isRefusing = false;
    workers.world.clock.advance(30_000);
    await quiet();
    nth(acts, 0).end();
    await quiet();
    expect(await host.view('t')).toMatchObject({ status: 'done', blocked: null });
  });

  test('[I1] takes an input that comes in the moment in which its run ends', async () => {
    const { workers, acts } = given();
    const store = workers.world.store();
    let atEnd: (() => Promise<void>) | undefined;
    const host = await workers.start({
      store: withMethods(store, {
        releaseLease: async (...args) => {
          await store.releaseLease(...args);
          const late = atEnd;
          atEnd = undefined;
          await late?.();
        },
      }),
    });
    await host.send('t', { left: 1 }, 'a');
    await quiet();
    atEnd = () => host.send('t', { left: 1 }, 'b');
    nth(acts, 0).end();
    await quiet();
    expect(acts).toHaveLength(2);
  });

  test('[B10a] lets it be cancelled in the middle of a call', async () => {
    const { workers } = given();
    const host = await workers.start();
    await host.send('t', { left: 1 }, 'a');
    await quiet();
    await host.cancel('t', 'b');
    await quiet();
    expect(await statusIn(host)).toBe('cancelled');
  });

  test('[C1a] that closes makes no further call, and its store is closed', async () => {
    const { workers, acts } = given();
    const host = await workers.start();
    await host.send('t', { left: 2 }, 'a');
    await quiet();
    await host.close();
    nth(acts, 0).end();
    await quiet();
    expect(acts).toHaveLength(1);
    await expect(host.view('t')).rejects.toMatchObject({ code: 'store_closed' });
  });
});

describe('two workers on one database', () => {
  test('[B14a] one runs a thread, the other waits for its lock and takes over when it is closed', async () => {
    const { workers, acts } = given();
    const [first, second] = [await workers.start(), await workers.start()];
    await first.send('t', { left: 2 }, 'a');
    await quiet();
    await second.send('t', { left: 2 }, 'a');
    await quiet();
    expect(acts).toHaveLength(1);
    nth(acts, 0).end();
    await quiet();
    expect(acts).toHaveLength(2);
    await first.close();
    await quiet();
    expect(acts).toHaveLength(3);
    nth(acts, 2).end();
    await quiet();
    expect(await statusIn(second)).toBe('done');
  });

  test('[B14a] one that was asked nothing takes over too; on request it does not', async () => {
    for (const [resume, expected] of [
      ['auto', 2],
      ['on-request', 1],
    ] as const) {
      const { workers, acts } = given();
      const first = await workers.start();
      await workers.start({ resume });
      await first.send('t', { left: 1 }, 'a');
      await quiet();
      await first.close();
      await quiet();
      expect(acts, resume).toHaveLength(expected);
    }
  });

  test('[B9b] an answer given in one reaches the run in the other', async () => {
    const { workers, sent } = given();
    const [first, second] = [await workers.start(), await workers.start({ resume: 'on-request' })];
    await first.send('t', { to: 'ann' }, 'a');
    await quiet();
    const wait = only((await second.view('t'))?.waits ?? []);
    await second.answer('t', wait.id, wait.digest, { decision: 'allow' });
    await quiet();
    expect(sent).toEqual(['ann']);
    expect(await statusIn(first)).toBe('done');
  });

  test('[B14c] a run that lost its lease to another takes it again, once it may', async () => {
    const { workers, acts } = given();
    const host = await workers.start();
    await host.send('t', { left: 1 }, 'a');
    await quiet();
    // Runs it without asking for the lock, and is gone.
    const other = (await workers.engine()).thread('t');
    const run = other.run();
    await quiet();
    other.stop();
    await run;
    nth(acts, 0).end();
    await quiet();
    expect(await statusIn(host)).toBe('done');
    expect(await notesIn(host)).toEqual({ length: 1, tail: ['acted 1'] });
  });

  test('[C1a] a hint names the thread by its hash alone', async () => {
    const { workers } = given();
    const host = await workers.start();
    await host.send('t', { to: 'ann' }, 'a');
    await quiet();
    const [hash] = workers.world.data.threads.keys();
    expect(new Set(workers.hints.posted)).toEqual(new Set([hash]));
  });
});

describe('what a page sees of a thread', () => {
  test('[C2c] the stream begins with the view, and goes on from there without a gap or a repeat', async () => {
    const { workers, acts } = given();
    const store = workers.world.store();
    let atRead: (() => Promise<void>) | undefined;
    const host = await workers.start({
      store: withMethods(store, {
        range: async (...args) => {
          const late = args[0] === 'checkpoints' ? atRead : undefined;
          if (late !== undefined) atRead = undefined;
          await late?.();
          return store.range(...args);
        },
      }),
    });
    await host.send('t', { left: 3 }, 'a');
    await quiet();
    // A step is committed while the view is being read.
    atRead = async () => {
      nth(acts, 0).end();
      await quiet();
    };
    const { messages, stop } = await watched(host);
    nth(acts, 1).end();
    await quiet();
    nth(acts, 2).end();
    await quiet();
    await quiet();
    const view = nth(messages, 0);
    if (view.type !== 'view') throw new Error(`The stream began with ${view.type}.`);
    const steps = messages.filter((message) => message.type === 'step').map(({ step }) => step.sequence);
    const all = [...view.view.steps.map(({ sequence }) => sequence), ...steps];
    expect(all).toEqual(Array.from({ length: all.length }, (_, index) => index));
    expect(messages.filter(({ type }) => type === 'view')).toHaveLength(1);
    expect(messages.at(-1)).toMatchObject({ type: 'status', status: 'done' });
    stop();
  });

  test('[C2c] a stream that is stopped hears no more', async () => {
    const { workers, acts } = given();
    const host = await workers.start();
    await host.send('t', { left: 2 }, 'a');
    await quiet();
    const { port1, port2 } = new MessageChannel();
    const messages: StreamMessage[] = [];
    port1.onmessage = ({ data }: MessageEvent<StreamMessage>) => messages.push(data);
    await host.watch('t', port2);
    await quiet();
    port1.postMessage('stop');
    await quiet();
    const before = messages.length;
    expect(before).toBeGreaterThan(0);
    nth(acts, 0).end();
    await quiet();
    await quiet();
    expect(messages).toHaveLength(before);
    port1.close();
  });

  test('[B9b] a wait that was answered is gone from the view at once, and the thread is shown as running', async () => {
    const { workers } = given();
    const first = await workers.start();
    await first.send('t', { to: 'ann' }, 'a');
    await quiet();
    await first.close();
    const host = await workers.start({ resume: 'on-request' });
    const wait = only((await host.view('t'))?.waits ?? []);
    const engine = await workers.engine();
    await engine.thread('t').answer(wait.id, wait.digest, { decision: 'allow' });
    expect(await host.view('t')).toMatchObject({ status: 'running', waits: [] });
  });

  test('[A13b] the state without its secrets, and the last 100 items of a log', async () => {
    const { workers } = given();
    const host = await workers.start();
    const notes = Array.from({ length: 120 }, (_, index) => `note ${index}`);
    await host.send('t', { notes }, 'a');
    await quiet();
    expect(await host.state('t', null)).toEqual({
      left: 0,
      to: '',
      notes: { length: 120, tail: notes.slice(20) },
    });
  });

  test('[C2c] threads are listed newest change first, with ids and status', async () => {
    const { workers } = given();
    const host = await workers.start();
    for (const id of ['one', 'two']) {
      workers.world.clock.advance(1_000);
      await host.send(id, {}, 'a');
      await quiet();
    }
    expect((await host.threads()).map(({ id, status, error }) => [id, status, error])).toEqual([
      ['two', 'done', null],
      ['one', 'done', null],
    ]);
  });
});
