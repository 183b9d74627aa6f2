import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import type { ThreadEvent } from '../../src/model/event.ts';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { askingAgent } from './asking-agent.ts';
import { eventsOf } from './events.ts';
import { answer, head, never, only, plainState, quiet, Scene, ScriptedModel, withMethods } from './support.ts';

/** Two steps: the first ends, the second thinks until the test lets it. */
function thinker(answers: (prompt: string, signal: AbortSignal) => string | Promise<string>) {
  const agent = defineAgent({
    name: 'thinker',
    version: 1,
    state: { log: log(z.string()) },
    start: 'first',
    nodes: {
      first: ({ log: items }, { goto }) => goto('second', { log: [`first ${items.length}`] }),
      second: async (_state, { model, end }) => end({ log: [await model.text('second')] }),
    },
  });
  return new Scene({ agent, model: new ScriptedModel((prompt, { abortSignal }) => answers(prompt, abortSignal)) });
}

function types(events: readonly ThreadEvent[]): string[] {
  return events.map(({ type }) => type);
}

describe('cancelling a run', () => {
  test('[B10b, B10c] aborts the signal of the model call that is under way, and keeps what was done', async () => {
    const signals: AbortSignal[] = [];
    const scene = thinker((_prompt, signal) => {
      signals.push(signal);
      return never<string>();
    });
    const thread = await scene.begun();
    const running = thread.run();
    await quiet();
    expect(only(signals).aborted).toBe(false);
    await thread.cancel();
    await thread.look();

    expect(await running).toEqual({ end: 'cancelled' });
    expect(only(signals).aborted).toBe(true);
    const again = await scene.open();
    expect((await plainState(again)).log).toEqual(['first 0']);
    expect((await head(again)).control.status).toBe('cancelled');
    expect((await head(again)).position).toMatchObject({ node: 'first', next: [] });
  });

  test('[B10a] aborts the signal that the node sees', async () => {
    let seen: AbortSignal | undefined;
    const agent = defineAgent({
      name: 'watcher',
      version: 1,
      state: {},
      start: 'go',
      nodes: {
        go: (_state, { abortSignal, end }) => {
          seen = abortSignal;
          return new Promise((resolve) => abortSignal.addEventListener('abort', () => resolve(end())));
        },
      },
    });
    const thread = await new Scene({ agent }).begun();
    const running = thread.run();
    await quiet();
    await thread.cancel();
    await thread.look();

    expect(await running).toEqual({ end: 'cancelled' });
    expect(seen?.aborted).toBe(true);
  });

  test('[B10a] a node that does not listen is given up after two seconds', async () => {
    const agent = defineAgent({
      name: 'deaf',
      version: 1,
      state: {},
      start: 'go',
      nodes: { go: () => never<never>() },
    });
    const scene = new Scene({ agent });
    const thread = await scene.begun();
    const running = thread.run();
    await quiet();
    await thread.cancel();
    await thread.look();
    await scene.passes(2_000, 2_000);

    expect(await running).toEqual({ end: 'cancelled' });
  });

  test('[B10c] is a state: further input starts the next run on what was kept', async () => {
    let isHeld = true;
    const scene = thinker(() => (isHeld ? never<string>() : 'thought'));
    const thread = await scene.begun();
    const running = thread.run();
    await quiet();
    await thread.cancel();
    await thread.look();
    await running;
    isHeld = false;
    await thread.send({});

    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect((await plainState(thread)).log).toEqual(['first 0', 'first 1', 'thought']);
  });

  test('[B10c] that no engine ran is cancelled by the next one, before anything else is done', async () => {
    const scene = thinker(() => 'thought');
    const thread = await scene.begun();
    await thread.cancel();

    expect(await (await scene.open()).run()).toEqual({ end: 'cancelled' });
    expect(scene.frames('running')).toEqual([]);
  });

  test('[B10c, B11a] drops the inputs that were queued before it by name, and takes those that came after', async () => {
    const scene = thinker(() => 'thought');
    const thread = await scene.begun();
    await thread.send({ log: ['dropped'] });
    await thread.cancel();
    await thread.send({ log: ['kept'] });

    expect(await thread.run()).toEqual({ end: 'done' });
    expect((await plainState(thread)).log).toEqual(['kept', 'first 1', 'thought']);
    expect(
      (await eventsOf(scene)).filter(({ type }) => type === 'input_dropped').map(({ details }) => details),
    ).toMatchObject([
      { order: 1, winner: 3 },
      { order: 2, winner: 3 },
    ]);
    expect(types(await eventsOf(scene))).toEqual([
      'input_dropped',
      'input_dropped',
      'cancelled',
      'input_taken',
      'step',
      'step',
    ]);
  });

  test('[B10c] a call that was under way is in doubt, and its later answer is still recorded', async () => {
    const held = deferred<string>();
    const slow = tool({
      name: 'slow',
      description: 'Slow',
      input: z.object({}),
      effect: 'once',
      run: () => held.promise,
    });
    const agent = defineAgent({
      name: 'slow',
      version: 1,
      state: {},
      tools: { slow },
      start: 'go',
      nodes: {
        go: async (_state, { call, end }) => {
          await call('slow', {});
          return end();
        },
      },
    });
    const thread = await new Scene({ agent }).begun();
    const running = thread.run();
    await quiet();
    await thread.cancel();
    await thread.look();
    expect(await running).toEqual({ end: 'cancelled' });
    expect(only(await thread.effects()).status).toBe('in_doubt');
    held.resolve('after all');
    await quiet();

    expect(only(await thread.effects()).status).toBe('succeeded');
  });

  test('[B10a] during a backoff ends the run without waiting for it', async () => {
    const agent = defineAgent({
      name: 'failing',
      version: 1,
      state: {},
      start: 'go',
      nodes: {
        go: () => {
          throw new Error('no');
        },
      },
    });
    const scene = new Scene({ agent });
    const thread = await scene.begun();
    const running = thread.run();
    await scene.clock.whenAsleep((ms) => ms < 1_200);
    await thread.cancel();
    await thread.look();

    expect(await running).toEqual({ end: 'cancelled' });
  });

  test('[B10c] that is carried out while a hint is still looking does not end the next run', async () => {
    const scene = thinker(() => 'thought');
    const store = scene.world.store();
    const isCancelled = deferred<void>();
    let reads = 0;
    const thread = await scene.open({
      store: withMethods(store, {
        range: async (table, ...rest) => {
          const records = await store.range(table, ...rest);
          if (table !== 'inbox') return records;
          reads += 1;
          if (reads === 1) void thread.look();
          if (reads === 2) await isCancelled.promise;
          return records;
        },
      }),
      onFrame: (_id, frame) => frame.type === 'status' && frame.status === 'cancelled' && isCancelled.resolve(),
    });
    await thread.send({});
    await thread.cancel();
    await thread.send({});

    expect(await thread.run()).toEqual({ end: 'done' });
    expect(scene.frames('running').map(({ node }) => node)).toEqual(['first', 'second']);
  });
});

