import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { dayMs } from '../../src/model/retention.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { Refusal, tool } from '../../src/program/tool.ts';
import { storeErrors } from '../../src/store/errors.ts';
import type { Store } from '../../src/store/store.ts';
import { Life } from '../../src/testing/cutting-store.ts';
import { nth, only, plainState, quiet, Scene, withMethods } from './support.ts';

/** A thread whose commit finds the disk full behind its last call, until `isFull` is false. */
function given() {
  const counts = { runs: 0, calls: 0, archived: 0 };
  const disk = { isFull: false };
  const ping = tool({
    name: 'ping',
    description: 'Pings',
    input: z.object({}),
    effect: 'once',
    run: () => {
      counts.calls += 1;
      return 'pong';
    },
  });
  const agent = defineAgent({
    name: 'pinger',
    version: 1,
    state: { notes: log(z.string()) },
    tools: { ping },
    start: 'go',
    nodes: {
      go: async (_state, { call, end }) => {
        counts.runs += 1;
        return end({ notes: [await call('ping', {})] });
      },
    },
  });
  const scene = new Scene({
    agent,
    retention: { keepCheckpoints: 1, eventDays: 0 },
    archive: async () => {
      counts.archived += 1;
    },
  });
  const store = scene.world.store();
  const full: Store = withMethods(store, {
    commit: async (groups) => {
      const isStep = groups.some(({ row, records }) => row?.status === 'done' && records.length > 0);
      if (disk.isFull && isStep) throw storeErrors.make('quota_exceeded', { operation: 'commit' });
      return store.commit(groups);
    },
  });
  /** Lets the short retries pass that every commit has. */
  const passRetries = async () => {
    for (const ms of [50, 250, 1_000]) await scene.passes(ms, ms);
  };
  return { scene, store, full, counts, disk, passRetries };
}

describe('a commit that finds the disk full', () => {
  test('[A15c, A15b] is told, waits in memory and goes on by itself: its step is not run again', async () => {
    const { scene, full, counts, disk, passRetries } = given();
    disk.isFull = true;
    await scene.begun();
    const running = (await scene.open({ store: full })).run();
    await passRetries();
    await passRetries(); // at once after space was freed
    expect(scene.frames('full')).toMatchObject([{ error: { code: 'quota_exceeded' } }]);
    await scene.passes(5_000, 5_000);
    await passRetries();
    await scene.clock.whenAsleep((ms) => ms === 10_000);
    disk.isFull = false;
    await scene.passes(10_000, 10_000);

    expect(await running).toEqual({ end: 'done' });
    expect(counts).toMatchObject({ runs: 1, calls: 1 });
    expect(nth(scene.frames('full'), -1)).toEqual({ type: 'full', error: null });
    expect(await plainState(await scene.open())).toEqual({ notes: ['pong'] });
  });

  test('[A15c, A12c] frees what retention allows: threads whose time is over, archived first, and old checkpoints', async () => {
    const { scene, store, full, counts, disk, passRetries } = given();
    const engine = await scene.world.engine({ agent: scene.agent });
    await engine.thread('old').send({});
    await engine.thread('old').run();
    scene.clock.advance(8 * dayMs);
    const thread = await scene.open({ store: full });
    for (let run = 0; run < 4; run += 1) {
      await thread.send({});
      await thread.run();
      scene.clock.advance(1_000);
    }
    const before = (await thread.checkpoints()).length;
    disk.isFull = true;
    await thread.send({});
    const running = thread.run();
    await passRetries();
    await scene.clock.whenAsleep((ms) => ms === 50);
    expect(await store.readThread(await engine.thread('old').hash())).toBeUndefined();
    expect(counts.archived).toBe(1);
    expect((await thread.checkpoints()).length).toBeLessThan(before);
    disk.isFull = false;
    await scene.passes(50, 50);

    expect(await running).toEqual({ end: 'done' });
    expect(await plainState(await scene.open())).toEqual({ notes: ['pong', 'pong', 'pong', 'pong', 'pong'] });
  });

  test('[A15c, A15d] is given up when the worker closes; the step goes on from what is on record', async () => {
    const { scene, full, counts, disk, passRetries } = given();
    disk.isFull = true;
    await scene.begun();
    const thread = await scene.open({ store: full });
    const running = thread.run();
    await passRetries();
    await passRetries();
    await scene.clock.whenAsleep((ms) => ms === 5_000);
    thread.stop();

    expect(await running).toEqual({ end: 'stopped' });
    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(counts.calls).toBe(1);
  });
});

/**
 * A tool whose call fills the disk, to the last byte: from then on only what takes no more space than it frees is stored.
 * `act`: what each call does; the disk is full with the `fills`th one.
 */
