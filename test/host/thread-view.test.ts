/** What a page sees of a thread: its view, its stream, its state. */
import { describe, expect, test } from 'vitest';
import { deferred } from '../../src/base/deferred.ts';
import type { StreamMessage } from '../../src/protocol/host-api.ts';
import { nth, only, quiet, withMethods } from '../engine/support.ts';
import { given, settled, statusIn, watched } from './acting-agent.ts';

describe('what a page sees of a thread', () => {
  test.each(['before', 'after'])(
    '[C2c] the stream begins with the view and goes on without gap or repeat, also where a step comes %s it is read',
    async (side) => {
      const { workers, acts } = given();
      const store = workers.world.store();
      let isReading = false;
      // A step is committed while the view is being read.
      const step = async () => {
        nth(acts, 0).end();
        await quiet();
      };
      const host = await workers.start({
        store: withMethods(store, {
          range: async (...args) => {
            const isFirst = isReading && args[0] === 'checkpoints';
            if (isFirst) isReading = false;
            if (isFirst && side === 'before') await step();
            const records = await store.range(...args);
            if (isFirst && side === 'after') await step();
            return records;
          },
        }),
      });
      const other = await workers.start({ resume: 'on-request' });
      await host.send('t', { left: 3 }, 'a');
      await quiet();
      isReading = true;
      const { messages, stop } = await watched(host);
      await other.send('t', { left: 3 }, 'a'); // known already: a hint and nothing else
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
    },
  );

  test('[C2c] a stream that is asked for with the first input misses nothing of it', async () => {
    const { workers } = given();
    const host = await workers.start();
    const [{ messages, stop }] = await Promise.all([watched(host), host.send('t', { left: 0 }, 'a')]);
    await quiet();
    await quiet();
    expect(messages.at(-1)).toMatchObject({ type: 'status', status: 'done' });
    stop();
  });

  test('[C2c] a stream whose view the store refuses is refused, and nothing is read for it later', async () => {
    const { workers } = given();
    const store = workers.world.store();
    let isRefusing = true;
    let reads = 0;
    const other = await workers.start();
    const host = await workers.start({
      resume: 'on-request',
      store: withMethods(store, {
        readThread: (thread) => (isRefusing ? Promise.reject(new Error('the disk is gone')) : store.readThread(thread)),
        range: (...args) => {
          if (args[0] === 'checkpoints') reads += 1;
          return store.range(...args);
        },
      }),
    });
    const { port1, port2 } = new MessageChannel();
    await expect(host.watch('t', port2)).rejects.toThrow('the disk is gone');
    isRefusing = false;
    await other.send('t', {}, 'a');
    await quiet();
    expect(await statusIn(other)).toBe('done');
    expect(reads).toBe(0);
    port1.close();
  });

  test.each(['runs on there', 'is taken over here'])(
    '[C2c] a view that was read slowly is not shown after newer news: the thread %s',
    async (what) => {
      const { workers, acts } = given();
      const store = workers.world.store();
      const held = deferred<void>();
      let isHolding = false;
      const first = await workers.start();
      const second = await workers.start({
        resume: what === 'runs on there' ? 'on-request' : 'auto',
        store: withMethods(store, {
          range: async (...args) => {
            const records = await store.range(...args);
            const isFirst = isHolding && args[0] === 'checkpoints';
            if (isFirst) isHolding = false;
            if (isFirst) await held.promise;
            return records;
          },
        }),
      });
      await first.send('t', { left: 1 }, 'a');
      await settled();
      const { messages, stop } = await watched(second);
      isHolding = true;
      await first.send('t', { left: 1 }, 'a'); // known already: a hint
      await settled();
      if (what === 'is taken over here') await first.close();
      await settled();
      nth(acts, -1).end();
      await settled();
      held.resolve();
      await settled();
      const last = messages.at(-1);
      expect(last?.type === 'view' ? last.view.status : last?.type === 'status' && last.status).toBe('done');
      stop();
    },
  );

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

  test('[I10] why it is blocked is not hidden by a row that cannot be read right after', async () => {
    const { workers } = given();
    const store = workers.world.store();
    let isNext = false;
    const host = await workers.start({
      store: withMethods(store, {
        takeLease: () => {
          isNext = true;
          return Promise.reject(new Error('the disk is gone'));
        },
        readThread: (thread) => {
          const isFirst = isNext;
          isNext = false;
          return isFirst ? Promise.reject(new Error('once')) : store.readThread(thread);
        },
      }),
    });
    await host.send('t', {}, 'a');
    await settled();
    expect((await host.view('t'))?.blocked?.message).toBe('the disk is gone');
  });

  test('[A13b] the state without its secrets, and the last 100 items of a log', async () => {
    const { workers } = given();
    const host = await workers.start();
    const notes = Array.from({ length: 120 }, (_, index) => `note ${index}`);
    await host.send('t', { notes }, 'a');
    await quiet();
    expect(await host.state('t', null)).toEqual({
      left: 0,
      beside: false,
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
