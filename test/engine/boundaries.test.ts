import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { value } from '../../src/model/fields.ts';
import { tables } from '../../src/model/records.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { answer, only, Scene, ScriptedModel } from './support.ts';

const ask = tool({
  name: 'ask',
  description: 'Asks',
  input: z.object({}),
  effect: 'idempotent',
  approval: 'always',
  run: () => 'asked',
});

const agent = defineAgent({
  name: 'boundaries',
  version: 1,
  state: { count: value(z.number(), 0) },
  tools: { ask },
  start: 'think',
  nodes: {
    think: async ({ count }, { model, goto }) => {
      await model.text('first');
      await model.text('second');
      return goto('use', { count: count + 1 });
    },
    use: async ({ count }, { call, goto, end }) => {
      await call('ask', {});
      return count < 2 ? goto('think') : end();
    },
  },
});

async function causes(scene: Scene) {
  const infos = await (await scene.open()).checkpoints();
  return infos.map(({ cause, position }) => `${cause} ${position.node}->${position.next[0]?.node ?? 'end'}`).reverse();
}

describe('boundaries', () => {
  test('[A4a, A4b, A4d] one checkpoint for the input, each node and each wait; none between the calls of a node', async () => {
    const scene = new Scene({ agent, model: new ScriptedModel(() => 'words of the model') });
    const thread = await scene.begun();
    for (let round = 0; round < 2; round += 1) {
      expect(await thread.run()).toEqual({ end: 'waiting' });
      await answer(thread, only(await thread.waits()), { decision: 'allow' });
    }
    expect(await thread.run()).toEqual({ end: 'done' });

    expect(await causes(scene)).toEqual([
      'input null->think',
      'step think->use',
      'wait think->use',
      'step use->think',
      'step think->use',
      'wait think->use',
      'step use->end',
    ]);
  });

  test('[A4d, A2a] a loop commits at its head and its tail, with the loop counts of that moment', async () => {
    const scene = new Scene({ agent, model: new ScriptedModel(() => 'words') });
    const thread = await scene.begun({ count: 0 });
    await thread.run();
    await answer(thread, only(await thread.waits()), { decision: 'allow' });
    await thread.run();
    const infos = await (await scene.open()).checkpoints();

    const counts = infos.filter(({ cause }) => cause === 'step').map(({ position }) => position.visits);
    expect(counts.reverse()).toEqual([{ think: 1 }, { think: 1, use: 1 }, { think: 2, use: 1 }]);
  });

  test('[A4e, B13c] nothing is written while the tokens of a model stream', async () => {
    const scene = new Scene({ agent, model: new ScriptedModel(() => 'a b c') });
    await scene.begun();
    const keys = () => {
      const [row] = scene.world.data.threads.values();
      return tables.flatMap((table) => (row ? scene.world.data.records(table, row.thread).range({}) : [])).length;
    };
    const seen: [text: string, records: number][] = [];
    const thread = await scene.open({
      onFrame: (_id, frame) => frame.type === 'token' && seen.push([frame.text, keys()]),
    });
    await thread.run();
    const [before = 0] = seen.map(([, records]) => records);

    // Two calls of the model: between them one outcome, one intent and the space that it reserves, nothing else.
    expect(seen).toEqual([
      ['a ', before],
      ['b ', before],
      ['c', before],
      ['a ', before + 3],
      ['b ', before + 3],
      ['c', before + 3],
    ]);
  });

  test('[A4b, B9a, I1] a wait is shown only after the snapshot that holds it is stored', async () => {
    const scene = new Scene({ agent, model: new ScriptedModel(() => 'words') });
    await scene.begun();
    const shown: unknown[] = [];
    const thread = await scene.open({
      onFrame: (_id, frame) => {
        if (frame.type !== 'wait') return;
        const [row] = scene.world.data.threads.values();
        const waits = row && scene.world.data.records('waits', row.thread).range({});
        shown.push([row?.status, waits?.map(({ key }) => key)]);
      },
    });
    await thread.run();

    expect(shown).toEqual([['waiting', [`w:${only(await thread.waits()).id}`]]]);
  });

  test('[I2] checkpoint, events and wait of one boundary are one group', async () => {
    const scene = new Scene({ agent, model: new ScriptedModel(() => 'words') });
    const thread = await scene.begun();
    await thread.run();
    const [wait] = await scene.stored('waits');
    const checkpoint = (await scene.stored('checkpoints')).at(-1);
    const event = (await scene.stored('events')).at(-1);

    expect(wait?.commit).toBe(checkpoint?.key);
    expect(event?.commit).toBe(checkpoint?.key);
    expect((await thread.row())?.head).toBe(checkpoint?.key);
  });
});
