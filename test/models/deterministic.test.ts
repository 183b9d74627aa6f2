import { expect, test } from 'vitest';
import { deterministicModel } from '../../src/models/deterministic.ts';

test.each<[object, string]>([
  [{}, 'rules is undefined, not a list'],
  [{ rules: [() => undefined, 5] }, 'rule 2 is of type number, not a function'],
  [{ rules: [], pieceLength: 0 }, 'pieceLength is 0, not a whole number from 1'],
  [{ rules: [], pieceLength: 1.5 }, 'pieceLength is 1.5, not a whole number from 1'],
  [{ rules: [], firstPieceMs: -1 }, 'firstPieceMs is -1, not a number from 0'],
  [{ rules: [], betweenPiecesMs: '5' }, 'betweenPiecesMs is of type string, not a number from 0'],
  [{ rules: [], piecesMs: 5 }, 'its options have "piecesMs"; there are name, rules,'],
])('a deterministic model of %j is refused', (options, problem) => {
  expect(() => deterministicModel(options as never)).toThrow(
    `deterministicModel(options) cannot be called so: ${problem}`,
  );
});

test.each<[unknown, string]>([
  ['hi', 'rule 1 gave what is of type string, not an object'],
  [null, 'rule 1 gave what is null, not an object'],
  [{}, 'rule 1 gave nothing: give text, value or toolCalls'],
  [{ content: 'hi' }, 'rule 1 gave "content"; there are text, value, toolCalls'],
  [{ text: 5 }, 'rule 1 gave a text of type number, not a text'],
  [Promise.resolve({ text: 'hi' }), 'rule 1 gave a promise: it must answer at once'],
])('a rule that gives %j is refused, and not taken for an empty answer', async (given, problem) => {
  const { stream } = deterministicModel({ rules: [() => given as never] });
  const clock = { nowMs: () => 0, steadyMs: () => 0, sleep: async () => undefined };
  const context = { effectKey: 'k', attempt: 1, abortSignal: new AbortController().signal, clock };
  const parts = stream({ messages: [] }, context);

  await expect(parts[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    code: 'argument_invalid',
    message: expect.stringContaining(problem),
  });
});
