/** An event goes to one wait (PROTOCOL 6): also where the step that took it never ends, and where wait and event meet late. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { NodeContext } from '../../src/program/node-context.ts';
import type { PolicyTable } from '../../src/program/policy.ts';
import { answer, head, nth, only, plainState, Scene } from './support.ts';

const state = { said: log(z.string()) };
type Context = NodeContext<typeof state, Record<never, never>, 'only'>;

function saying(work: (context: Context) => Promise<string>, policy?: PolicyTable): Scene {
  const agent = defineAgent({
    name: 'listener',
    version: 1,
    state,
    start: 'only',
    ...(policy && { policy }),
    nodes: {
      only: { retry: { attempts: 1 }, run: async (_state, context) => context.end({ said: [await work(context)] }) },
    },
  });
  return new Scene({ agent });
}

const said = async (scene: Scene) => (await plainState(await scene.open())).said;

/** A thread whose step has taken the event `go` and waits for a person. */
async function holding(): Promise<Scene> {
  const scene = saying(async ({ waitFor, ask }) => `${await waitFor('go')} ${await ask('and now?')}`);
  const thread = await scene.begun();
  await thread.signal('go', 'first', 'event-1');
  expect(await thread.run()).toEqual({ end: 'waiting' });
  expect(only(await thread.waits()).kind).toBe('question');
  return scene;
}

describe('an event that a step took which never ends', () => {
  test.each([['interrupt'], ['roll_back']] as const)(
    '[B9f, B11c, B11d] is used up when new input takes its place (%s), in this worker and after a restart',
    async (policy) => {
      const scene = await holding();
      const thread = await scene.open();
      await thread.send({}, 'input-2', policy);

      expect(await thread.run()).toEqual({ end: 'waiting' });
      expect(only(await thread.waits())).toMatchObject({ kind: 'event', tool: 'go' });
      expect(await (await scene.open()).run()).toEqual({ end: 'waiting' });
      expect(only(await thread.waits()).kind).toBe('event');
      expect((await head(thread)).control).toMatchObject({ inboxTaken: 3, consumed: [] });
    },
  );

  test('[B9f, B10c] is used up when its run is cancelled', async () => {
    const scene = await holding();
    const thread = await scene.open();
    await thread.cancel();
    expect(await thread.run()).toEqual({ end: 'cancelled' });
    await thread.send({});

    expect(await (await scene.open()).run()).toEqual({ end: 'waiting' });
    expect(only(await thread.waits()).kind).toBe('event');
  });

  test('[B9f, B6d] is used up when its run fails', async () => {
    const scene = saying(async ({ waitFor }) => {
      throw new Error(`cannot use ${await waitFor('go')}`);
    });
    const thread = await scene.begun();
    await thread.signal('go', 'it');
    expect(await thread.run()).toMatchObject({ end: 'failed' });
    await thread.send({});

    expect(await (await scene.open()).run()).toEqual({ end: 'waiting' });
    expect(await thread.events()).toContainEqual(expect.objectContaining({ type: 'failed' }));
  });

  test('[B9f, B12c] is used up when a person takes the thread back, and when one edits its state', async () => {
    const scene = await holding();
    const thread = await scene.open();
    await thread.edit({ said: ['edited'] });

    expect(await (await scene.open()).run()).toEqual({ end: 'waiting' });
    expect(only(await thread.waits()).kind).toBe('event');
    await thread.rollBack(nth(await thread.checkpoints(), -1).id);
    expect(await (await scene.open()).run()).toEqual({ end: 'waiting' });
    expect(only(await thread.waits()).kind).toBe('event');
    await thread.signal('go', 'second', 'event-2');
    await thread.run();
    await answer(thread, only(await thread.waits()), { decision: 'reply', value: 'on' });
    expect(await thread.run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['second on']);
  });

  test('[B9f, B8b] is given to the same step once more where the policy runs it again: its calls are made again, too', async () => {
    let tries = 0;
    const scene = saying(
      async ({ waitFor }) => {
        const event = await waitFor<string>('go');
        tries += 1;
        if (tries === 1) throw new Error('not yet');
        return `${event} at try ${tries}`;
      },
      [{ action: 'retry' }],
    );
    const thread = await scene.begun();
    await thread.signal('go', 'it');

    expect(await thread.run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['it at try 2']);
    expect((await head(thread)).control).toMatchObject({ inboxTaken: 2, consumed: [] });
  });
});

describe('an event and a wait whose time is over', () => {
  const patient = () =>
    saying(async ({ waitFor }) => {
      try {
        return await waitFor<string>('go', { expiresMs: 60_000 });
      } catch {
        return `late: ${await waitFor('go')}`;
      }
    });

  test('[B9f, B9g] what came in time is taken, also where nobody looked before the time was over', async () => {
    const scene = patient();
    const thread = await scene.begun();
    await thread.run();
    scene.clock.advance(59_999);
    await thread.signal('go', 'in time');
    scene.clock.advance(1);

    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['in time']);
  });

  test('[B9f, B9g] what came after it is for the next wait', async () => {
    const scene = patient();
    const thread = await scene.begun();
    await thread.run();
    scene.clock.advance(60_000);
    await thread.signal('go', 'too late');

    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['late: too late']);
  });

  test('[B9f, B9g] what the wait before it took is not given to it as its time ends, also after a restart', async () => {
    const scene = saying(async ({ waitFor }) => {
      const first = await waitFor<string>('go');
      try {
        return `${first}, then ${await waitFor('go', { expiresMs: 60_000 })}`;
      } catch {
        return `${first}, then nothing`;
      }
    });
    const thread = await scene.begun();
    await thread.signal('go', 'it');
    expect(await thread.run()).toEqual({ end: 'waiting' });
    scene.clock.advance(60_000);

    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['it, then nothing']);
  });
});
