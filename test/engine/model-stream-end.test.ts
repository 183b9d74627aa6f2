/** What the stream of a model does behind its last part changes nothing about the answer. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { LanguageModel, ModelPart } from '../../src/program/model.ts';
import { head, never, Scene } from './support.ts';

test.each<[string, () => Promise<void> | void]>([
  [
    'fails',
    () => {
      throw new TypeError('cannot release');
    },
  ],
  ['never ends', () => never<void>()],
])('[B3c, B7c] an answer whose stream %s as it is left is whole, and paid for once', async (_how, onLeft) => {
  let calls = 0;
  const model: LanguageModel = {
    name: 'odd end',
    async *stream(): AsyncGenerator<ModelPart> {
      calls += 1;
      try {
        yield { type: 'text', text: 'hi' };
        yield { type: 'finish', usage: { inputTokens: 2, outputTokens: 1 } };
      } finally {
        await onLeft();
      }
    },
  };
  const agent = defineAgent({
    name: 'asker',
    version: 1,
    state: { said: log(z.string()) },
    start: 'go',
    nodes: { go: async (_state, { model: ask, end }) => end({ said: [await ask.text('x')] }) },
  });
  const thread = await new Scene({ agent, model }).begun();
  expect(await thread.run()).toEqual({ end: 'done' });
  expect(calls).toBe(1);
  expect((await head(thread)).control.usage).toMatchObject({ inputTokens: 2, outputTokens: 1 });
});
