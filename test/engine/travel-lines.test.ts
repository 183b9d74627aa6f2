import { expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import type { EffectChoice } from '../../src/model/past.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { head, never, plainState, quiet, Scene } from './support.ts';
import { choices } from './travel-agent.ts';

/** Two lines, two calls each, and every checkpoint at which a line had a step to run. */
async function given(same = false) {
  const calls: string[] = [];
  const note = tool({
    name: 'note',
    description: 'Notes',
    input: z.object({ text: z.string() }),
    effect: 'once',
    run: ({ text }) => {
      calls.push(text);
      return `noted ${text}`;
    },
  });
  const agent = defineAgent({
    name: 'lines',
    version: 1,
    state: { notes: log(z.string()) },
    tools: { note },
    start: 'begin',
    nodes: {
      begin: (_state, { parallel }) => parallel(['left', 'right'], { join: 'join' }),
      left: async (_state, { call, goto }) => goto('left2', { notes: [await call('note', { text: 'left' })] }),
      left2: async (_state, { call, end }) => end({ notes: [await call('note', { text: 'left2' })] }),
      right: async (_state, { call, goto }) =>
        goto('right2', { notes: [await call('note', { text: same ? 'left' : 'right' })] }),
      right2: async (_state, { call, end }) => end({ notes: [await call('note', { text: 'right2' })] }),
      join: (_state, { end }) => end(),
    },
  });
  const scene = new Scene({ agent });
  const thread = await scene.begun();
  expect(await thread.run()).toEqual({ end: 'done' });
  const all = await thread.checkpoints();
  const inside = all.filter(({ position, control }) => position.next.length === 0 && control.status === 'running');
  expect(inside.length).toBeGreaterThanOrEqual(4);
  return { scene, agent, thread, calls, inside };
}

const choose = (attempt: Promise<unknown>, choice: EffectChoice) => choices(attempt, () => choice).catch(() => ({}));

test('[B12c, B1d] to a place among parallel lines: those that had a step to run run it anew, the others keep what they did', async () => {
  const { thread, calls, inside } = await given();
  const expected = await plainState(thread);
  for (const { id, position } of inside) {
    const open =
      4 -
      (position.visits.left ?? 0) -
      (position.visits.right ?? 0) -
      (position.visits.left2 ?? 0) -
      (position.visits.right2 ?? 0);
    const effects = await choose(thread.rollBack(id), 'redo');
    calls.length = 0;
    await thread.rollBack(id, { effects });
    expect((await head(thread)).control.status).toBe('running');
    expect(await thread.run()).toEqual({ end: 'done' });

    expect(calls).toHaveLength(open);
    expect(await plainState(thread)).toEqual(expected);
  }
});

test('[B12c, B1d] among parallel lines, `reuse` gives each line its own results', async () => {
  const { thread, calls, inside } = await given();
  const expected = await plainState(thread);
  for (const { id } of inside) {
    await thread.rollBack(id, { effects: await choose(thread.rollBack(id), 'reuse') });
    expect(await thread.run()).toEqual({ end: 'done' });
    expect(await plainState(thread)).toEqual(expected);
  }
  expect(calls).toHaveLength(4);
});

test('[B12d, B1d] a fork from among parallel lines goes on with them', async () => {
  const { scene, agent, thread, calls, inside } = await given();
  const expected = await plainState(thread);
  const engine = await scene.world.engine({ agent });
  for (const { id, sequence } of inside) {
    const fork = `fork ${sequence}`;
    await thread.fork(id, { id: fork, effects: await choose(thread.fork(id, { id: fork }), 'redo') });
    expect(await engine.thread(fork).run()).toEqual({ end: 'done' });
    expect(await plainState(engine.thread(fork))).toEqual(expected);
  }
  expect(calls.length).toBeGreaterThan(4);
});

test('[B12b, B1d] a difference shows no trace of the lines', async () => {
  const { thread, inside } = await given();
  const found = await Promise.all(inside.map(async ({ id }) => thread.diff(id, (await head(thread)).id)));

  expect(new Set(found.flat().map(({ field }) => field))).toEqual(new Set(['notes']));
});

test('[B12c, B1d] lines that make the same call at the same time do not share one recorded result', async () => {
  const { thread, calls } = await given(true);
  const [first] = (await thread.checkpoints()).slice(-1);
  if (first === undefined) throw new Error('there is one');
  let asked = 0;
  const effects = await choices(thread.rollBack(first.id), () => {
    asked += 1;
    return asked === 1 ? 'reuse' : 'redo';
  });
  calls.length = 0;
  await thread.rollBack(first.id, { effects });
  await thread.run();

  expect(calls.sort()).toEqual(['left', 'left2', 'right2']);
});

test('[B12c, B1d, I7] a result that one line was given before a crash is not given to another line after it', async () => {
  const calls: string[] = [];
  let isCut = false;
  const note = tool({
    name: 'note',
    description: 'Notes',
    input: z.object({ text: z.string() }),
    effect: 'once',
    run: ({ text }) => `${text} ${calls.push(text)}`,
  });
  const agent = defineAgent({
    name: 'crash',
    version: 1,
    state: { notes: log(z.string()) },
    tools: { note },
    start: 'begin',
    nodes: {
      begin: (_state, { parallel }) => parallel(['left', 'right'], { join: 'join' }),
      left: async (_state, { call, end }) => {
        const text = await call('note', { text: 'same' });
        return isCut ? never() : end({ notes: [text] });
      },
      right: async (_state, { call, end }) => {
        if (isCut) return never();
        return end({ notes: [await call('note', { text: 'same' })] });
      },
      join: (_state, { end }) => end(),
    },
  });
  const scene = new Scene({ agent });
  const thread = await scene.begun();
  await thread.run();
  const [first] = (await thread.checkpoints()).slice(-1);
  if (first === undefined) throw new Error('there is one');
  let asked = 0;
  const effects = await choices(thread.rollBack(first.id), () => {
    asked += 1;
    return asked === 1 ? 'reuse' : 'redo';
  });
  await thread.rollBack(first.id, { effects });
  isCut = true;
  const { thread: mortal, life } = await scene.mortal();
  void mortal.run();
  await quiet();
  life.end();
  isCut = false;

  expect(await (await scene.open()).run()).toEqual({ end: 'done' });
  expect(calls).toHaveLength(3);
});
