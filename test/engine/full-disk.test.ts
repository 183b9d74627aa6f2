import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { dayMs } from '../../src/model/retention.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { storeErrors } from '../../src/store/errors.ts';
import type { Store } from '../../src/store/store.ts';
import { nth, plainState, Scene, withMethods } from './support.ts';

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
