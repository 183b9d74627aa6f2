/** Deadlines and budgets where lines run side by side, and where they change while a step is under way. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { type Deferred, deferred } from '../../src/base/deferred.ts';
import { log, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { head, plainState, quiet, Scene, ScriptedModel } from './support.ts';

const state = { said: log(z.string()) };

/** A tool that takes as long as its gate is closed. */
function slowly(gate: Deferred<void>, onCall: () => void = () => undefined) {
  return tool({
    name: 'slow',
    description: 'Takes long',
    input: z.object({}),
    effect: 'read',
    timeLimitMs: 500_000,
    run: async () => {
      onCall();
      await gate.promise;
      return 'x';
    },
  });
}

function two(limits: { readonly tokens: number }) {
  const model = new ScriptedModel(() => 'yes');
  const agent = defineAgent({
    name: 'two lines',
    version: 1,
    state,
    limits,
    start: 'go',
    nodes: {
      go: (_state, { parallel }) => parallel(['one', 'two'], { join: 'sum' }),
      one: async (_state, { model, ask, end }) => {
        const text = await model.text('a prompt of many tokens'); // 23 + 3
        await ask('ok?');
        return end({ said: [text] });
      },
      two: async (_state, { waitFor, model, end }) => {
        await waitFor('go');
        return end({ said: [await model.text('second')] });
      },
      sum: (_state, { end }) => end(),
    },
  });
  return { scene: new Scene({ agent, model }), model };
}

test('[B7d, B1a] a budget counts what a line has used that waits, also after a restart', async () => {
  const { scene, model } = two({ tokens: 10 });
  const thread = await scene.begun();
  expect(await thread.run()).toEqual({ end: 'waiting' });
  await thread.signal('go');
  expect(await (await scene.open()).run()).toEqual({ end: 'out_of_budget' });
  expect(model.calls).toHaveLength(1);
});

test('[B7d, B1a] a budget counts what a line has used that waits, in the same run', async () => {
  const { scene, model } = two({ tokens: 10 });
  const thread = await scene.begun();
  await thread.signal('go', null, 'early');
  expect(await thread.run()).toMatchObject({ end: 'out_of_budget' });
  expect(model.calls).toHaveLength(1);
});

test('[B7a, B7e] time that is extended holds for the step that is under way', async () => {
  const [begun, gate] = [deferred<void>(), deferred<void>()];
  const agent = defineAgent({
    name: 'slow',
    version: 1,
    state,
    limits: { runMs: 1_000 },
    tools: { slow: slowly(gate, begun.resolve) },
    start: 'go',
    nodes: { go: async (_state, { call, end }) => end({ said: [await call('slow', {})] }) },
  });
  const scene = new Scene({ agent });
  const thread = await scene.begun();
  const run = thread.run();
  await begun.promise;
  scene.clock.advance(500);
  await thread.extend({ runMs: 100_000 });
  await thread.look();
  await quiet();
  scene.clock.advance(1_000);
  await quiet();
  gate.resolve();
  expect(await run).toEqual({ end: 'done' });
  expect((await head(thread)).control.limits.runMs).toBe(101_000);
});

test('[B7a, B1a] the deadline of a step that has ended does not stop another line', async () => {
  const [begun, gate] = [deferred<void>(), deferred<void>()];
  const agent = defineAgent({
    name: 'two lines',
    version: 1,
    state,
    tools: { slow: slowly(gate, begun.resolve) },
    start: 'go',
    nodes: {
      go: (_state, { parallel }) => parallel(['long', 'short'], { join: 'sum' }),
      long: async (_state, { call, end }) => end({ said: [await call('slow', {})] }),
      short: { deadlineMs: 1_000, run: (_state, { end }) => end({ said: ['short'] }) },
      sum: (_state, { end }) => end(),
    },
  });
  const scene = new Scene({ agent });
  const run = (await scene.begun()).run();
  await begun.promise;
  await quiet();
  scene.clock.advance(1_500);
  await quiet();
  gate.resolve();
  expect(await run).toEqual({ end: 'done' });
});

test('[B7a, B1a] the deadline of a line that waits holds while another line is under way', async () => {
  const [begun, asked, gate] = [deferred<void>(), deferred<void>(), deferred<void>()];
  const agent = defineAgent({
    name: 'two lines',
    version: 1,
    state,
    tools: { slow: slowly(gate, begun.resolve) },
    start: 'go',
    nodes: {
      go: (_state, { parallel }) => parallel(['long', 'short'], { join: 'sum' }),
      long: async (_state, { call, end }) => end({ said: [await call('slow', {})] }),
      short: (_state, { goto }) => goto('asks'),
      asks: {
        deadlineMs: 1_000,
        run: async (_state, { ask, end }) => {
          asked.resolve();
          return end({ said: [await ask<string>('well?')] });
        },
      },
      sum: (_state, { end }) => end(),
    },
  });
  const scene = new Scene({ agent });
  const run = (await scene.begun()).run();
  await begun.promise;
  await asked.promise;
  await quiet();
  scene.clock.advance(1_500);
  await scene.passes(2_000, 2_000); // which the slow step is given to end by itself
  expect(await run).toEqual({ end: 'timed_out' });
});

test('[B7c, B11b] what a line has used that stands at the step limit is counted when other input takes its place', async () => {
  const model = new ScriptedModel(() => 'yes'); // 6 + 3
  const agent = defineAgent({
    name: 'looping',
    version: 1,
    state: { ...state, stop: value(z.boolean(), false) },
    maxSteps: 30,
    start: 'go',
    nodes: {
      go: ({ stop }, { parallel, end }) => (stop ? end() : parallel(['one', 'loop'], { join: 'sum' })),
      one: async (_state, { model, ask, end }) => {
        const text = await model.text('prompt');
        await ask('ok?');
        return end({ said: [text] });
      },
      loop: (_state, { goto }) => goto('loop'),
      sum: (_state, { end }) => end(),
    },
  });
  const thread = await new Scene({ agent, model }).begun();
  expect(await thread.run()).toMatchObject({ end: 'failed' });
  await thread.send({ stop: true });
  expect(await thread.run()).toEqual({ end: 'done' });
  expect(model.calls).toHaveLength(1);
  expect((await head(thread)).control.usage).toMatchObject({ inputTokens: 6, outputTokens: 3 });
});

test('[B11b] input that takes a run back does so where the run stands at its step limit', async () => {
  const agent = defineAgent({
    name: 'looping',
    version: 1,
    state: { ...state, stop: value(z.boolean(), false) },
    maxSteps: 3,
    start: 'go',
    nodes: { go: ({ stop }, { goto, end }) => (stop ? end({ said: ['end'] }) : goto('go', { said: ['x'] })) },
  });
  const thread = await new Scene({ agent }).begun();
  expect(await thread.run()).toMatchObject({ end: 'failed' });
  await thread.send({ stop: true }, 'b', 'roll_back');
  expect(await thread.run()).toEqual({ end: 'done' });
  expect((await plainState(thread)).said).toEqual(['end']);
});
