import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { log, value } from '../../src/model/fields.ts';
import { defaultTiers, type TierPolicy } from '../../src/model/tiers.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { answer, nth, only, plainState, Scene, ScriptedModel, withMethods } from './support.ts';

const ask = tool({
  name: 'ask',
  description: 'Asks',
  input: z.object({}),
  effect: 'idempotent',
  approval: 'always',
  run: () => 'asked',
});

interface Ticking {
  readonly steps: number;
  readonly critical?: boolean;
  readonly onTick?: (count: number) => void;
}

const ticking = ({ steps, critical = false, onTick }: Ticking) =>
  defineAgent({
    name: 'ticking',
    version: 1,
    state: { count: value(z.number(), 0), big: value(z.string(), ''), notes: log(z.string()) },
    tools: { ask },
    maxSteps: 1_000,
    start: 'tick',
    nodes: {
      tick: {
        critical,
        run: ({ count }, { goto, end }) => {
          onTick?.(count);
          return count < steps ? goto('tick', { count: count + 1, notes: [`n${count}`] }) : end();
        },
      },
    },
  });

async function kindsOf(scene: Scene): Promise<string> {
  const infos = await (await scene.open()).checkpoints({ limit: 1_000 });
  return infos
    .map(({ kind }) => (kind === 'snapshot' ? 'S' : 'd'))
    .reverse()
    .join('');
}

async function kindsAfter(agent: Ticking, tiers: Partial<TierPolicy> = {}): Promise<string> {
  const scene = new Scene({ agent: ticking(agent), tiers });
  expect(await (await scene.begun()).run()).toEqual({ end: 'done' });
  return kindsOf(scene);
}

describe('tiers', () => {
  test('[A5a] ordinary steps write deltas between the first snapshot and the last', async () => {
    expect(await kindsAfter({ steps: 5 })).toBe('SdddddS');
  });

  test('[A5a, I8] a delta does not grow with a large value that its step leaves alone', async () => {
    const bodies = async (big: string) => {
      const scene = new Scene({ agent: ticking({ steps: 3 }) });
      await (await scene.begun({ big })).run();
      return (await scene.stored('checkpoints')).map(({ body }) => body.length);
    };
    const [small, large] = [await bodies(''), await bodies('x'.repeat(1_000_000))];

    expect(large.slice(1, 4)).toEqual(small.slice(1, 4));
  });

  test('[A5b] a critical node is followed by a snapshot', async () => {
    expect(await kindsAfter({ steps: 3, critical: true })).toBe('SSSSS');
  });

  test('[A5b] a wait is entered with a snapshot', async () => {
    const agent = defineAgent({
      name: 'asking',
      version: 1,
      state: { count: value(z.number(), 0) },
      tools: { ask },
      start: 'before',
      nodes: {
        before: (_state, { goto }) => goto('asks', { count: 1 }),
        asks: async (_state, { call, goto }) => {
          await call('ask', {});
          return goto('after', { count: 2 });
        },
        after: (_state, { end }) => end(),
      },
    });
    const scene = new Scene({ agent });
    const thread = await scene.begun();
    await thread.run();
    await answer(thread, only(await thread.waits()), { decision: 'allow' });
    await thread.run();

    expect(await kindsOf(scene)).toBe('SdSdS');
  });

  test('[A5c] a snapshot comes at least every N checkpoints', async () => {
    expect(await kindsAfter({ steps: 7 }, { everySteps: 3 })).toBe('SddSddSdS');
  });

  test('[A5c] a snapshot comes when the last one is older than T', async () => {
    const scene = new Scene({
      agent: ticking({ steps: 6, onTick: () => scene.clock.advance(400) }),
      tiers: { everyMs: 1_000 },
    });
    await (await scene.begun()).run();

    expect(await kindsOf(scene)).toBe('SddSddSS');
  });

  test('[A5c] unless set, N is 32', async () => {
    expect(defaultTiers.everySteps).toBe(32);
    expect((await kindsAfter({ steps: 40 })).slice(0, 34)).toBe(`S${'d'.repeat(31)}Sd`);
  });

  test('[A5e] a long step is worth a snapshot of its own', async () => {
    const scene: Scene = new Scene({
      agent: ticking({ steps: 4, onTick: (count) => count === 2 && scene.clock.advance(defaultTiers.longStepMs) }),
    });
    await (await scene.begun()).run();

    expect(await kindsOf(scene)).toBe('SddSdS');
  });

  test('[A5e] a costly step is worth a snapshot of its own', async () => {
    const costly = defineAgent({
      name: 'costly',
      version: 1,
      state: { turn: value(z.number(), 0) },
      start: 'think',
      nodes: {
        think: async ({ turn }, { model, goto, end }) => {
          await model.text('x'.repeat(turn === 1 ? 900 : 10));
          return turn < 3 ? goto('think', { turn: turn + 1 }) : end();
        },
      },
    });
    const scene = new Scene({ agent: costly, model: new ScriptedModel(() => 'yes'), tiers: { costlyStepTokens: 500 } });
    await (await scene.begun()).run();

    expect(await kindsOf(scene)).toBe('SdSdS');
  });

  test('[A5d] restoring reads the newest snapshot and the deltas after it, nothing older', async () => {
    const scene = new Scene({ agent: ticking({ steps: 20 }), tiers: { everySteps: 8 } });
    await scene.begun();
    const stopping = await scene.open({
      onFrame: (_id, frame) => frame.type === 'step' && frame.step.sequence === 18 && stopping.stop(),
    });
    await stopping.run();
    expect(await kindsOf(scene)).toBe('SdddddddSdddddddSdd');
    const read: string[] = [];
    const store = scene.world.store();
    const thread = await scene.open({
      store: withMethods(store, {
        range: async (table, hash, range) => {
          const records = await store.range(table, hash, range);
          if (table === 'checkpoints') read.push(...records.map(({ key }) => key.slice(0, 10)));
          return records;
        },
      }),
    });

    expect((await thread.state()).count).toBe(18);
    expect(read).toEqual(['0000000010', '0000000011', '0000000012']);
  });

  test('[A5d] snapshot and deltas give the same state as the whole run', async () => {
    const scene = new Scene({ agent: ticking({ steps: 9 }), tiers: { everySteps: 4 } });
    await (await scene.begun({ big: 'b' })).run();
    const thread = await scene.open();
    const infos = await thread.checkpoints();

    expect(await plainState(thread)).toEqual({
      count: 9,
      big: 'b',
      notes: Array.from({ length: 9 }, (_, index) => `n${index}`),
    });
    const counts = await Promise.all(infos.map(async ({ id }) => (await thread.state(id)).count));
    expect(counts.reverse()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]);
    expect(nth(infos, 0).kind).toBe('snapshot');
  });
});
