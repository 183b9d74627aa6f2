/** What a worker does by itself. Browser and store are the test's; time stands still. */
import { describe, expect, test } from 'vitest';
import { deferred } from '../../src/base/deferred.ts';
import { storeErrors } from '../../src/store/errors.ts';
import { nth, only, quiet, withMethods } from '../engine/support.ts';
import { countingLeases, given, notesIn, settled, statusIn } from './acting-agent.ts';

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

  test('[C3f] on request, an input that is refused starts nothing', async () => {
    const { workers, acts } = given();
    const first = await workers.start();
    await first.send('t', { left: 1 }, 'a');
    await quiet();
    await first.close();
    const second = await workers.start({ resume: 'on-request' });
    await expect(second.send('t', { left: 'many' }, 'b')).rejects.toMatchObject({ code: 'state_invalid' });
    await quiet();
    expect(acts).toHaveLength(1);
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

  test('[I10] that the store refuses shows no trouble any more once it was cancelled', async () => {
    const { workers } = given();
    const store = workers.world.store();
    let isRefusing = true;
    const host = await workers.start({
      store: withMethods(store, {
        takeLease: (...args) => (isRefusing ? Promise.reject(new Error('the disk is gone')) : store.takeLease(...args)),
      }),
    });
    await host.send('t', { left: 1 }, 'a');
    await quiet();
    isRefusing = false;
    await host.cancel('t', 'b');
    await quiet();
    expect(await host.view('t')).toMatchObject({ status: 'cancelled', blocked: null });
  });

  test('[I10, B9e] that could not be read when its run ended is looked at again', async () => {
    const { workers } = given({ expiresMs: 60_000 });
    const store = workers.world.store();
    let isReleased = false;
    const host = await workers.start({
      store: withMethods(store, {
        releaseLease: async (...args) => {
          await store.releaseLease(...args);
          isReleased = true;
        },
        readThread: (thread) => {
          const isFirst = isReleased;
          isReleased = false;
          return isFirst ? Promise.reject(new Error('once')) : store.readThread(thread);
        },
      }),
    });
    await host.send('t', { to: 'ann' }, 'a');
    await quiet();
    for (let passed = 0; passed < 120_000; passed += 30_000) {
      workers.world.clock.advance(30_000);
      await quiet();
    }
    expect(await statusIn(host)).toBe('done');
  });

  test('[I10, A11a] whose row was put back to an older one is blocked with the record, and rests between its tries', async () => {
    const { workers, acts } = given();
    const first = await workers.start();
    await first.send('t', { left: 2 }, 'a');
    await quiet();
    const [before] = workers.world.data.threads.entries();
    nth(acts, 0).end();
    await quiet();
    await first.close();
    if (before !== undefined) workers.world.data.threads.set(...before);
    const counting = countingLeases(workers.world.store());
    const second = await workers.start({ store: counting.store });
    for (let turn = 0; turn < 20; turn += 1) await quiet();
    expect(counting.leases).toBe(1);
    const view = await second.view('t');
    expect(view?.blocked).toMatchObject({ code: 'store_failed' });
    expect(view?.blocked?.message).toContain("is there, and the thread's row is older");
  });

  test('[I1, I5] an input whose acknowledgement was lost is given again, kept once, and run', async () => {
    const { workers, acts } = given();
    const store = workers.world.store();
    let isLosing = false;
    const host = await workers.start({
      store: withMethods(store, {
        commit: async (groups) => {
          const results = await store.commit(groups);
          const isLost = isLosing;
          isLosing = false;
          if (isLost) throw storeErrors.make('timed_out', { operation: 'commit', afterMs: 1_000 });
          return results;
        },
      }),
    });
    await host.send('t', { left: 0 }, 'a');
    await quiet();
    isLosing = true;
    const sending = host.send('t', { left: 1 }, 'b');
    workers.world.clock.advance(await workers.world.clock.whenAsleep((ms) => ms === 50));
    await sending;
    await quiet();
    expect(acts).toHaveLength(1);
    nth(acts, 0).end();
    await quiet();
    expect(await statusIn(host)).toBe('done');
    expect(acts).toHaveLength(1);
  });

  test('[C2c] is shown as running from the moment an input is durable', async () => {
    const { workers } = given();
    const host = await workers.start({ resume: 'on-request' });
    await host.send('t', {}, 'a');
    await quiet();
    expect(await statusIn(host)).toBe('done');
    await (await workers.engine()).thread('t').send({ left: 1 });
    expect(await statusIn(host)).toBe('running');
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

  test('[I1] takes an input that comes while it looks when to wake it next', async () => {
    const { workers, acts } = given();
    const store = workers.world.store();
    let isReleased = false;
    const host = await workers.start({
      store: withMethods(store, {
        releaseLease: async (...args) => {
          await store.releaseLease(...args);
          isReleased = true;
        },
        readThread: async (thread) => {
          const isFirst = isReleased;
          isReleased = false;
          if (isFirst) await host.send('t', { left: 1 }, 'b');
          return store.readThread(thread);
        },
      }),
    });
    await host.send('t', { left: 1 }, 'a');
    await quiet();
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

  test('[B9e] lets an approval expire beside a call that takes longer', async () => {
    const { workers, acts, sent } = given({ expiresMs: 10_000 });
    const host = await workers.start();
    await host.send('t', { beside: true, to: 'ann' }, 'a');
    await quiet();
    const wait = only((await host.view('t'))?.waits ?? []);
    workers.world.clock.advance(10_000);
    await quiet();
    expect((await host.view('t'))?.waits).toEqual([]);
    await expect(host.answer('t', wait.id, wait.digest, { decision: 'allow' })).rejects.toMatchObject({
      code: 'wait_closed',
      details: { winner: 'expired' },
    });
    nth(acts, 0).end();
    await settled();
    expect(await host.view('t')).toMatchObject({ status: 'done' });
    expect(await notesIn(host)).toEqual({ length: 1, tail: ['approval_expired'] });
    expect(sent).toEqual([]);
  });

  test('[B9e] refuses an answer that comes after the time of its wait, also where nobody was there when it passed', async () => {
    const { workers, sent } = given({ expiresMs: 60_000 });
    const first = await workers.start();
    await first.send('t', { to: 'ann' }, 'a');
    await quiet();
    const wait = only((await first.view('t'))?.waits ?? []);
    await first.close();
    workers.world.clock.advance(60_000);
    const second = await workers.start({ resume: 'on-request' });
    await expect(second.answer('t', wait.id, wait.digest, { decision: 'allow' })).rejects.toMatchObject({
      code: 'wait_closed',
      details: { winner: 'expired' },
    });
    await quiet();
    expect(await statusIn(second)).toBe('done');
    expect(sent).toEqual([]);
  });

  test('[C1a] that is closed while it is being opened makes no call', async () => {
    const { workers, acts } = given();
    const store = workers.world.store();
    const held = deferred<void>();
    let isHolding = false;
    const host = await workers.start({
      store: withMethods(store, {
        readThread: async (thread) => {
          if (isHolding) await held.promise;
          return store.readThread(thread);
        },
      }),
    });
    await (await workers.engine()).thread('t').send({ left: 1 });
    isHolding = true;
    await host.resume('t');
    await quiet();
    const closing = host.close();
    held.resolve();
    await closing;
    expect(acts).toEqual([]);
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

test('[C1a] a worker that closes gives its lease back before it closes the store', async () => {
  const { workers } = given();
  const store = workers.world.store();
  const done: string[] = [];
  const host = await workers.start({
    store: withMethods(store, {
      releaseLease: async (...args) => {
        await quiet();
        await store.releaseLease(...args);
        done.push('released');
      },
      close: async () => {
        done.push('closed');
        await store.close();
      },
    }),
  });
  await host.send('t', { left: 1 }, 'a');
  await quiet();
  await host.close();
  expect(done).toEqual(['released', 'closed']);
});
