import { describe, expect, test } from 'vitest';
import { defineAgent } from '../../src/program/agent.ts';
import { Scene } from './support.ts';

const agent = defineAgent({
  name: 'still',
  version: 1,
  state: {},
  start: 'go',
  nodes: { go: (_state, { end }) => end() },
});

describe('an extension', () => {
  test.each([
    [{}, 'the extension is empty; give one of runMs, tokens, cost, steps'],
    [{ tokens: undefined }, 'the extension is empty; give one of runMs, tokens, cost, steps'],
    [{ token: 1 }, 'the extension has "token"; there are runMs, tokens, cost, steps'],
    [{ steps: 1.5 }, 'the extension.steps is 1.5, not a whole number from 1'],
    [{ steps: 0 }, 'the extension.steps is 0, not a whole number from 1'],
    [{ tokens: -1 }, 'the extension.tokens is -1, not a number above 0'],
    [7, '7 is no object with numbers'],
    [null, 'null is no object with numbers'],
  ])('[B7e] of %j is refused, and nothing is kept', async (extension, problem) => {
    const thread = await new Scene({ agent }).begun();

    await expect(thread.extend(extension as object)).rejects.toMatchObject({
      code: 'extension_invalid',
      details: { problem },
    });
    expect((await thread.row())?.inbox).toBe(1);
  });
});