describe('cancelling a thread that waits', () => {
  async function waiting() {
    const { agent, sent } = askingAgent();
    const scene = new Scene({ agent });
    const thread = await scene.begun();
    await thread.run();
    return { scene, thread, sent, wait: only(await thread.waits()) };
  }

  test('[B10c, B9b] closes its waits: a later answer is refused with the cancel as the winner', async () => {
    const { scene, thread, sent, wait } = await waiting();
    await thread.cancel();

    expect(await (await scene.open()).run()).toEqual({ end: 'cancelled' });
    expect(await thread.waits()).toEqual([]);
    await expect(answer(thread, wait, { decision: 'allow' })).rejects.toMatchObject({
      code: 'wait_closed',
      details: { winner: 'cancelled' },
    });
    expect(await thread.run()).toEqual({ end: 'cancelled' });
    expect(sent).toEqual([]);
  });

  test('[B10c, B9b] an answer that comes in between stays as it was given, and the run is cancelled all the same', async () => {
    const { scene, thread, sent, wait } = await waiting();
    const store = scene.world.store();
    const other = await scene.open();
    let isFirst = true;
    const cancelling = await scene.open({
      store: withMethods(store, {
        commit: async (groups) => {
          if (
            isFirst &&
            groups.some(({ records }) => records.some(({ table, key }) => table === 'waits' && key[0] === 'a'))
          ) {
            isFirst = false;
            await answer(other, wait, { decision: 'allow' });
          }
          return store.commit(groups);
        },
      }),
    });
    await thread.cancel();

    expect(await cancelling.run()).toEqual({ end: 'cancelled' });
    expect(isFirst).toBe(false);
    expect(sent).toEqual([]);
    await expect(answer(other, wait, { decision: 'deny' })).rejects.toMatchObject({ details: { winner: 'allow' } });
  });
});
