import { expect, test } from 'vitest';
import { deterministicModel } from '../../src/models/deterministic.ts';

test.each<[object, string]>([
  [{}, 'rules is undefined, not a list'],
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
