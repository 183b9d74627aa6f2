/** Children that have ended since their parents ran last: their ends stand at the waits (PROTOCOL 4 and 6). */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { begin, childrenOf, crossed, family, goBack, model, runAll } from './sender-family.ts';
import { answer, nth, only, plainState } from './support.ts';

describe('a child that has ended since its parent ran last', () => {
  async function ended(words = 0) {
    const all = await family({ asks: true, words });
    const child = only(await childrenOf(all.engine));
    await answer(child, only(await child.waits()), { decision: 'allow' });
    expect(await child.run()).toEqual({ end: 'done' });
    return { ...all, child };
  }

  test('[B3b, A2e] stands among the effects as it ended', async () => {
    const { thread } = await ended();
    expect(only(await thread.effects())).toMatchObject({ kind: 'child', status: 'succeeded' });
    expect((await thread.compare('thread')).after.effects).toMatchObject([{ kind: 'child', status: 'succeeded' }]);
    expect(only(await crossed(thread))).toMatchObject({ name: 'sender', status: 'succeeded' });
  });

  test.each([0, 200_000])(
    '[B12c, B2a] is reused by going back: its end of %i more bytes is given again',
    async (words) => {
      const { engine, thread, sent } = await ended(words);
      await goBack(thread, 'reuse');
      await runAll(engine);
      expect(sent).toEqual(['ann']);
      expect(await childrenOf(engine)).toHaveLength(1);
      expect(await plainState(thread)).toMatchObject({ said: ['done to ann, letter 1'] });
    },
  );

  test('[B12d, B2a] is reused by an edit', async () => {
    const { engine, thread, sent } = await ended();
    const { key } = only(await crossed(thread));
    await thread.edit({ said: ['edited'] }, { effects: { [key]: 'reuse' } });
    await runAll(engine);
    expect(sent).toEqual(['ann']);
    expect(await plainState(thread)).toMatchObject({ said: ['edited', 'done to ann, letter 1'] });
  });

  test.each([0, 200_000])(
    '[B12d, B2a] is reused by a fork, its end of %i more bytes too; its parent goes on as well',
    async (words) => {
      const { engine, thread, sent } = await ended(words);
      const { key } = only(await crossed(thread));
      await thread.fork(await begin(thread), { id: 'fork', effects: { [key]: 'reuse' } });
      await runAll(engine);
      expect(sent).toEqual(['ann']);
      for (const id of ['fork', 'thread']) {
        expect(await plainState(engine.thread(id))).toMatchObject({ said: ['done to ann, letter 1'] });
      }
      expect(nth(await thread.checkpoints(), 0).control.usage).toEqual({ inputTokens: 2, outputTokens: 1, cost: 0 });
    },
  );

  test.each([0, 1])(
    '[B3b, B12c] is told from one of the same name and input that still runs: number %i ended',
    async (which) => {
      const { sender } = await family({ asks: true });
      const parent = defineAgent({
        name: 'parent',
        version: 1,
        state: { to: value(z.string(), '') },
        agents: [sender],
        start: 'go',
        nodes: {
          go: async ({ to }, { child, end }) => {
            await Promise.all([child(sender, { to }, { key: 'a' }), child(sender, { to }, { key: 'b' })]);
            return end();
          },
        },
      });
      const engine = await new TestWorld().engine({ agent: parent, model });
      const thread = engine.thread('thread');
      await thread.send({ to: 'ann' });
      await runAll(engine);
      const keys = (await thread.effects()).map(({ key }) => key);
      const asked = (await thread.waits()).find(({ effectKey }) => effectKey === keys[which]);
      const { thread: id } = (asked?.args ?? {}) as { thread: string };
      const one = engine.thread(id);
      await answer(one, only(await one.waits()), { decision: 'allow' });
      await one.run();

      const statuses = (await thread.effects()).map(({ status }) => status);
      expect(statuses).toEqual(which === 0 ? ['succeeded', 'in_progress'] : ['in_progress', 'succeeded']);
    },
  );
});
