import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { log, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { head, plainState, Scene } from './support.ts';

const state = { count: value(z.number(), 0), trail: log(z.string()) };

describe('a graph', () => {
  test('[B1a] follows goto, edges and end from node to node', async () => {
    const agent = defineAgent({
      name: 'line',
      version: 1,
      state,
      start: 'first',
      nodes: {
        first: (_state, { goto }) => goto('second', { trail: ['first'] }),
        second: (_state, { update }) => update({ trail: ['second'] }),
        third: (_state, { end }) => end({ trail: ['third'] }),
        unused: (_state, { end }) => end({ trail: ['unused'] }),
      },
      edges: { second: 'third' },
    });
    const thread = await new Scene({ agent }).begun();

    expect(await thread.run()).toEqual({ end: 'done' });
    expect((await plainState(thread)).trail).toEqual(['first', 'second', 'third']);
  });

  test('[B1a, A7d] names that every object has are names of nodes like others', async () => {
    const agent = defineAgent({
      name: 'names',
      version: 1,
      state,
      start: 'first',
      nodes: {
        first: (_state, { update }) => update(),
        constructor: (_state, { goto }) => goto('__proto__', { trail: ['constructor'] }),
        ['__proto__']: (_state, { goto }) => goto('valueOf', { trail: ['__proto__'] }),
        valueOf: (_state, { update }) => update(),
      },
      edges: { first: 'constructor' } as never,
    });
    const thread = await new Scene({ agent }).begun();

    expect(await thread.run()).toMatchObject({ end: 'failed' });
    const { control, position } = await head(thread);
    expect(control.failure).toMatchObject({ code: 'edge_missing', details: { node: 'valueOf' } });
    expect(Object.entries(position.visits)).toEqual([
      ['first', 1],
      ['constructor', 1],
      ['__proto__', 1],
    ]);
    expect(await plainState(thread)).toEqual({ count: 0, trail: ['constructor', '__proto__'] });
  });

  test('[B1a] a router sees the state as it is after the update of its node, logs included', async () => {
    const seen: unknown[] = [];
    const agent = defineAgent({
      name: 'router',
      version: 1,
      state,
      start: 'count',
      nodes: { count: ({ count }, { update }) => update({ count: count + 1, trail: ['a', 'b'] }) },
      edges: {
        count: ({ count, trail }) => {
          seen.push([count, trail.length]);
          return count < 3 ? 'count' : null;
        },
      },
    });
    const thread = await new Scene({ agent }).begun();

    expect(await thread.run()).toEqual({ end: 'done' });
    expect(seen).toEqual([
      [1, 2],
      [2, 4],
      [3, 6],
    ]);
  });

  test('[B1a, A2a] a loop counts the runs of each node', async () => {
    const agent = defineAgent({
      name: 'loop',
      version: 1,
      state,
      start: 'turn',
      nodes: {
        turn: ({ count }, { goto }) => goto('check', { count: count + 1 }),
        check: ({ count }, { goto, end }) => (count < 4 ? goto('turn') : end()),
      },
    });
    const thread = await new Scene({ agent }).begun();
    await thread.run();

    expect((await head(thread)).position.visits).toEqual({ turn: 4, check: 4 });
  });

  test('[B1a] reducers make one value of the old one and the update', async () => {
    const agent = defineAgent({
      name: 'reducers',
      version: 1,
      state: { sum: value(z.number(), 10, (sum, more: number) => sum + more) },
      start: 'add',
      nodes: { add: ({ sum }, { goto, end }) => (sum < 20 ? goto('add', { sum: 4 }) : end()) },
    });
    const thread = await new Scene({ agent }).begun({ sum: 1 });
    await thread.run();

    expect(await thread.state()).toEqual({ sum: 23 });
  });

  test('[B1a] a further input starts the next run on the state that the last one left', async () => {
    const agent = defineAgent({
      name: 'runs',
      version: 1,
      state,
      start: 'add',
      nodes: { add: ({ count }, { end }) => end({ count: count + 1, trail: [`${count}`] }) },
    });
    const thread = await new Scene({ agent }).begun({ count: 5 });
    await thread.run();
    await thread.send({ count: 40 });

    expect(await thread.run()).toEqual({ end: 'done' });
    expect(await plainState(thread)).toEqual({ count: 41, trail: ['5', '40'] });
  });

  test('[B1c] node code gets the state, frozen, and functions of the run: nothing of the store', async () => {
    let given: { readonly state: object; readonly context: object } | undefined;
    const agent = defineAgent({
      name: 'plain',
      version: 1,
      state: { list: value(z.array(z.number()), [1]) },
      start: 'look',
      nodes: {
        look: (seen, context) => {
          given = { state: seen, context };
          return context.end();
        },
      },
    });
    const thread = await new Scene({ agent }).begun();
    await thread.run();

    expect(Object.keys(given?.state ?? {})).toEqual(['list']);
    expect(Object.isFrozen(given?.state)).toBe(true);
    expect(Object.isFrozen(Object.values(given?.state ?? {})[0])).toBe(true);
    expect(Object.keys(given?.context ?? {}).sort()).toEqual(
      'abortSignal all ask call child emit end failures fanOut goto hint item model now online parallel random sleep update waitFor'.split(
        ' ',
      ),
    );
  });
});

describe('the step limit', () => {
  const endless = (maxSteps?: number) =>
    defineAgent({
      name: 'endless',
      version: 1,
      state,
      start: 'turn',
      nodes: { turn: ({ count }, { goto }) => goto('turn', { count: count + 1 }) },
      ...(maxSteps !== undefined && { maxSteps }),
    });

  test('[B1b] stops a run after 50 steps as failed, with its state kept', async () => {
    const thread = await new Scene({ agent: endless() }).begun();

    expect(await thread.run()).toMatchObject({ end: 'failed' });
    expect((await thread.state()).count).toBe(50);
    expect((await head(thread)).control.failure).toMatchObject({
      code: 'step_limit',
      details: { steps: 50, node: 'turn' },
    });
  });

  test('[B1b] is the one that the agent sets', async () => {
    const thread = await new Scene({ agent: endless(3) }).begun();

    expect(await thread.run()).toMatchObject({ end: 'failed' });
    expect((await thread.state()).count).toBe(3);
  });

  test('[B1b] counts each run by itself', async () => {
    const agent = defineAgent({
      name: 'short',
      version: 1,
      state,
      start: 'turn',
      maxSteps: 3,
      nodes: {
        turn: ({ count }, { goto, end }) => (count % 3 === 2 ? end({ count: 0 }) : goto('turn', { count: count + 1 })),
      },
    });
    const thread = await new Scene({ agent }).begun();

    expect(await thread.run()).toEqual({ end: 'done' });
    await thread.send({});
    expect(await thread.run()).toEqual({ end: 'done' });
  });

  test('[B1b, A2c] does not begin anew after a restart', async () => {
    const scene = new Scene({ agent: endless(4) });
    const thread = await scene.begun();
    await thread.run();
    const infos = await (await scene.open()).checkpoints();

    expect(infos.map(({ control: { run } }) => ({ steps: run.steps, maxSteps: run.maxSteps }))).toEqual([
      { steps: 4, maxSteps: 4 },
      { steps: 4, maxSteps: 4 },
      { steps: 3, maxSteps: 4 },
      { steps: 2, maxSteps: 4 },
      { steps: 1, maxSteps: 4 },
      { steps: 0, maxSteps: 4 },
    ]);
  });
});

describe('a graph that does not fit', () => {
  test('[B1a] update without an edge fails the run and names the node', async () => {
    const agent = defineAgent({
      name: 'edgeless',
      version: 1,
      state,
      start: 'lost',
      nodes: { lost: (_state, { update }) => update({ count: 1 }) },
    });
    const thread = await new Scene({ agent }).begun();

    expect(await thread.run()).toMatchObject({ end: 'failed' });
    expect((await head(thread)).control.failure).toMatchObject({ code: 'edge_missing', details: { node: 'lost' } });
    expect((await thread.state()).count).toBe(0);
  });

  test('[B15a, I10] a thread whose next node is gone is blocked, names node and version, and stays as it is', async () => {
    const old = defineAgent({
      name: 'deployed',
      version: 1,
      state,
      start: 'one',
      nodes: { one: (_state, { end }) => end() },
    });
    const scene = new Scene({ agent: old });
    await scene.begun();
    const thread = await scene.open({ onFrame: (_id, frame) => frame.type === 'step' && thread.stop() });
    expect(await thread.run()).toEqual({ end: 'stopped' });
    const before = await thread.row();
    const renamed = defineAgent({
      name: 'deployed',
      version: 2,
      state,
      start: 'uno',
      nodes: { uno: (_state, { end }) => end() },
    });

    const end = await (await scene.open({ agent: renamed })).run();

    expect(end).toMatchObject({
      end: 'blocked',
      error: { code: 'node_unknown', details: { version: 2, node: 'one', known: '"uno"' } },
    });
    expect((await thread.row())?.head).toBe(before?.head);
    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
  });

  test('[B15a] older code does not touch a thread that newer code ran', async () => {
    const agent = (version: number) =>
      defineAgent({ name: 'versions', version, state, start: 'go', nodes: { go: (_state, { end }) => end() } });
    const scene = new Scene({ agent: agent(2) });
    await (await scene.begun()).run();
    const old = await scene.open({ agent: agent(1) });
    await old.send({});

    expect(await old.run()).toMatchObject({
      end: 'blocked',
      error: { code: 'agent_too_old', details: { agentVersion: 2, version: 1 } },
    });
  });
});
