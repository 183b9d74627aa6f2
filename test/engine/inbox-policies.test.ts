import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { type InboxPolicy, withSettled } from '../../src/model/inbox.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { answer, head, only, plainState, quiet, Scene } from './support.ts';

/** Says what came in, and stands in `stand` while it is told to. */
function standing() {
  const control = { stands: true };
  const agent = defineAgent({
    name: 'standing',
    version: 1,
    state: { heard: log(z.string()), done: log(z.string()) },
    start: 'hear',
    nodes: {
      hear: (_state, { goto }) => goto('stand', { done: ['heard'] }),
      stand: (_state, { end, abortSignal }) =>
        control.stands
          ? new Promise((_resolve, reject) => abortSignal.addEventListener('abort', () => reject(abortSignal.reason)))
          : end({ done: ['stood'] }),
    },
  });
  return { control, scene: new Scene({ agent }) };
}

describe('an input that comes while a run is under way', () => {
  test('[B11b] with queue waits for its end', async () => {
    const { control, scene } = standing();
    control.stands = false;
    const thread = await scene.begun({ heard: ['one'] });
    await thread.send({ heard: ['two'] }, 'two', 'queue');

    expect(await thread.run()).toEqual({ end: 'done' });
    expect(await plainState(thread)).toEqual({ heard: ['one', 'two'], done: ['heard', 'stood', 'heard', 'stood'] });
  });

  test('[B11b] with reject is refused and not kept, while the thread runs, waits, or has input to take', async () => {
    const { control, scene } = standing();
    const thread = await scene.begun({ heard: ['one'] });

    await expect(thread.send({}, 'x', 'reject')).rejects.toMatchObject({ code: 'thread_busy' });
    const run = thread.run();
    await quiet();
    await expect(thread.send({}, 'x', 'reject')).rejects.toMatchObject({
      code: 'thread_busy',
      details: { thread: 'thread', status: 'running' },
    });
    thread.stop();
    await run;
    control.stands = false;
    await thread.run();
    expect((await thread.row())?.inbox).toBe(1);
    await thread.send({ heard: ['two'] }, 'x', 'reject');
    await thread.send({ heard: ['two'] }, 'x', 'reject');
    expect((await thread.row())?.inbox).toBe(2);
  });

  test('[B11b] with reject is one of two that race for a free thread', async () => {
    const { scene } = standing();
    const thread = await scene.open();
    const sends = ['a', 'b'].map((name) => thread.send({ heard: [name] }, name, 'reject'));
    const ends = await Promise.allSettled(sends);

    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await thread.row())?.inbox).toBe(1);
  });

  test('[B11c] with interrupt ends the run, keeps what it did, and is taken before those that wait', async () => {
    const { control, scene } = standing();
    const thread = await scene.begun({ heard: ['one'] });
    const run = thread.run();
    await quiet();
    await thread.send({ heard: ['queued'] }, 'queued');
    await thread.send({ heard: ['now'] }, 'now', 'interrupt');
    control.stands = false;
    await thread.look();

    expect(await run).toEqual({ end: 'done' });
    expect(await plainState(thread)).toEqual({
      heard: ['one', 'now', 'queued'],
      done: ['heard', 'heard', 'stood', 'heard', 'stood'],
    });
    expect((await head(thread)).control).toMatchObject({ inboxTaken: 3, consumed: [] });
  });

  test('[B11c] with interrupt ends a run that waits: its question is closed, and a late answer changes nothing', async () => {
    const agent = defineAgent({
      name: 'asking',
      version: 1,
      state: { heard: log(z.string()) },
      start: 'hear',
      nodes: {
        hear: async ({ heard }, { ask, end }) => {
          const [newest] = await heard.tail(1);
          return newest === 'first' ? end({ heard: [await ask<string>('well?')] }) : end({ heard: ['ok'] });
        },
      },
    });
    const thread = await new Scene({ agent }).begun({ heard: ['first'] });
    await thread.run();
    const wait = only(await thread.waits());
    await thread.send({ heard: ['second'] }, 'second', 'interrupt');

    expect(await thread.run()).toEqual({ end: 'done' });
    await expect(answer(thread, wait, { decision: 'reply', value: 'late' })).rejects.toMatchObject({
      code: 'wait_closed',
      details: { winner: 'cancelled' },
    });
    expect((await plainState(thread)).heard).toEqual(['first', 'second', 'ok']);
  });

  test('[B11d] with roll_back ends the run and takes the state back to where it began', async () => {
    const { control, scene } = standing();
    control.stands = false;
    const thread = await scene.begun({ heard: ['one'] });
    await thread.run();
    control.stands = true;
    await thread.send({ heard: ['two'] });
    const run = thread.run();
    await quiet();
    await thread.send({ heard: ['three'] }, 'three', 'roll_back');
    control.stands = false;
    await thread.look();

    expect(await run).toEqual({ end: 'done' });
    const expected = { heard: ['one', 'three'], done: ['heard', 'stood', 'heard', 'stood'] };
    expect(await plainState(thread)).toEqual(expected);
    expect(await plainState(await scene.open())).toEqual(expected);
    const causes = (await thread.checkpoints()).map(({ cause }) => cause);
    expect(causes).toEqual(['step', 'step', 'input', 'rolled_back', 'step', 'input', 'step', 'step', 'input']);
    expect((await head(thread)).position.visits).toEqual({ hear: 2, stand: 2 });
  });

  test('[B11d] with roll_back in the first run takes the state back to its initial values', async () => {
    const { control, scene } = standing();
    const thread = await scene.begun({ heard: ['one'] });
    const run = thread.run();
    await quiet();
    await thread.send({ heard: ['two'] }, 'two', 'roll_back');
    control.stands = false;
    await thread.look();

    expect(await run).toEqual({ end: 'done' });
    expect(await plainState(await scene.open())).toEqual({ heard: ['two'], done: ['heard', 'stood'] });
    expect((await head(thread)).position.visits).toEqual({ hear: 1, stand: 1 });
  });

  test('[B11d, B11a] with roll_back keeps what the run did, and says so, where the checkpoint at which it began is gone', async () => {
    const { control, scene } = standing();
    control.stands = false;
    const thread = await scene.begun({ heard: ['one'] });
    await thread.run();
    control.stands = true;
    await thread.send({ heard: ['two'] });
    const run = thread.run();
    await quiet();
    const { began } = (await head(thread)).control.run;
    scene.lose('checkpoints', (key) => key === began);
    scene.lose('events', (key) => key === began);
    await thread.send({ heard: ['three'] }, 'three', 'roll_back');
    control.stands = false;
    await thread.look();

    expect(await run).toEqual({ end: 'done' });
    expect((await plainState(thread)).heard).toEqual(['one', 'two', 'three']);
    const told = (await thread.events()).find(({ type }) => type === 'interrupted');
    expect(told?.details).toMatchObject({ began, kept: 'it is missing' });
  });

  test('[B11d] with roll_back undoes no effect and does not make it again by itself', async () => {
    const made: string[] = [];
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      input: z.object({ what: z.string() }),
      effect: 'once',
      run: ({ what }) => {
        made.push(what);
        return 'paid';
      },
    });
    const agent = defineAgent({
      name: 'payer',
      version: 1,
      state: { what: log(z.string()) },
      tools: { pay },
      start: 'pay',
      nodes: {
        pay: async ({ what }, { call, goto }) => {
          const [newest = ''] = await what.tail(1);
          await call('pay', { what: newest });
          return goto('ask');
        },
        ask: async (_state, { ask, end }) => {
          await ask('well?');
          return end();
        },
      },
    });
    const scene = new Scene({ agent });
    const thread = await scene.begun({ what: ['book'] });
    await thread.run();
    await thread.send({ what: ['pen'] }, 'pen', 'roll_back');
    await thread.run();

    expect(made).toEqual(['book', 'pen']);
    expect((await plainState(thread)).what).toEqual(['pen']);
    expect((await thread.effects()).map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
  });

  test('[B11b] with a policy that is none is refused, and nothing is kept', async () => {
    const { scene } = standing();
    const thread = await scene.begun();

    await expect(thread.send({}, 'x', 'push' as InboxPolicy)).rejects.toMatchObject({
      code: 'policy_unknown',
      details: { policy: 'push', known: 'queue, reject, interrupt, roll_back' },
    });
    expect((await thread.row())?.inbox).toBe(1);
  });
});

