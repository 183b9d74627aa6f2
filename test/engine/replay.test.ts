import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { CallScope } from '../../src/program/node-context.ts';
import { tool } from '../../src/program/tool.ts';
import { head, never, plainState, quiet, Scene } from './support.ts';

const input = z.object({ n: z.number() });
type Calls = CallScope<{ a: ReturnType<typeof toolOf>; b: ReturnType<typeof toolOf>; cut: ReturnType<typeof toolOf> }>;
const toolOf = (name: string) => tool({ name, description: name, input, effect: 'once', run: () => name });

/** A node whose work can be another one after a crash, in which its call of `cut` never ends. */
function replayed(first: (calls: Calls) => Promise<unknown>, second: (calls: Calls) => Promise<unknown>) {
  const made: string[] = [];
  const isCut = deferred<void>();
  let isFirst = true;
  const counted = (name: 'a' | 'b') =>
    tool({
      name,
      description: name,
      input,
      effect: 'once',
      run: ({ n }) => {
        made.push(`${name}${n}`);
        return name;
      },
    });
  const cut = tool({
    name: 'cut',
    description: 'Cut off at first',
    input,
    effect: 'idempotent',
    run: () => {
      if (!isFirst) return 'cut';
      isCut.resolve();
      return never<string>();
    },
  });
  const agent = defineAgent({
    name: 'replayed',
    version: 1,
    state: { notes: log(z.string()) },
    tools: { a: counted('a'), b: counted('b'), cut },
    start: 'go',
    nodes: {
      go: async (_state, context) => {
        await (isFirst ? first : second)(context as unknown as Calls);
        return context.end({ notes: ['ended'] });
      },
    },
  });
  const scene = new Scene({ agent });
  const restart = async () => {
    await scene.begun();
    const { thread, life } = await scene.mortal();
    void thread.run();
    await isCut.promise;
    life.end();
    isFirst = false;
    return scene.open();
  };
  return { scene, made, restart };
}

describe('a node that does something else when it runs again', () => {
  const ab = async ({ call }: Calls) => {
    await call('a', { n: 1 });
    await call('b', { n: 2 });
    await call('cut', { n: 0 });
  };

  test('[B3d, I6] other arguments: the thread is blocked, both sides are named, no call is made', async () => {
    const { scene, made, restart } = replayed(ab, async ({ call }) => call('a', { n: 7 }));
    const thread = await restart();
    const before = await scene.stored('checkpoints');

    const end = await thread.run();

    expect(end).toMatchObject({ end: 'blocked', error: { code: 'replay_mismatch' } });
    expect(end).toMatchObject({
      error: {
        details: {
          recorded: expect.stringMatching(/^"a" with arguments of digest \S+$/),
          called: expect.stringMatching(/^"a" with arguments of digest \S+$/),
        },
      },
    });
    expect(made).toEqual(['a1', 'b2']);
    expect(await scene.stored('checkpoints')).toEqual(before);
    expect((await thread.row())?.status).toBe('running');
  });

  test('[B3d, I6] another order: the thread is blocked, both tools are named, no call is made', async () => {
    const { made, restart } = replayed(ab, async ({ call }) => {
      await call('b', { n: 2 });
      await call('a', { n: 1 });
    });

    expect(await (await restart()).run()).toMatchObject({
      end: 'blocked',
      error: {
        code: 'replay_mismatch',
        details: { recorded: expect.stringContaining('"a"'), called: expect.stringContaining('"b"') },
      },
    });
    expect(made).toEqual(['a1', 'b2']);
  });

  test('[B3d, I6] a call that is left out: the thread is blocked before the step is committed', async () => {
    const { scene, restart } = replayed(ab, async ({ call }) => call('a', { n: 1 }));
    const thread = await restart();

    expect(await thread.run()).toMatchObject({
      end: 'blocked',
      error: { code: 'replay_mismatch', details: { called: 'nothing', recorded: expect.stringContaining('"b"') } },
    });
    expect((await head(await scene.open())).cause).toBe('input');
  });

  test('[B3d, I6] a node that catches the mismatch does not hide it', async () => {
    const { scene, made, restart } = replayed(ab, async ({ call }) => {
      await call('b', { n: 2 }).catch(() => 'fallback');
      await call('b', { n: 3 }).catch(() => 'fallback');
      await call('a', { n: 4 }).catch(() => 'fallback');
      await call('a', { n: 5 }).catch(() => 'fallback');
    });

    expect(await (await restart()).run()).toMatchObject({ end: 'blocked', error: { code: 'replay_mismatch' } });
    expect(made).toEqual(['a1', 'b2']);
    expect((await head(await scene.open())).cause).toBe('input');
  });

  test('[B3c] the old code still finishes the thread that the new code could not', async () => {
    const { scene, made, restart } = replayed(ab, ab);
    expect(await (await restart()).run()).toEqual({ end: 'done' });
    expect(made).toEqual(['a1', 'b2']);
    expect((await plainState(await scene.open())).notes).toEqual(['ended']);
  });
});

describe('calls side by side', () => {
  test('[B3d] in one scope without keys are refused, with both named and the way out; the second is not made', async () => {
    const { scene, made } = replayed(({ call }) => Promise.all([call('a', { n: 1 }), call('b', { n: 2 })]), never);
    const thread = await scene.begun();

    expect(await thread.run()).toMatchObject({ end: 'failed' });
    expect((await head(thread)).control.failure).toMatchObject({
      code: 'calls_overlap',
      details: { first: 'a', second: 'b' },
      message: expect.stringMatching(/all\(items.*\{ key \}/),
    });
    expect(made).not.toContain('b2');
  });

  test('[B3d, B3c] the first of refused calls does not leave once its node has ended', async () => {
    const { scene, made } = replayed(({ call }) => Promise.all([call('a', { n: 1 }), call('b', { n: 2 })]), never);
    await (await scene.begun()).run();
    await quiet();

    expect(made).toEqual([]);
  });

  test('[B3c] with keys of their own are told apart after a crash, in any order', async () => {
    const keyed =
      (order: readonly ('a' | 'b')[]) =>
      async ({ call }: Calls) => {
        await Promise.all(order.map((name) => call(name, { n: 1 }, { key: name })));
        await call('cut', { n: 0 });
      };
    const { made, restart } = replayed(keyed(['a', 'b']), keyed(['b', 'a']));

    expect(await (await restart()).run()).toEqual({ end: 'done' });
    expect(made.sort()).toEqual(['a1', 'b1']);
  });

  test('[B3c] in the items of all are told apart after a crash', async () => {
    const each = async ({ all, call }: Calls) => {
      const got = await all([1, 2, 3], async (n, scope) => [
        await scope.call('a', { n }),
        await scope.call('b', { n }),
      ]);
      await call('cut', { n: got.length });
    };
    const { made, restart } = replayed(each, each);

    expect(await (await restart()).run()).toEqual({ end: 'done' });
    expect(made.sort()).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'b3']);
  });

  test('[B3b] all rejects with the first failure, once every item has ended', async () => {
    const ends: number[] = [];
    const { scene, made } = replayed(
      ({ all }) =>
        all([1, 2, 3], async (n, scope) => {
          if (n === 1) throw new Error('item 1');
          await scope.call('a', { n });
          ends.push(n);
        }).catch((error: Error) => ends.push(error.message.length)),
      never,
    );

    expect(await (await scene.begun()).run()).toEqual({ end: 'done' });
    expect(ends).toEqual([2, 3, 6]);
    expect(made).toEqual(['a2', 'a3']);
  });
});
