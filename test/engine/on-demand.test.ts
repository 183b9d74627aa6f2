/** What a worker loads only when it needs it, where it cannot be had: offline and not cached, or gone with an update. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { NodeContext } from '../../src/program/node-context.ts';
import { answer, head, only, plainState, Scene } from './support.ts';

const file = '../../src/engine/on-demand.ts';
const state = { said: log(z.string()) };
type Context = NodeContext<typeof state, Record<never, never>, 'only'>;

beforeEach(() => {
  vi.doMock(file, () => Promise.reject(new TypeError('Failed to fetch dynamically imported module')));
});

afterEach(() => {
  vi.doUnmock(file);
});

function saying(work: (context: Context) => Promise<string>): Scene {
  const agent = defineAgent({
    name: 'sayer',
    version: 1,
    state,
    start: 'only',
    nodes: { only: async (_state, context) => context.end({ said: [await work(context)] }) },
  });
  return new Scene({ agent });
}

const notLoaded = { end: 'blocked', error: { code: 'code_not_loaded' } };

test('[I7] a run that needs it is left as it is, and goes on once it can be had', async () => {
  const scene = saying(({ ask }) => ask('Which day?').then(String));
  const thread = await scene.begun();
  expect(await thread.run()).toMatchObject(notLoaded);
  expect(await head(thread)).toMatchObject({ cause: 'input' });

  vi.doUnmock(file);
  expect(await thread.run()).toEqual({ end: 'waiting' });
  await answer(thread, only(await thread.waits()), { decision: 'reply', value: 'Tue' });
  expect(await thread.run()).toEqual({ end: 'done' });
  expect(await plainState(thread)).toEqual({ said: ['Tue'] });
});

test('[I7] a node cannot take it for a failure of its own', async () => {
  const scene = saying(({ ask }) => ask('Which day?').then(String, () => 'nobody knows'));
  const thread = await scene.begun();
  expect(await thread.run()).toMatchObject(notLoaded);
  expect(await plainState(thread)).toEqual({ said: [] });
});

test('[I7] a failure is not decided on before what decides is there', async () => {
  let isBroken = true;
  const scene = saying(async () => {
    if (isBroken) throw new Error('out of order');
    return 'in order';
  });
  const thread = await scene.begun();
  expect(await thread.run()).toMatchObject(notLoaded);
  expect(await head(thread)).toMatchObject({ cause: 'input', control: { status: 'running' } });

  isBroken = false;
  vi.doUnmock(file);
  expect(await thread.run()).toEqual({ end: 'done' });
  expect(await plainState(thread)).toEqual({ said: ['in order'] });
});

test('[I7, A11a] a damaged thread says that its repair could not be loaded, and is repaired once it can be', async () => {
  const scene = saying(async () => 'hello');
  const thread = await scene.begun();
  expect(await thread.run()).toEqual({ end: 'done' });
  const { id } = await head(thread);
  scene.damage('checkpoints', (key) => key === id);
  expect(await (await scene.open()).run()).toMatchObject(notLoaded);

  vi.doUnmock(file);
  expect(await (await scene.open()).run()).toEqual({ end: 'done' });
});

test('what is only asked for says that it could not be loaded, and why', async () => {
  const thread = await saying(async () => 'hello').begun();
  expect(await thread.run()).toEqual({ end: 'done' });
  await expect(thread.events()).rejects.toThrow(/could not be loaded: .*Go online, or reload after an update/s);
});