test('[B11a] orders that are settled out of turn become one number when the gap closes', () => {
  const start = { inboxTaken: 2, consumed: [] };
  const later = withSettled(start, [5, 4]);

  expect(later).toEqual({ inboxTaken: 2, consumed: [4, 5] });
  expect(withSettled(later, [3])).toEqual({ inboxTaken: 5, consumed: [] });
  expect(withSettled(later, [2, 4])).toEqual(later);
});

test('[B11a] an input that a cancel overtook is lost to it, an event is not', async () => {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: z.object({}),
    effect: 'once',
    approval: 'always',
    run: () => 'paid',
  });
  const agent = defineAgent({
    name: 'payer',
    version: 1,
    state: { heard: log(z.string()) },
    tools: { pay },
    start: 'hear',
    nodes: {
      hear: async ({ heard }, { call, end, waitFor }) =>
        heard.length === 1 ? end({ heard: [await call('pay', {})] }) : end({ heard: [await waitFor<string>('event')] }),
    },
  });
  const thread = await new Scene({ agent }).begun({ heard: ['one'] });
  await thread.run();
  await thread.signal('event', 'kept');
  await thread.send({ heard: ['dropped'] });
  await thread.cancel();
  await thread.send({ heard: ['two'] });

  expect(await thread.run()).toEqual({ end: 'done' });
  expect((await plainState(thread)).heard).toEqual(['one', 'two', 'kept']);
});
