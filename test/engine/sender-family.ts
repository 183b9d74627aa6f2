/** A parent whose child sends a letter. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import * as z from 'zod';
import type { Engine } from '../../src/engine/engine.ts';
import type { EngineThread } from '../../src/engine/engine-thread.ts';
import type { ChoiceNeeded } from '../../src/model/choice-needed.ts';
import { log, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { LanguageModel } from '../../src/program/model.ts';
import { tool } from '../../src/program/tool.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { nth, only } from './support.ts';

export const model: LanguageModel = {
  name: 'words',
  async *stream() {
    yield { type: 'finish', usage: { inputTokens: 2, outputTokens: 1 } };
  },
};

/** A parent whose child sends a letter: at once, or when a person allows it. */
export async function family({ asks = false, words = 0 } = {}) {
  const sent: string[] = [];
  const send = tool({
    name: 'send',
    description: 'Sends a letter',
    input: z.object({ to: z.string() }),
    effect: 'once',
    approval: asks ? 'always' : 'never',
    run: ({ to }) => {
      sent.push(to);
      return `to ${to}, letter ${sent.length}`;
    },
  });
  const sender = defineAgent({
    name: 'sender',
    version: 1,
    state: { to: value(z.string(), ''), receipt: value(z.string(), ''), words: value(z.string(), '') },
    tools: { send },
    start: 'send',
    nodes: {
      send: async ({ to }, { call, model, end }) => {
        await model.text('Which words?');
        return end({ receipt: await call('send', { to }), words: 'w'.repeat(words) });
      },
    },
  });
  const parent = defineAgent({
    name: 'parent',
    version: 1,
    state: { to: value(z.string(), ''), said: log(z.string()) },
    agents: [sender],
    start: 'go',
    nodes: {
      go: async ({ to }, { child, end }) => {
        const { status, state } = await child(sender, { to });
        return end({ said: [`${status} ${state?.receipt}`] });
      },
    },
  });
  const world = new TestWorld();
  const engine = await world.engine({ agent: parent, model });
  const thread = engine.thread('thread');
  await thread.send({ to: 'ann' });
  await runAll(engine);
  return { world, engine, thread, sent, sender, agent: parent };
}

export async function runAll(engine: Engine) {
  const threads = () => engine.threads(99, { children: true });
  const stand = async () => (await threads()).map(({ row }) => [row.thread, row.head, row.inbox]);
  for (let before: unknown; !isDeepStrictEqual(before, await stand()); ) {
    before = await stand();
    for (const { id = '' } of await threads()) await engine.thread(id).run();
  }
}

export async function childrenOf(engine: Engine): Promise<readonly EngineThread[]> {
  const all = await engine.threads(99, { children: true });
  return all.filter(({ row }) => row.agent === 'sender').map(({ id = '' }) => engine.thread(id));
}

export async function begin(thread: EngineThread) {
  return nth(await thread.checkpoints(), -1).id;
}

/** What going back to the beginning must be told of. */
export async function crossed(thread: EngineThread): Promise<ChoiceNeeded['effects']> {
  const error = await thread.rollBack(await begin(thread)).catch((refused: unknown) => refused);
  expect(error).toMatchObject({ code: 'choice_needed' });
  return (error as { details: ChoiceNeeded }).details.effects;
}

export async function goBack(thread: EngineThread, choice: 'reuse' | 'redo' | 'compensate') {
  const { key } = only(await crossed(thread));
  await thread.rollBack(await begin(thread), { effects: { [key]: choice } });
}
