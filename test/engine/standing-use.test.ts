/** What a step has used that is left before its end counts all the same: it was paid for. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { LanguageModel } from '../../src/program/model.ts';
import { head, nth, Scene } from './support.ts';
import { choices } from './travel-agent.ts';

/** Asks a model for ten tokens, then a person, in one step. */
function thinking(limits = {}) {
  const calls: string[] = [];
  const fails = { now: false };
  const model: LanguageModel = {
    name: 'thinker',
    price: { inputPerMillion: 1_000_000, outputPerMillion: 1_000_000 },
    async *stream({ messages }) {
      calls.push(JSON.stringify(messages));
      yield { type: 'text', text: 'a thought' };
      yield { type: 'finish', usage: { inputTokens: 6, outputTokens: 4 } };
    },
  };
  const agent = defineAgent({
    name: 'thinking',
    version: 1,
    state: { about: value(z.string(), '') },
    limits,
    start: 'think',
    nodes: {
      think: {
        retry: { attempts: 1 },
        run: async ({ about }, { model: ask, ask: person, end }) => {
          await ask.text(about);
          if (fails.now) throw new Error('It broke.');
          await person('Well?');
          return end();
        },
      },
    },
  });
  return { calls, fails, scene: new Scene({ agent, model }) };
}

const used = { inputTokens: 6, outputTokens: 4, cost: 10 };

describe('the model use of a step that is left before its end', () => {
  test('[B7c, B10a] is counted where its run is cancelled, also by a process that did not run it', async () => {
    const { scene } = thinking();
    await (await scene.begun({ about: 'one' })).run();
    const thread = await scene.open();
    await thread.cancel();
    await thread.run();

    expect((await head(thread)).control).toMatchObject({ usage: used, spent: { tokens: 10, cost: 10 } });
  });

  test.each(['interrupt', 'roll_back'] as const)(
    '[B7c, B11b] is counted where other input comes: %s',
    async (policy) => {
      const { scene } = thinking();
      await (await scene.begun({ about: 'one' })).run();
      const thread = await scene.open();
      await thread.send({ about: 'two' }, 'two', policy);
      await thread.run();
      await thread.cancel();
      await thread.run();

      const { usage, spent } = (await head(thread)).control;
      expect(usage).toEqual({ inputTokens: 12, outputTokens: 8, cost: 20 });
      expect(spent.tokens).toBe(10); // of the second run
    },
  );

  test('[B7c, B12c, B12d] is counted once where somebody edits or goes back, and what is reused is not counted again', async () => {
    const { scene, calls } = thinking();
    const thread = await scene.begun({ about: 'one' });
    await thread.run();
    const target = (await thread.checkpoints()).find(({ cause }) => cause === 'input');
    await thread.edit({}, { effects: await choices(thread.edit({}), () => 'reuse') });
    await thread.run();
    expect((await head(thread)).control).toMatchObject({ usage: used, spent: { tokens: 10 } });
    const back = () => thread.rollBack(target?.id ?? ('' as never));
    await thread.rollBack(target?.id ?? ('' as never), { effects: await choices(back(), () => 'reuse') });
    await thread.run();
    await thread.cancel();
    await thread.run();

    expect(calls).toHaveLength(1);
    expect((await head(thread)).control).toMatchObject({ usage: used, spent: { tokens: 10, cost: 10 } });
  });

  test.each(['cancel', 'edit'] as const)(
    '[B7c, B10a, B12d] was counted with its failure where it failed, and is not again: %s',
    async (how) => {
      const { scene, fails } = thinking();
      fails.now = true;
      const thread = await scene.begun({ about: 'one' });
      expect(await thread.run()).toMatchObject({ end: 'failed' });
      expect((await head(thread)).control).toMatchObject({ usage: used, spent: { tokens: 10 } });
      if (how === 'cancel') await thread.cancel();
      else
        await thread.edit({ about: 'two' }, { effects: await choices(thread.edit({ about: 'two' }), () => 'reuse') });
      if (how === 'cancel') await thread.run();

      expect((await head(thread)).control).toMatchObject({ usage: used, spent: { tokens: 10 } });
    },
  );

  test('[B7c, B12d] keeps edits from going round the budget', async () => {
    const { scene, calls } = thinking({ tokens: 25 });
    const thread = await scene.begun({ about: 'one' });
    expect(await thread.run()).toEqual({ end: 'waiting' });
    for (const about of ['two', 'three', 'four']) {
      await thread.edit({ about }, { effects: await choices(thread.edit({ about }), () => 'redo') });
      await thread.run();
    }

    expect((await thread.row())?.status).toBe('out_of_budget');
    expect(calls).toHaveLength(3);
  });
});

test.each(['cancel', 'interrupt', 'roll_back'] as const)(
  '[B7c, B2a] the model use of a child that ended just before its parent was left counts: %s',
  async (how) => {
    const model: LanguageModel = {
      name: 'thinker',
      async *stream() {
        yield { type: 'text', text: 'a thought' };
        yield { type: 'finish', usage: { inputTokens: 6, outputTokens: 4 } };
      },
    };
    const child = defineAgent({
      name: 'child',
      version: 1,
      state: { said: value(z.string(), '') },
      start: 'go',
      nodes: { go: async (_state, { model: ask, end }) => end({ said: await ask.text('hi') }) },
    });
    const parent = defineAgent({
      name: 'parent',
      version: 1,
      state: { isQuick: value(z.boolean(), false) },
      agents: [child],
      start: 'go',
      nodes: {
        go: async ({ isQuick }, { child: begin, end }) => {
          if (!isQuick) await begin(child, {});
          return end();
        },
      },
    });
    const engine = await new Scene({ agent: parent }).world.engine({ agent: parent, model });
    const thread = engine.thread('thread');
    await thread.send({});
    await thread.run();
    const { id } = nth(
      (await engine.threads(9, { children: true })).filter(({ row }) => row.agent === 'child'),
      0,
    );
    await engine.thread(id ?? '').run();
    if (how === 'cancel') await thread.cancel();
    else await thread.send({ isQuick: true }, 'other', how);
    await thread.run();
    expect((await head(thread)).control.usage).toMatchObject({ inputTokens: 6, outputTokens: 4 });
  },
);
