import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { NodeContext } from '../../src/program/node-context.ts';
import { answer, Cable, head, only, plainState, quiet, Scene } from './support.ts';

const state = { said: log(z.string()) };
type Context = NodeContext<typeof state, Record<never, never>, 'only'>;

/** An agent of one node, which gives what is to be said. */
function saying(work: (context: Context) => Promise<string>, counted: { runs: number } = { runs: 0 }): Scene {
  const agent = defineAgent({
    name: 'waiter',
    version: 1,
    state,
    start: 'only',
    nodes: {
      only: async (_state, context) => {
        counted.runs += 1;
        return context.end({ said: [await work(context)] });
      },
    },
  });
  return new Scene({ agent });
}

const said = async (scene: Scene) => (await plainState(await scene.open())).said;

describe('a question', () => {
  const asks = () =>
    saying(({ ask }) => ask('Which day?', { answer: z.string(), show: { days: ['Mon', 'Tue'] }, expiresMs: 60_000 }));

  test('[B9f, A4c] is shown with its data once its snapshot is stored, and answered after a restart', async () => {
    const scene = asks();
    const thread = await scene.begun();

    expect(await thread.run()).toEqual({ end: 'waiting' });
    expect(await head(thread)).toMatchObject({ cause: 'wait', kind: 'snapshot' });
    const later = await scene.open();
    const wait = only(await later.waits());
    expect(wait).toMatchObject({ kind: 'question', reason: 'Which day?', args: { days: ['Mon', 'Tue'] } });
    await answer(later, wait, { decision: 'reply', value: 'Tue' });
    expect(await later.run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['Tue']);
  });

  test('[B9f] is asked again, with what was wrong, when the answer does not fit', async () => {
    const scene = asks();
    const thread = await scene.begun();
    await thread.run();
    await answer(thread, only(await thread.waits()), { decision: 'reply', value: 7 });

    expect(await thread.run()).toEqual({ end: 'waiting' });
    const again = only(await thread.waits());
    expect(again.reason).toMatch(/^Which day\? \(The last answer could not be used: .*expected string/);
    await answer(thread, again, { decision: 'reply', value: 'Mon' });
    expect(await thread.run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['Mon']);
  });

  test('[B9f] that is declined is an error which the node can catch', async () => {
    const scene = saying(async ({ ask }) => {
      try {
        return await ask<string>('Which day?');
      } catch (error) {
        return error instanceof Error ? error.message : '';
      }
    });
    const thread = await scene.begun();
    await thread.run();
    await answer(thread, only(await thread.waits()), { decision: 'deny', reason: 'ask Ann' });

    expect(await thread.run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual([
      'The question "Which day?" was not answered: ask Ann. Catch this error to go on without an answer.',
    ]);
  });

  test('[B9f] takes no answer that is meant for an approval', async () => {
    const thread = await asks().begun();
    await thread.run();
    const wait = only(await thread.waits());

    await expect(answer(thread, wait, { decision: 'allow' })).rejects.toMatchObject({ code: 'answer_invalid' });
    expect(await thread.waits()).toHaveLength(1);
  });

  test('[B9f] that nobody answers in its time fails with the time', async () => {
    const scene = asks();
    const thread = await scene.begun();
    await thread.run();
    scene.clock.advance(60_000);

    expect(await thread.run()).toMatchObject({ end: 'failed' });
    expect((await head(thread)).control.failure).toMatchObject({
      code: 'wait_expired',
      details: { kind: 'question', about: 'Which day?', afterMs: 60_000 },
    });
  });
});

describe('an event', () => {
  test('[B9f] that comes while the node waits for it goes on with its value, without a run of what came before', async () => {
    const counted = { runs: 0 };
    const scene = saying(({ waitFor }) => waitFor('paid', { value: z.string() }), counted);
    const thread = await scene.begun();

    expect(await thread.run()).toEqual({ end: 'waiting' });
    await thread.signal('other', 'no');
    await thread.signal('paid', '9 EUR');
    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['9 EUR']);
    expect(counted.runs).toBe(2);
  });

  test('[B9f] that came before anybody waited is kept, and taken at once', async () => {
    const scene = saying(({ waitFor }) => waitFor<string>('paid'));
    const thread = await scene.begun();
    await thread.signal('paid', 'early');

    expect(await thread.run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['early']);
  });

  test('[B9f] goes to one wait, in the order in which events came; a repeated one is one', async () => {
    const scene = saying(async ({ waitFor }) => `${await waitFor('n')} ${await waitFor('n')} ${await waitFor('n')}`);
    const thread = await scene.begun();
    await thread.signal('n', 1, 'first');
    await thread.signal('n', 1, 'first');
    await thread.signal('n', 2, 'second');

    expect(await thread.run()).toEqual({ end: 'waiting' });
    await thread.signal('n', 3, 'third');
    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['1 2 3']);
  });

  test('[B9f, B11a] that nobody waits for is no work, and hides no input that comes after it', async () => {
    const scene = saying(async () => 'ran');
    const thread = await scene.begun();
    await thread.run();
    await thread.signal('later', 1);

    expect(await thread.run()).toEqual({ end: 'done' });
    const row = await thread.row();
    expect(row?.inboxTaken).toBe(row?.inbox);
    await thread.send({});
    expect(await thread.run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['ran', 'ran']);
    expect((await head(thread)).control).toMatchObject({ inboxTaken: 1, consumed: [3] });
  });

  test('[B9f] whose value does not fit is an error with its name', async () => {
    const thread = await saying(({ waitFor }) => waitFor('paid', { value: z.string() })).begun();
    await thread.signal('paid', 9);

    expect(await thread.run()).toMatchObject({ end: 'failed' });
    expect((await head(thread)).control.failure).toMatchObject({ code: 'event_invalid', details: { event: 'paid' } });
  });

  test('[B9f] needs a thread and a name', async () => {
    const scene = saying(async () => '');
    await expect((await scene.open()).signal('paid')).rejects.toMatchObject({ code: 'thread_unknown' });
    await expect((await scene.begun()).signal('')).rejects.toMatchObject({ code: 'event_name_invalid' });
  });
});

