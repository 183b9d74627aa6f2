import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { backoffAfter, defaultRetry, type RetryPolicy } from '../../src/program/retry.ts';
import { type Tool, type ToolCall, tool } from '../../src/program/tool.ts';
import { Life } from '../../src/testing/cutting-store.ts';
import { head, never, nth, quiet, Scene } from './support.ts';

/** An agent that calls this tool once. */
function oneCallOf(act: Tool<'act', Record<string, never>, string>) {
  return defineAgent({
    name: 'one call',
    version: 1,
    state: { result: value(z.string(), '') },
    tools: { act },
    start: 'go',
    nodes: { go: async (_state, { call, end }) => end({ result: await call('act', {}) }) },
  });
}

/** Its call fails so many times before it works. */
function flaky(failures: number, { retry }: { retry?: Partial<RetryPolicy> } = {}) {
  const calls: ToolCall[] = [];
  const act = tool({
    name: 'act',
    description: 'Acts',
    input: z.object({}),
    effect: 'idempotent',
    ...(retry && { retry }),
    run: (_input, call) => {
      calls.push(call);
      if (calls.length <= failures) throw new Error(`failure ${calls.length}`);
      return 'worked';
    },
  });
  return { scene: new Scene({ agent: oneCallOf(act) }), calls };
}

/** A node that fails so many times before it works. */
function flakyNode(failures: number, retry?: Partial<RetryPolicy>) {
  let runs = 0;
  const agent = defineAgent({
    name: 'flaky node',
    version: 1,
    state: { runs: value(z.number(), 0) },
    start: 'go',
    nodes: {
      go: {
        ...(retry && { retry }),
        run: (_state, { end }) => {
          runs += 1;
          if (runs <= failures) throw new Error(`failure ${runs}`);
          return end({ runs });
        },
      },
    },
  });
  return new Scene({ agent });
}

