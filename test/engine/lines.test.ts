import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import { log, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { Life } from '../../src/testing/cutting-store.ts';
import { answer, head, never, plainState, quiet, Scene } from './support.ts';

const state = { trail: log(z.string()), sum: value(z.number(), 0, (sum, more: number) => sum + more) };

describe('lines side by side', () => {
  /** `slow` ends only when `fast` has. */
  function race() {
    const fastEnded = deferred<void>();
    const agent = defineAgent({
      name: 'race',
      version: 1,
      state,
      start: 'begin',
      nodes: {
        begin: (_state, { parallel }) => parallel(['slow', 'fast'], { join: 'join', update: { trail: ['begin'] } }),
        slow: async (_state, { end }) => {
          await fastEnded.promise;
          return end({ trail: ['slow'], sum: 1 });
        },
        fast: (_state, { goto }) => goto('faster', { trail: ['fast'] }),
        faster: ({ trail }, { end }) => {
          fastEnded.resolve();
          return end({ trail: [`faster after ${trail.length}`], sum: 10 });
        },
        join: (_state, { end }) => end({ trail: ['join'] }),
      },
    });
    return new Scene({ agent });
  }

  test('[B1d] are merged in the order in which they were named, whichever ended first', async () => {
    const thread = await race().begun();

    expect(await thread.run()).toEqual({ end: 'done' });
    expect(await plainState(thread)).toEqual({ trail: ['begin', 'slow', 'fast', 'faster after 2', 'join'], sum: 11 });
  });

  test('[B1d] run at the same time, each seeing its own updates and not those of the others', async () => {
    const seen: Record<string, unknown> = {};
    const both = deferred<void>();
    let arrived = 0;
    const meet = (name: string, list: readonly string[]) => {
      seen[name] = list;
      arrived += 1;
      if (arrived === 2) both.resolve();
      return both.promise;
    };
    const agent = defineAgent({
      name: 'meet',
      version: 1,
      state,
      start: 'begin',
      nodes: {
        begin: (_state, { parallel }) => parallel(['left', 'right'], { update: { trail: ['begin'] } }),
        left: (_state, { goto }) => goto('left2', { trail: ['left'] }),
        left2: async ({ trail }, { end }) => {
          await meet('left', await trail.slice(0));
          return end();
        },
        right: async ({ trail }, { end }) => {
          await meet('right', await trail.slice(0));
          return end({ trail: ['right'] });
        },
      },
    });
    const thread = await new Scene({ agent }).begun();

    expect(await thread.run()).toEqual({ end: 'done' });
    expect(seen).toEqual({ left: ['begin', 'left'], right: ['begin'] });
    expect((await plainState(thread)).trail).toEqual(['begin', 'left', 'right']);
  });

  test('[B1d, I7] one that has ended is not run again when the others were cut off', async () => {
    const runs: string[] = [];
    let isCut = true;
    const agent = defineAgent({
      name: 'cut',
      version: 1,
      state,
      start: 'begin',
      nodes: {
        begin: (_state, { parallel }) => parallel(['quick', 'cut'], { join: 'join' }),
        quick: (_state, { end }) => {
          runs.push('quick');
          return end({ trail: ['quick'] });
        },
        cut: (_state, { end }) => {
          runs.push('cut');
          return isCut ? never() : end({ trail: ['cut'] });
        },
        join: (_state, { end }) => end(),
      },
    });
    const scene = new Scene({ agent });
    const life = new Life();
    const { thread } = await scene.mortal({}, life);
    await thread.send({});
    void thread.run();
    await quiet();
    life.end();
    isCut = false;
    const second = await scene.open();

    expect(await second.run()).toEqual({ end: 'done' });
    expect(runs).toEqual(['quick', 'cut', 'cut']);
    expect((await plainState(second)).trail).toEqual(['quick', 'cut']);
  });

  test('[B1d] one that fails undoes nothing: the others end, what all did is kept, and the run fails', async () => {
    const agent = defineAgent({
      name: 'fails',
      version: 1,
      state,
      start: 'begin',
      nodes: {
        begin: (_state, { parallel }) => parallel(['bad', 'good'], { join: 'join' }),
        bad: (_state, { goto }) => goto('worse', { trail: ['bad, so far good'] }),
        worse: { retry: { attempts: 1 }, run: () => Promise.reject(new Error('no paper')) },
        good: (_state, { end }) => end({ trail: ['good'] }),
        join: (_state, { end }) => end({ trail: ['join'] }),
      },
    });
    const thread = await new Scene({ agent }).begun();

    expect(await thread.run()).toMatchObject({ end: 'failed' });
    expect((await plainState(thread)).trail).toEqual(['bad, so far good', 'good']);
    const { failure } = (await head(thread)).control;
    expect(failure).toMatchObject({
      code: 'lines_failed',
      details: { node: 'begin', failed: 1, lines: 2, first: 'no paper' },
    });
  });

  test('[B1d] failures that are collected are told to the next node', async () => {
    const agent = defineAgent({
      name: 'collects',
      version: 1,
      state,
      start: 'begin',
      nodes: {
        begin: (_state, { parallel }) => parallel(['good', 'bad'], { join: 'join', failures: 'collect' }),
        good: (_state, { end }) => end({ trail: ['good'] }),
        bad: { retry: { attempts: 1 }, run: () => Promise.reject(new Error('no paper')) },
        join: (_state, { end, failures }) =>
          end({ trail: failures.map(({ index, node, error }) => `${index} ${node} ${error.message}`) }),
      },
    });
    const thread = await new Scene({ agent }).begun();

    expect(await thread.run()).toEqual({ end: 'done' });
    expect((await plainState(thread)).trail).toEqual(['good', '1 bad no paper']);
  });

  test('[B1d, B9a] one that waits for a person does not hold the others, and the thread waits when all stand', async () => {
    const ask = tool({
      name: 'ask',
      description: 'Asks',
      input: z.object({}),
      effect: 'once',
      approval: 'always',
      run: () => 'asked',
    });
    const agent = defineAgent({
      name: 'waits',
      version: 1,
      state,
      tools: { ask },
      start: 'begin',
      nodes: {
        begin: (_state, { parallel }) => parallel(['asks', 'works'], { join: 'join' }),
        asks: async (_state, { call, end }) => end({ trail: [await call('ask', {})] }),
        works: (_state, { goto }) => goto('works2', { trail: ['works'] }),
        works2: (_state, { end }) => end({ trail: ['works2'] }),
        join: (_state, { end }) => end(),
      },
    });
    const scene = new Scene({ agent });
    const thread = await scene.begun();

    expect(await thread.run()).toEqual({ end: 'waiting' });
    expect((await thread.row())?.status).toBe('waiting');
    expect((await head(thread)).position.visits).toEqual({ begin: 1, works: 1, works2: 1 });
    const later = await scene.open();
    for (const wait of await later.waits()) await answer(later, wait, { decision: 'allow' });
    expect(await later.run()).toEqual({ end: 'done' });
    expect((await plainState(later)).trail).toEqual(['asked', 'works', 'works2']);
  });

  test('[B1d] a cancel keeps what lines did that had not ended', async () => {
    const agent = defineAgent({
      name: 'cancelled',
      version: 1,
      state,
      start: 'begin',
      nodes: {
        begin: (_state, { parallel }) => parallel(['stands', 'ends'], { join: 'join' }),
        stands: (_state, { goto }) => goto('stands2', { trail: ['half'] }),
        stands2: (_state, { abortSignal, end }) =>
          new Promise((resolve) => abortSignal.addEventListener('abort', () => resolve(end()))),
        ends: (_state, { end }) => end({ trail: ['whole'] }),
        join: (_state, { end }) => end(),
      },
    });
    const thread = await new Scene({ agent }).begun();
    const run = thread.run();
    await quiet();
    await thread.cancel();
    await thread.look();

    expect(await run).toEqual({ end: 'cancelled' });
    expect((await plainState(thread)).trail).toEqual(['half', 'whole']);
  });

  test('[B1d] a reducer that refuses the sum of what each line did fails the run, and loses none of it', async () => {
    const once = value(z.string(), '', (now, next: string) => {
      if (now !== '') throw new Error(`it is "${now}" already`);
      return next;
    });
    const agent = defineAgent({
      name: 'refuses',
      version: 1,
      state: { once },
      start: 'begin',
      nodes: {
        begin: (_state, { parallel }) => parallel(['a', 'b']),
        a: (_state, { end }) => end({ once: 'a' }),
        b: (_state, { end }) => end({ once: 'b' }),
      },
    });
    const thread = await new Scene({ agent }).begun();

    expect(await thread.run()).toMatchObject({ end: 'failed' });
    expect((await head(thread)).control.failure).toMatchObject({ code: 'state_invalid', details: { field: 'once' } });
    expect(await plainState(thread)).toEqual({ once: '' });
    await thread.send({});
    expect(await thread.run()).toMatchObject({ end: 'failed' });
    expect((await plainState(thread)).once).toBe('a');
  });
});

describe('a graph inside a graph', () => {
  function withGraph(onCheck: () => void = () => undefined) {
    return defineAgent({
      name: 'outer',
      version: 1,
      state,
      start: 'first',
      nodes: {
        first: (_state, { goto }) => goto('research', { trail: ['first'] }),
        research: {
          start: 'look',
          nodes: {
            look: (_state, { goto }) => goto('check', { trail: ['look'] }),
            check: ({ trail }, { goto, end }) => {
              onCheck();
              return trail.length < 4 ? goto('look', { trail: ['check'] }) : end({ trail: ['found'] });
            },
          },
        },
        last: (_state, { end }) => end({ trail: ['last'] }),
      },
      edges: { research: 'last' },
    });
  }

  test('[B1f] runs on the same state, and leaves along the edge of its name', async () => {
    const thread = await new Scene({ agent: withGraph() }).begun();

    expect(await thread.run()).toEqual({ end: 'done' });
    expect((await plainState(thread)).trail).toEqual(['first', 'look', 'check', 'look', 'found', 'last']);
    expect((await head(thread)).position.visits).toEqual({
      first: 1,
      'research/look': 2,
      'research/check': 2,
      last: 1,
    });
  });

  test('[B1f] goes on inside after a restart, not from its start', async () => {
    let checks = 0;
    const cut: { life?: Life } = {};
    const scene = new Scene({
      agent: withGraph(() => {
        checks += 1;
        if (checks === 2) cut.life?.end();
      }),
    });
    const { thread, life } = await scene.mortal();
    cut.life = life;
    await thread.send({});
    await Promise.race([thread.run(), life.death]);
    const second = await scene.open();

    expect(await second.run()).toEqual({ end: 'done' });
    expect((await plainState(second)).trail).toEqual(['first', 'look', 'check', 'look', 'found', 'last']);
  });

  test('[B1f] without an edge that leaves it fails with its name', async () => {
    const agent = defineAgent({
      name: 'lost',
      version: 1,
      state,
      start: 'inner',
      nodes: { inner: { start: 'only', nodes: { only: (_state, { end }) => end() } } },
    });
    const thread = await new Scene({ agent }).begun();

    expect(await thread.run()).toMatchObject({ end: 'failed' });
    expect((await head(thread)).control.failure).toMatchObject({ code: 'edge_missing', details: { node: 'inner' } });
  });

  test('[B1f] one that starts nowhere is refused where the agent is defined', () => {
    const define = () =>
      defineAgent({
        name: 'wrong',
        version: 1,
        state,
        start: 'inner',
        nodes: { inner: { start: 'nowhere', nodes: { only: (_state, { end }) => end() } } },
      });

    expect(define).toThrow(/starts at "inner\/nowhere", but its nodes are "inner\/only"/);
  });
});