describe('a timer', () => {
  const sleeps = () => saying(({ sleep }) => sleep(3_600_000).then(() => 'awake'));

  test('[B9g, A4c] is durable, says when to wake, and goes on after a restart when its time has come', async () => {
    const scene = sleeps();
    const thread = await scene.begun();
    const startMs = scene.clock.nowMs();

    expect(await thread.run()).toEqual({ end: 'waiting' });
    expect(await head(thread)).toMatchObject({ cause: 'wait', kind: 'snapshot' });
    expect((await thread.row())?.wakeUpAtMs).toBe(startMs + 3_600_000);
    scene.clock.advance(3_599_999);
    expect(await (await scene.open()).run()).toEqual({ end: 'waiting' });
    scene.clock.advance(1);
    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['awake']);
  });

  test('[B9g, B7b] a clock that jumps ahead while the thread is open does not end it; a lasting change does', async () => {
    const scene = sleeps();
    const thread = await scene.begun();
    await thread.run();
    scene.clock.jump(86_400_000);

    expect(await thread.run()).toEqual({ end: 'waiting' });
    expect((await thread.row())?.wakeUpAtMs).toBe(scene.clock.nowMs() + 60_000);
    scene.clock.advance(299_999);
    expect(await thread.run()).toEqual({ end: 'waiting' });
    scene.clock.advance(60_000);
    expect(await thread.run()).toEqual({ end: 'done' });
  });

  test('[B9g] of no sensible length is refused', async () => {
    const thread = await saying(({ sleep }) => sleep(-1).then(() => '')).begun();

    expect(await thread.run()).toMatchObject({ end: 'failed' });
    expect((await head(thread)).control.failure).toMatchObject({ code: 'sleep_invalid', details: { durationMs: -1 } });
  });
});

describe('the network', () => {
  test('[B9g, A4c] is waited for while it is away, and gone on with when it is back', async () => {
    const scene = saying(({ online }) => online().then(() => 'online'));
    const cable = new Cable();
    scene.world.network = cable;
    cable.isPlugged = false;
    const thread = await scene.begun();

    expect(await thread.run()).toEqual({ end: 'waiting' });
    expect(await head(thread)).toMatchObject({ cause: 'wait', kind: 'snapshot' });
    expect(only(await thread.waits()).kind).toBe('network');
    cable.isPlugged = true;
    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['online']);
  });

  test('[B9g] that is there is not waited for', async () => {
    const scene = saying(({ online }) => online().then(() => 'online'));
    const thread = await scene.begun();

    expect(await thread.run()).toEqual({ end: 'done' });
    expect((await thread.checkpoints()).map(({ cause }) => cause)).toEqual(['step', 'input']);
  });
});

test('[B9f, B9g] several waits of different kinds are open at once, and answered in any order', async () => {
  const scene = saying(async ({ all }) => {
    const kinds = ['ask', 'event', 'timer'];
    const answers = await all(kinds, async (kind, { ask, waitFor, sleep }) =>
      kind === 'ask' ? ask<string>('q') : kind === 'event' ? waitFor<string>('e') : sleep(1_000).then(() => 't'),
    );
    return answers.join(' ');
  });
  const thread = await scene.begun();

  expect(await thread.run()).toEqual({ end: 'waiting' });
  expect((await thread.waits()).map(({ kind }) => kind).sort()).toEqual(['event', 'question', 'timer']);
  await thread.signal('e', 'E');
  expect(await thread.run()).toEqual({ end: 'waiting' });
  scene.clock.advance(1_000);
  expect(await thread.run()).toEqual({ end: 'waiting' });
  await answer(thread, only(await thread.waits()), { decision: 'reply', value: 'A' });
  expect(await thread.run()).toEqual({ end: 'done' });
  expect(await said(scene)).toEqual(['A E t']);
});

test('[B9f] an event that comes while another call of the node runs is handed to it there', async () => {
  const counted = { runs: 0 };
  let finish: (value: string) => void = () => undefined;
  const scene = saying(async ({ all }) => {
    const [event, work] = await all(['event', 'work'], (kind, { waitFor }) =>
      kind === 'event' ? waitFor<string>('go') : new Promise<string>((resolve) => (finish = resolve)),
    );
    return `${event} ${work}`;
  }, counted);
  const thread = await scene.begun();
  const run = thread.run();
  await quiet();
  await thread.signal('go', 'gone');
  await thread.look();
  await quiet();
  finish('done');

  expect(await run).toEqual({ end: 'done' });
  expect(counted.runs).toBe(1);
  expect(await said(scene)).toEqual(['gone done']);
});