describe('an effect that fails', () => {
  test('[B5a, B5b, B4b] twice is tried a third time, after 1 s and after 5 s, with the same key', async () => {
    const { scene, calls } = flaky(2);
    const thread = await scene.begun();
    const running = thread.run();
    await scene.passes(900, 1_100);
    await scene.passes(4_500, 5_500);

    expect(await running).toEqual({ end: 'done' });
    expect((await thread.state()).result).toBe('worked');
    expect(calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(new Set(calls.map(({ effectKey }) => effectKey)).size).toBe(1);
    expect(scene.frames('retry').map(({ name, attempt, reason }) => [name, attempt, reason])).toEqual([
      ['act', 2, 'failure 1'],
      ['act', 3, 'failure 2'],
    ]);
  });

  test('[B5a] three times fails the run, with the last reason', async () => {
    const { scene, calls } = flaky(9);
    const thread = await scene.begun();
    const running = thread.run();
    await scene.passes(900, 1_100);
    await scene.passes(4_500, 5_500);

    expect(await running).toMatchObject({ end: 'failed' });
    expect(calls).toHaveLength(3);
    expect((await head(thread)).control.failure).toMatchObject({
      code: 'effect_failed',
      details: { name: 'act', attempts: 3, reason: 'failure 3' },
      cause: { message: 'failure 3' },
    });
  });

  test('[B5a, B5b] is tried as often and as late as its tool says', async () => {
    const { scene, calls } = flaky(9, { retry: { attempts: 5, backoffMs: [10, 20], jitter: 0 } });
    const running = (await scene.begun()).run();
    for (const ms of [10, 20, 20, 20]) expect(await scene.passes(ms, ms)).toBe(ms);

    expect(await running).toMatchObject({ end: 'failed' });
    expect(calls).toHaveLength(5);
  });

  test('[B5d] goes on with its count after a restart, and waits only what is left of the backoff', async () => {
    const { scene, calls } = flaky(9, { retry: { backoffMs: [1_000, 5_000], jitter: 0 } });
    await scene.begun();
    const { thread, life } = await scene.mortal();
    void thread.run();
    await scene.passes(1_000, 1_000);
    await scene.clock.whenAsleep((ms) => ms === 5_000);
    life.end();
    scene.clock.advance(3_000);
    const running = (await scene.open()).run();
    expect(await scene.passes(1, 4_999)).toBe(2_000);

    expect(await running).toMatchObject({ end: 'failed' });
    expect(calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });

  test.each([undefined, 5])(
    '[B5c] each attempt has a time limit: 60 s unless its tool says otherwise (%s)',
    async (own) => {
      const signals: AbortSignal[] = [];
      const act = tool({
        name: 'act',
        description: 'Never ends',
        input: z.object({}),
        effect: 'idempotent',
        retry: { attempts: 2, backoffMs: [10], jitter: 0 },
        ...(own !== undefined && { timeLimitMs: own }),
        run: (_input, { abortSignal }) => {
          signals.push(abortSignal);
          return never<string>();
        },
      });
      const scene = new Scene({ agent: oneCallOf(act) });
      const thread = await scene.begun();
      const running = thread.run();
      const limitMs = own ?? 60_000;
      for (const ms of [limitMs, 10, limitMs]) await scene.passes(ms, ms);

      expect(await running).toMatchObject({ end: 'failed' });
      expect((await head(thread)).control.failure?.cause).toMatchObject({ code: 'effect_timed_out' });
      expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    },
  );

  test('[B5a, B5d] a read counts its failures too, over a restart', async () => {
    let reads = 0;
    let current = new Life();
    const act = tool({
      name: 'act',
      description: 'Reads',
      input: z.object({}),
      effect: 'read',
      run: () =>
        current.pass((): string => {
          reads += 1;
          throw new Error(`failure ${reads}`);
        }),
    });
    const scene = new Scene({ agent: oneCallOf(act) });
    await scene.begun();
    const { thread } = await scene.mortal({}, current);
    void thread.run();
    await scene.passes(900, 1_100);
    await scene.clock.whenAsleep((ms) => ms >= 4_500 && ms <= 5_500);
    current.end();
    scene.clock.advance(5_500);
    await quiet();
    current = new Life();

    expect(await (await scene.open()).run()).toMatchObject({ end: 'failed' });
    expect(reads).toBe(3);
  });
});

describe('the backoff', () => {
  test('[B5b] is 1 s, 5 s and 30 s unless set, give or take a tenth', () => {
    expect([1, 2, 3, 4].map((attempt) => backoffAfter(defaultRetry, attempt, 0.5))).toEqual([
      1_000, 5_000, 30_000, 30_000,
    ]);
    expect([0, 0.999_999].map((fraction) => backoffAfter(defaultRetry, 1, fraction))).toEqual([900, 1_100]);
    expect([0, 0.999_999].map((fraction) => backoffAfter(defaultRetry, 3, fraction))).toEqual([27_000, 33_000]);
  });

  test('[B5b] comes from chance: two threads do not come back at once', async () => {
    const waits = await Promise.all(
      [1, 2].map(async (seed) => {
        const { scene } = flaky(1);
        for (let skip = 0; skip < seed; skip += 1) scene.world.random.bytes(1);
        const running = (await scene.begun()).run();
        const ms = await scene.passes(900, 1_100);
        await running;
        return ms;
      }),
    );
    expect(nth(waits, 0)).not.toBe(nth(waits, 1));
  });
});

describe('a node that throws', () => {
  test('[B5a, B5b] is run again after 1 s and 5 s, three times in all', async () => {
    const scene = flakyNode(2);
    const thread = await scene.begun();
    const running = thread.run();
    await scene.passes(900, 1_100);
    await scene.passes(4_500, 5_500);

    expect(await running).toEqual({ end: 'done' });
    expect((await thread.state()).runs).toBe(3);
    expect((await head(thread)).control.retries).toEqual({ go: 2 });
  });

  test('[B5a] fails the run once its attempts are spent, with its own error', async () => {
    const scene = flakyNode(9, { attempts: 2, backoffMs: [10], jitter: 0 });
    const thread = await scene.begun();
    const running = thread.run();
    await scene.passes(10, 10);

    expect(await running).toMatchObject({ end: 'failed' });
    expect((await head(thread)).control.failure).toMatchObject({ name: 'Error', message: 'failure 2' });
  });

  test('[B5d, B5b] keeps its count and its wait over restarts', async () => {
    const scene = flakyNode(9, { backoffMs: [10], jitter: 0 });
    await scene.begun();
    for (let crash = 0; crash < 2; crash += 1) {
      const thread = await scene.open();
      const stopping = thread.run();
      await scene.clock.whenAsleep((ms) => ms === 10);
      thread.stop();
      expect(await stopping).toEqual({ end: 'stopped' });
    }
    const thread = await scene.open();
    const running = thread.run();
    await scene.passes(10, 10); // the first wait, which no restart shortens
    await scene.passes(10, 10);
    expect(await running).toMatchObject({ end: 'failed' });
    expect((await head(thread)).control.failure?.message).toBe('failure 3');
    expect((await head(thread)).control.retries).toEqual({ go: 3 });
  });
});

describe('a thread that stops its worker each time', () => {
  /** Lets one process after another die at the given operation. Gives how many did before a run came to an end. */
  async function deaths(scene: Scene, dies: (life: Life) => void, limit = 30): Promise<number> {
    for (let count = 0; count < limit; count += 1) {
      const { thread, life } = await scene.mortal();
      dies(life);
      const ended = await Promise.race([thread.run(), life.death]);
      if (ended !== 'died') return count;
    }
    return limit;
  }

  test('[B5e] in a step ends in failed after eight, with its state kept', async () => {
    let kill = () => {};
    const agent = defineAgent({
      name: 'killer',
      version: 1,
      state: { steps: value(z.number(), 0) },
      start: 'safe',
      nodes: {
        safe: (_state, { goto }) => goto('deadly', { steps: 1 }),
        deadly: (_state, { end }) => {
          kill();
          return end({ steps: 2 });
        },
      },
    });
    const scene = new Scene({ agent });
    await scene.begun();
    const count = await deaths(scene, (life) => {
      kill = () => life.end();
    });

    expect(count).toBe(9); // the first run, which began with the input, and eight resumes
    const thread = await scene.open();
    expect((await head(thread)).control).toMatchObject({
      status: 'failed',
      failure: { code: 'resume_limit', details: { resumes: 8, node: 'deadly' } },
    });
    expect((await thread.state()).steps).toBe(1);
    expect(await thread.run()).toMatchObject({ end: 'failed', failure: { code: 'resume_limit' } });
  });

  test('[B5e] while its input is taken up ends in failed too, and the next input runs', async () => {
    let kill = () => {};
    const agent = defineAgent({
      name: 'poisoned',
      version: 1,
      state: {
        sum: value(z.number(), 0, (sum, more: number) => {
          if (more === 666) kill();
          return sum + more;
        }),
      },
      start: 'go',
      nodes: { go: (_state, { end }) => end() },
    });
    const scene = new Scene({ agent });
    await scene.begun({ sum: 666 });
    const count = await deaths(scene, (life) => {
      kill = () => life.end();
    });

    expect(count).toBe(8);
    const thread = await scene.open();
    expect((await head(thread)).control).toMatchObject({ status: 'failed', failure: { code: 'resume_limit' } });
    await thread.send({ sum: 1 });
    expect(await thread.run()).toEqual({ end: 'done' });
    expect((await thread.state()).sum).toBe(1);
  });

  test('[B5e] is counted by the limit that the host sets, and graceful ends do not count', async () => {
    const agent = defineAgent({
      name: 'stopped',
      version: 1,
      state: {},
      start: 'go',
      nodes: { go: () => never<never>() },
    });
    const scene = new Scene({ agent });
    await scene.begun();
    for (let round = 0; round < 5; round += 1) {
      const thread = await scene.open({ maxResumes: 1 });
      const running = thread.run();
      await scene.clock.whenAsleep((ms) => ms === 600_000);
      thread.stop();
      await scene.passes(2_000, 2_000);
      expect(await running).toEqual({ end: 'stopped' });
    }
    expect((await (await scene.open()).row())?.resumes).toBe(0);
  });

  test('[B5a, B5b] a call that a graceful end cuts off uses up no attempt, and is made again without a wait', async () => {
    const calls: ToolCall[] = [];
    const act = tool({
      name: 'act',
      description: 'Acts',
      input: z.object({}),
      effect: 'idempotent',
      run: (_input, call) => {
        calls.push(call);
        return calls.length > 5 ? 'worked' : never<string>();
      },
    });
    const scene = new Scene({ agent: oneCallOf(act) });
    await scene.begun();
    for (let round = 1; round <= 5; round += 1) {
      const thread = await scene.open();
      const running = thread.run();
      await quiet();
      expect(calls).toHaveLength(round);
      thread.stop();
      await quiet();
      expect(await running).toEqual({ end: 'stopped' });
    }
    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(new Set(calls.map(({ effectKey }) => effectKey)).size).toBe(1);
  });
});
