/** Two workers on one database, as two tabs have them. */
import { describe, expect, test } from 'vitest';
import { deferred } from '../../src/base/deferred.ts';
import { nth, only, quiet, withMethods } from '../engine/support.ts';
import { countingLeases, given, notesIn, settled, statusIn, watched } from './acting-agent.ts';

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

  test.each([0, 4])(
    '[B14a, B5e] what takes over also finds what the other left and told nobody of, after %i runs of it that were cut off',
    async (cuts) => {
      const { workers } = given();
      const [first, second] = [await workers.start(), await workers.start()];
      await first.send('t', { left: 1 }, 'a');
      await quiet();
      const engine = await workers.engine();
      await second.view('looked at');
      for (const id of ['untold', 'looked at']) {
        await engine.thread(id).send({ left: 0 });
        const row = await engine.thread(id).row();
        if (row === undefined) throw new Error('It was not made.');
        for (let cut = 0; cut < cuts; cut += 1) await workers.world.store().takeLease(row.thread, row.incarnation);
      }
      await first.close();
      await settled();
      for (const id of ['untold', 'looked at']) expect((await engine.thread(id).row())?.status, id).toBe('done');
    },
  );

  test('[C1a] one that is closed while it takes a thread over makes no call, and closes its store', async () => {
    const { workers, acts } = given();
    const first = await workers.start();
    const inner = workers.world.store();
    const gate = deferred<void>();
    const reached = deferred<void>();
    let isGated = false;
    let isStoreClosed = false;
    const store = withMethods(inner, {
      readThread: async (thread) => {
        if (isGated) {
          reached.resolve();
          await gate.promise;
        }
        return inner.readThread(thread);
      },
      close: async () => {
        isStoreClosed = true;
      },
    });
    const second = await workers.start({ store });
    await first.send('t', { left: 1 }, 'a');
    await quiet();
    isGated = true;
    void first.close();
    await reached.promise;
    const closed = second.close();
    await quiet();
    gate.resolve();
    await closed;
    expect(acts).toHaveLength(1);
    expect(isStoreClosed).toBe(true);
  });

  test('[B14a] one that has run it takes it up again when it runs in the other, and that is closed', async () => {
    const { workers, acts } = given();
    const [first, second] = [await workers.start(), await workers.start()];
    await first.send('t', { left: 0 }, 'a');
    await quiet();
    expect(await statusIn(first)).toBe('done');
    await second.send('t', { left: 1 }, 'b');
    await quiet();
    await second.close();
    await quiet();
    expect(acts).toHaveLength(2);
  });

  test('[C1a] one that waits for the lock of a thread closes without it', async () => {
    const { workers } = given();
    const [first, second] = [await workers.start(), await workers.start()];
    await first.send('t', { left: 1 }, 'a');
    await quiet();
    await second.resume('t');
    await second.close();
    expect(await statusIn(first)).toBe('running');
  });

  test('[B10a] a cancel asked for in one reaches the call in the other', async () => {
    const { workers } = given();
    const [first, second] = [await workers.start(), await workers.start({ resume: 'on-request' })];
    await first.send('t', { left: 1 }, 'a');
    await quiet();
    await second.cancel('t', 'b');
    await quiet();
    expect(await statusIn(first)).toBe('cancelled');
  });

  test('[C2c] a page of the one sees what happens in the other', async () => {
    const { workers, acts } = given();
    const [first, second] = [await workers.start(), await workers.start()];
    const { messages, stop } = await watched(second);
    await first.send('t', { left: 1 }, 'a');
    await quiet();
    nth(acts, 0).end();
    await quiet();
    await quiet();
    const seen = messages.filter((message) => message.type === 'view').map(({ view }) => view.status);
    expect(new Set(seen)).toEqual(new Set(['idle', 'running', 'done']));
    expect(seen.at(-1)).toBe('done');
    stop();
  });

  test('[C2c] nothing is read any more for a page that has left', async () => {
    const { workers } = given();
    const store = workers.world.store();
    let reads = 0;
    const first = await workers.start();
    const second = await workers.start({
      resume: 'on-request',
      store: withMethods(store, {
        range: (...args) => {
          if (args[0] === 'checkpoints') reads += 1;
          return store.range(...args);
        },
      }),
    });
    const { port1, port2 } = new MessageChannel();
    await second.watch('t', port2);
    const closed = new Promise((resolve) => port1.addEventListener('close', resolve));
    port1.start();
    port1.postMessage('stop');
    await closed;
    reads = 0;
    await first.send('t', {}, 'a');
    await quiet();
    expect(await statusIn(first)).toBe('done');
    expect(reads).toBe(0);
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
    workers.world.clock.advance(1_000); // it rests before it asks for the lease again
    await quiet();
    expect(await statusIn(host)).toBe('done');
    expect(await notesIn(host)).toEqual({ length: 1, tail: ['acted 1'] });
  });

  test.each(['at once', 'in the call that was allowed'])(
    '[B14a, B9b] one takes over from the other that answered, and is closed %s',
    async (moment) => {
      const { workers, sent } = given();
      const [first, second] = [await workers.start(), await workers.start()];
      await first.send('t', { to: moment === 'at once' ? 'ann' : 'hold' }, 'a');
      await settled();
      const wait = only((await second.view('t'))?.waits ?? []);
      await second.answer('t', wait.id, wait.digest, { decision: 'allow' });
      if (moment !== 'at once') await settled();
      await second.close();
      await settled();
      if (moment === 'at once') expect(sent).toEqual(['ann']);
      else expect((await first.view('t'))?.waits.map(({ kind }) => kind)).toEqual(['in_doubt']);
    },
  );

  test('[B14a, B9b] of five that all hear of an answer one takes the lease, once', async () => {
    const { workers, sent } = given();
    const counting = countingLeases(workers.world.store());
    const hosts = [];
    for (let tab = 0; tab < 5; tab += 1) hosts.push(await workers.start({ store: counting.store }));
    const [first, second] = [nth(hosts, 0), nth(hosts, 1)];
    await first.send('t', { to: 'ann' }, 'a');
    await settled();
    const wait = only((await second.view('t'))?.waits ?? []);
    counting.leases = 0;
    await second.answer('t', wait.id, wait.digest, { decision: 'allow' });
    await settled();
    await settled();
    expect(sent).toEqual(['ann']);
    expect(await statusIn(first)).toBe('done');
    expect(counting.leases).toBe(1);
  });

  test('[C2c] trouble is still shown after another tried as well, and got nowhere', async () => {
    const { workers } = given();
    const refusing = withMethods(workers.world.store(), {
      takeLease: () => Promise.reject(new Error('the disk is gone')),
    });
    const first = await workers.start({ resume: 'on-request', store: refusing });
    const second = await workers.start({ resume: 'on-request', store: refusing });
    await first.send('t', { left: 1 }, 'a');
    await settled();
    await second.resume('t');
    await settled();
    for (const host of [first, second]) expect((await host.view('t'))?.blocked?.message).toBe('the disk is gone');
  });

  test('[C2c] a page of the one gets views also while the other is quicker than a view is read', async () => {
    const { workers, acts } = given();
    const store = workers.world.store();
    let read = deferred<void>();
    const first = await workers.start();
    const second = await workers.start({
      resume: 'on-request',
      store: withMethods(store, {
        range: async (...args) => {
          if (args[0] === 'checkpoints') await read.promise;
          return store.range(...args);
        },
      }),
    });
    await first.send('t', { left: 20 }, 'a');
    await settled();
    const watching = watched(second);
    read.resolve();
    const { messages, stop } = await watching;
    for (let step = 0; step < 20; step += 1) {
      // The next step is there before the view of this one was read.
      const before = read;
      read = deferred<void>();
      nth(acts, step).end();
      await settled();
      before.resolve();
      await settled();
    }
    expect(messages.filter(({ type }) => type === 'view').length).toBeGreaterThanOrEqual(10);
    stop();
  });

  test('[B14a] a hint that comes while the other looks when to wake the thread is not lost', async () => {
    const { workers, acts } = given();
    const store = workers.world.store();
    const held = deferred<void>();
    let isReleased = false;
    let isHolding = true;
    const first = await workers.start({
      store: withMethods(store, {
        releaseLease: async (...args) => {
          await store.releaseLease(...args);
          isReleased = true;
        },
        readThread: async (thread) => {
          const row = await store.readThread(thread);
          const isFirst = isReleased && isHolding;
          if (isFirst) isHolding = false;
          if (isFirst) await held.promise;
          return row;
        },
      }),
    });
    await first.send('t', { left: 0 }, 'a');
    await settled();
    const second = await workers.start();
    await second.send('t', { left: 1 }, 'b');
    await settled();
    expect(acts).toHaveLength(1);
    held.resolve();
    await settled();
    await second.close();
    await settled();
    expect(acts).toHaveLength(2);
  });

  test('[C1a] one that is closing takes up no thread that another hints at', async () => {
    const { workers, acts } = given();
    const store = workers.world.store();
    const held = deferred<void>();
    const first = await workers.start({
      store: withMethods(store, {
        releaseLease: async (...args) => {
          await held.promise;
          return store.releaseLease(...args);
        },
      }),
    });
    await first.send('t', { left: 1 }, 'a');
    await settled();
    const closing = first.close();
    const thread = (await workers.engine()).thread('other');
    await thread.send({ left: 1 });
    workers.hints.port().post(await thread.hash());
    await settled();
    held.resolve();
    await closing;
    await settled();
    expect(acts).toHaveLength(1);
  });

  test('[C2c] what one could not do and the other did is no trouble any more', async () => {
    const { workers, acts } = given();
    const store = workers.world.store();
    let isRefusing = true;
    const first = await workers.start({
      store: withMethods(store, {
        takeLease: (...args) => (isRefusing ? Promise.reject(new Error('the disk is gone')) : store.takeLease(...args)),
      }),
    });
    const second = await workers.start();
    const { messages, stop } = await watched(first);
    await first.send('t', { left: 1 }, 'a');
    await settled();
    isRefusing = false;
    nth(acts, 0).end();
    await settled();
    expect(await first.view('t')).toMatchObject({ status: 'done', blocked: null });
    expect(await second.view('t')).toMatchObject({ status: 'done', blocked: null });
    expect(messages.at(-1)).toMatchObject({ type: 'view', view: { status: 'done', blocked: null } });
    stop();
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
