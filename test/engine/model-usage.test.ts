/** What a model says it used is counted against budgets, and so it is checked. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { LanguageModel, ModelUsage } from '../../src/program/model.ts';
import { head, Scene } from './support.ts';

function asking(usage: unknown) {
  let calls = 0;
  const model: LanguageModel = {
    name: 'odd',
    async *stream() {
      calls += 1;
      yield { type: 'text', text: 'yes' };
      yield { type: 'finish', usage: usage as ModelUsage };
    },
  };
  const agent = defineAgent({
    name: 'asking',
    version: 1,
    state: { said: log(z.string()) },
    limits: { tokens: 100 },
    start: 'go',
    nodes: { go: async (_state, { model: ask, end }) => end({ said: [await ask.text('well?')] }) },
  });
  return { scene: new Scene({ agent, model }), calls: () => calls };
}

describe('the use that a model tells', () => {
  test.each([
    [{}, 'inputTokens undefined, outputTokens undefined, cost 0'],
    [{ inputTokens: -5, outputTokens: 1 }, 'inputTokens -5, outputTokens 1, cost 0'],
    [{ inputTokens: '7', outputTokens: 1 }, 'inputTokens "7", outputTokens 1, cost 0'],
    [{ inputTokens: 1, outputTokens: 1, cost: Number.NaN }, 'inputTokens 1, outputTokens 1, cost NaN'],
    [{ inputTokens: 1, outputTokens: 1, cost: '2' }, 'inputTokens 1, outputTokens 1, cost "2"'],
    [{ inputTokens: 1, outputTokens: Infinity }, 'inputTokens 1, outputTokens Infinity, cost 0'],
    [null, 'inputTokens undefined, outputTokens undefined, cost 0'],
  ])('[B7c] as %j fails its call once, and is not counted', async (usage, values) => {
    const { scene, calls } = asking(usage);

    expect(await (await scene.begun()).run()).toMatchObject({ end: 'failed' });
    const { failure, spent } = (await head(await scene.open())).control;
    expect(failure).toMatchObject({ code: 'effect_failed', cause: { code: 'usage_invalid' } });
    expect(failure?.message).toBe(
      `"odd" failed: Model "odd" finished with a use that cannot be counted: ${values}. Each must be a number from 0: mend its finish part, or its price.`,
    );
    expect(spent).toMatchObject({ tokens: 0, cost: 0 });
    expect(calls()).toBe(1);
  });
});

test.each([
  [{ type: 'reasoning', text: 'because' }, 'its type is "reasoning"; there are text, tool_call, finish'],
  [{ type: 'text', content: 'hi' }, 'its text is undefined, not a text'],
  [{ type: 'text', text: 5 }, 'its text is of type number, not a text'],
  [{ type: 'tool_call', callId: 'a', tool: 'b' }, 'its call has no callId and tool, as texts'],
  [{ type: 'tool_call', call: {} }, 'its call has no callId and tool, as texts'],
  [{ type: 'finish' }, 'its usage is undefined, not an object'],
  [null, 'it is null, not an object'],
])('[B7c] a part of an answer that nobody can use fails its call once, and is named: %j', async (part, problem) => {
  let calls = 0;
  const model: LanguageModel = {
    name: 'odd',
    async *stream() {
      calls += 1;
      yield { type: 'text', text: 'yes' };
      yield part as never;
      yield { type: 'finish', usage: { inputTokens: 1, outputTokens: 1 } };
    },
  };
  const { agent } = asking({}).scene;
  const scene = new Scene({ agent, model });

  expect(await (await scene.begun()).run()).toMatchObject({ end: 'failed' });
  expect((await head(await scene.open())).control.failure).toMatchObject({
    code: 'effect_failed',
    cause: { code: 'part_invalid', details: { model: 'odd', problem } },
  });
  expect(calls).toBe(1);
});
