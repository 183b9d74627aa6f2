import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Settled, withSettled } from '../../src/model/inbox.ts';

const start: Settled = { inboxTaken: 0, consumed: [] };
const rounds = fc.array(fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 8 }), { maxLength: 8 });

function isSettled({ inboxTaken, consumed }: Settled, order: number): boolean {
  return order <= inboxTaken || consumed.includes(order);
}

test('[B11a] exactly the orders that were ever settled are settled, however they came together', () => {
  fc.assert(
    fc.property(rounds, (given) => {
      const settled = given.reduce(withSettled, start);
      const model = new Set(given.flat());
      for (let order = 1; order <= 31; order += 1) expect(isSettled(settled, order)).toBe(model.has(order));
    }),
    { seed: 20261130, numRuns: 500 },
  );
});

test('[B11a] what is kept of them is as short as it can be, sorted, and the same for any order of settling', () => {
  fc.assert(
    fc.property(rounds, (given) => {
      const settled = given.reduce(withSettled, start);
      expect(settled.consumed).not.toContain(settled.inboxTaken + 1);
      expect(settled.consumed.every((order) => order > settled.inboxTaken)).toBe(true);
      expect(settled.consumed).toEqual([...new Set(settled.consumed)].sort((a, b) => a - b));
      expect([...given].reverse().reduce(withSettled, start)).toEqual(settled);
    }),
    { seed: 20261130, numRuns: 500 },
  );
});
