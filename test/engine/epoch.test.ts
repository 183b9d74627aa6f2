import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import { log } from '../../src/model/fields.ts';
import type { CheckpointId } from '../../src/model/ids.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { nth, plainState, quiet, Scene, withMethods } from './support.ts';

/** Three steps; the second calls a tool whose answers the test gives, by the order of its calls. */
function shared() {
  const calls: { readonly answer: (text: string) => void }[] = [];
  const act = tool({
    name: 'act',
    description: 'Acts',
    input: z.object({}),
    effect: 'idempotent',
    run: () => {
      const held = deferred<string>();
      calls.push({ answer: held.resolve });
      return held.promise;
    },
  });
  const agent = defineAgent({
    name: 'shared',
    version: 1,
    state: { log: log(z.string()) },
    tools: { act },
    start: 'one',
    nodes: {
      one: (_state, { goto }) => goto('two', { log: ['one'] }),
      two: async (_state, { call, goto }) => goto('three', { log: [await call('act', {})] }),
      three: (_state, { end }) => end({ log: ['three'] }),
    },
  });
  return { scene: new Scene({ agent }), calls };
}

describe('two engines on one thread', () => {
  test('[B14b, B14c, I4, I6] the older one cannot commit: its run ends lost; the answer that it recorded first stands', async () => {
    const { scene, calls } = shared();
    const older = (await scene.begun()).run();
    await quiet();
    const newer = await scene.open();
    const running = newer.run();
    await quiet();
    nth(calls, 0).answer('older');
    expect(await older).toEqual({ end: 'lost' });
    nth(calls, 1).answer('newer');

    expect(await running).toEqual({ end: 'done' });
    expect((await plainState(newer)).log).toEqual(['one', 'older', 'three']);
    expect((await newer.effects()).map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
  });

  test('[B14b, I4] the epoch is checked with the write, not before: it counts who came last', async () => {
    const { scene, calls } = shared();
    await scene.begun();
    const store = scene.world.store();
    const newer = await scene.open();
    let isTaken = false;
    const older = await scene.open({
      store: withMethods(store, {
        commit: async (groups) => {
          const isStep = groups.some(({ records }) => records.some(({ table }) => table === 'checkpoints'));
          if (isStep && calls.length === 1 && !isTaken) {
            isTaken = true;
            const running = newer.run();
            await quiet();
            void running;
          }
          return store.commit(groups);
        },
      }),
    });
    const running = older.run();
    await quiet();
    nth(calls, 0).answer('older');

    expect(await running).toEqual({ end: 'lost' });
    expect(await newer.checkpoints()).toHaveLength(4);
    expect((await plainState(newer)).log).toEqual(['one', 'older', 'three']);
  });

  test('[B14c, B3a] the older one writes no intent, so it makes no further call', async () => {
    const { scene, calls } = shared();
    await scene.begun();
    const store = scene.world.store();
    let isTaken = false;
    const older = await scene.open({
      store: withMethods(store, {
        commit: async (groups) => {
          const [row] = scene.world.data.threads.values();
          if (
            !isTaken &&
            row !== undefined &&
            groups.some(({ records }) => records.some(({ key }) => key.endsWith('.i')))
          ) {
            isTaken = true;
            await store.takeLease(row.thread, row.incarnation);
          }
          return store.commit(groups);
        },
      }),
    });

    expect(await older.run()).toEqual({ end: 'lost' });
    expect(calls).toEqual([]);
    expect(await scene.stored('ledger')).toEqual([]);
  });

  test.each([
    ['head', { head: '00000000ff-AAAAAAAAAAAA' as CheckpointId }],
    ['ledger', { ledger: 40 }],
  ])('[I4, A3c] a %s that somebody else moved under the same epoch is not written over', async (_what, moved) => {
    const { scene, calls } = shared();
    await scene.begun();
    const store = scene.world.store();
    let isMoved = false;
    const thread = await scene.open({
      store: withMethods(store, {
        commit: async (groups) => {
          const [row] = scene.world.data.threads.values();
          const isStep = groups.some(({ records }) => records.some(({ table }) => table === 'checkpoints'));
          if (isStep && calls.length === 1 && !isMoved && row !== undefined) {
            isMoved = true;
            scene.world.data.threads.set(row.thread, { ...row, ...moved });
          }
          return store.commit(groups);
        },
      }),
    });
    const running = thread.run();
    await quiet();
    nth(calls, 0).answer('acted');

    expect(await running).toEqual({ end: 'lost' });
    expect(isMoved).toBe(true);
    expect(await scene.stored('checkpoints')).toHaveLength(2);
  });

  test('[B14c] the lease that an older one gives back does not touch the newer one', async () => {
    const { scene, calls } = shared();
    const older = (await scene.begun()).run();
    await quiet();
    const newer = await scene.open();
    void newer.run();
    await quiet();
    const before = await newer.row();
    nth(calls, 0).answer('older');
    await older;

    expect(await newer.row()).toEqual(before);
    expect(before?.epoch).toEqual({ home: 0, local: 2 });
    expect(before?.resumes).toBe(1);
  });

  test('[B14c, A3c] a thread that was deleted under a run ends it as lost', async () => {
    const { scene, calls } = shared();
    const running = (await scene.begun()).run();
    await quiet();
    const [row] = scene.world.data.threads.values();
    if (row !== undefined) await scene.world.store().deleteThread(row.thread, row.incarnation, 0);
    nth(calls, 0).answer('late');

    expect(await running).toEqual({ end: 'lost' });
    expect(scene.world.data.threads.size).toBe(0);
  });
});

describe('the inbox', () => {
  test('[B11a, I1] an input is acknowledged only once the store has it', async () => {
    const { scene } = shared();
    const store = scene.world.store();
    const go = deferred<void>();
    const thread = await scene.open({
      store: withMethods(store, { commit: (groups) => go.promise.then(() => store.commit(groups)) }),
    });
    let isAcknowledged = false;
    const sending = thread.send({}).then(() => {
      isAcknowledged = true;
    });
    await quiet();
    expect([isAcknowledged, (await scene.stored('inbox')).length]).toEqual([false, 0]);
    go.resolve();
    await sending;
    expect((await scene.stored('inbox')).map(({ key }) => key.slice(0, 2))).toEqual(['id', 'o:']);
  });

  test('[B11a] the same input again, by its id, is one input, also after it was taken up', async () => {
    const { scene, calls } = shared();
    const thread = await scene.open();
    await thread.send({ log: ['a'] }, 'click-1');
    await thread.send({ log: ['a'] }, 'click-1');
    const running = thread.run();
    await quiet();
    nth(calls, 0).answer('acted');
    await running;
    await (await scene.open()).send({ log: ['a'] }, 'click-1');

    expect(await thread.run()).toEqual({ end: 'done' });
    expect((await plainState(thread)).log).toEqual(['a', 'one', 'acted', 'three']);
  });

  test('[B11a] inputs that come while the thread runs are durable, and taken up in their order', async () => {
    const { scene, calls } = shared();
    const thread = await scene.begun({ log: ['first'] });
    const running = thread.run();
    await quiet();
    const other = await scene.open();
    await other.send({ log: ['second'] });
    await other.send({ log: ['third'] });
    for (const index of [0, 1, 2]) {
      nth(calls, index).answer('acted');
      await quiet();
    }

    expect(await running).toEqual({ end: 'done' });
    expect((await plainState(thread)).log).toEqual(
      ['first', 'second', 'third'].flatMap((name) => [name, 'one', 'acted', 'three']),
    );
  });

  test('[B11a] two engines that make the same thread at once make one', async () => {
    const { scene } = shared();
    const [a, b] = await Promise.all([scene.open(), scene.open()]);
    await Promise.all([a.send({ log: ['a'] }), b.send({ log: ['b'] })]);

    expect(scene.world.data.threads.size).toBe(1);
    expect((await scene.stored('inbox')).filter(({ key }) => key.startsWith('o:'))).toHaveLength(2);
  });
});