function filling(act: (call: number) => string, { effect, fills }: { effect: 'once' | 'idempotent'; fills: number }) {
  const disk = { isFull: false };
  let calls = 0;
  const tools = {
    act: tool({
      name: 'act',
      description: 'Acts',
      input: z.object({}),
      effect,
      run: () => {
        calls += 1;
        if (calls === fills) disk.isFull = true;
        return act(calls);
      },
    }),
  };
  const agent = defineAgent({
    name: 'actor',
    version: 1,
    state: { lengths: log(z.number()) },
    tools,
    start: 'go',
    nodes: {
      go: {
        retry: { attempts: 1 },
        run: async (_state, { call, end }) => end({ lengths: [(await call('act', {})).length] }),
      },
    },
  });
  const scene = new Scene({ agent });
  const store = scene.world.store();
  const life = new Life();
  const full = withMethods(store, {
    takeLease: (...args) => life.pass(() => store.takeLease(...args)),
    commit: (groups) =>
      life.pass(async () => {
        let bytes = 0;
        for (const { thread, records } of groups) {
          for (const { table, key, body } of records) {
            bytes += body.length - ((await store.get(table, thread, key))?.body.length ?? 0);
          }
        }
        if (disk.isFull && bytes > 0) throw storeErrors.make('quota_exceeded', { operation: 'commit' });
        return store.commit(groups);
      }),
  });
  /** Runs the thread until its step cannot be committed, and ends the process. */
  const runUntilFull = async () => {
    await scene.begun();
    void (await scene.open({ store: full })).run();
    await quiet();
    for (let tries = 0; scene.frames('full').length === 0; tries += 1) {
      if (tries > 20) throw new Error('The disk was never full.');
      scene.clock.advance(1_000);
      await quiet();
    }
    await quiet();
    life.end();
    disk.isFull = false;
  };
  return { scene, runUntilFull, calls: () => calls };
}

describe('a call whose answer finds the disk full', () => {
  test('[A15c, I5, B3b] is recorded in the space that its intent reserved: it is not made again', async () => {
    const { scene, runUntilFull, calls } = filling(() => 'short', { effect: 'once', fills: 1 });
    await runUntilFull();
    expect((await scene.stored('ledger')).map(({ key, body }) => [key.slice(-2), body.length > 0])).toEqual([
      ['.i', true],
      ['.o', true],
      ['.r', false],
    ]);

    const thread = await scene.open();
    expect(await thread.run()).toEqual({ end: 'done' });
    expect(await plainState(thread)).toEqual({ lengths: [5] });
    expect(calls()).toBe(1);
  });

  test('[A15c, B4c, B4f] and is too large for it: that it was answered is on record, and whose tab then dies is in doubt', async () => {
    const { scene, runUntilFull, calls } = filling(() => 'x'.repeat(10_000), { effect: 'once', fills: 1 });
    await runUntilFull();
    const thread = await scene.open();

    expect(await thread.run()).toEqual({ end: 'waiting' });
    expect(only(await thread.waits())).toMatchObject({
      kind: 'in_doubt',
      reason:
        'Attempt 1 ended without a clear answer ("act" ended as succeeded, and the disk was full: its result could not be stored.): it may have happened or not. Look it up before you answer.',
    });
    expect(calls()).toBe(1);
  });

  test('[A15c, B5a, B5d] and was the last that there was to be: there is no further one after a restart', async () => {
    const { scene, runUntilFull, calls } = filling(
      (call) => {
        throw call < 3 ? new Refusal('Not now.') : new Error('no '.repeat(5_000));
      },
      { effect: 'idempotent', fills: 3 },
    );
    await runUntilFull();
    expect(calls()).toBe(3);

    const end = await (await scene.open()).run();
    expect(end).toMatchObject({ end: 'failed', failure: { code: 'effect_failed', details: { attempts: 3 } } });
    expect(calls()).toBe(3);
    expect(await (await scene.open()).effects()).toMatchObject([
      { attempt: 1, status: 'failed' },
      { attempt: 2, status: 'failed' },
      { attempt: 3, status: 'failed' },
    ]);
  });

  test('[A15c, B5a, B4a] and went well after all: no failure that counts, and it may be made again', async () => {
    const act = (call: number) => {
      if (call < 3) throw new Refusal('Not now.');
      return 'x'.repeat(10_000);
    };
    const { scene, runUntilFull, calls } = filling(act, { effect: 'idempotent', fills: 3 });
    await runUntilFull();

    const thread = await scene.open();
    expect(await thread.run()).toEqual({ end: 'done' });
    expect(await plainState(thread)).toEqual({ lengths: [10_000] });
    expect(calls()).toBe(4);
  });
});
