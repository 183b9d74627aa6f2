import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffValues, type ValueChange } from '../../src/model/diff.ts';

const key = fc.stringMatching(/^[a-d]{1,2}$/);
const { plain } = fc.letrec((tie) => ({
  plain: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<unknown>(0, 1, 'x', 'y', true, null),
    fc.array(tie('plain'), { maxLength: 4 }),
    fc.dictionary(key, tie('plain'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const settings = { seed: 20261130, numRuns: 600 };

/** Carries the changes out on a copy. */
function patched(before: unknown, changes: readonly ValueChange[]): unknown {
  const root = { root: structuredClone(before) };
  // Items that go away are taken from the end on, so that those before them keep their places.
  const inOrder = [...changes].sort((a, b) => Number(a.change === 'removed') - Number(b.change === 'removed'));
  for (const { path, change, after } of inOrder) {
    const steps = ['root', ...[...path.matchAll(/\.([a-d]+)|\[(\d+)\]/g)].map((found) => found[1] ?? Number(found[2]))];
    const last = steps.pop() ?? '';
    const holder = steps.reduce<Record<string | number, unknown>>((at, step) => at[step] as never, root);
    if (change !== 'removed') holder[last] = structuredClone(after);
    else if (Array.isArray(holder)) holder.length = Math.min(holder.length, Number(last));
    else delete holder[last];
  }
  return root.root;
}

test('[B12b] a value differs from itself in nothing', () => {
  fc.assert(
    fc.property(plain, (value) => {
      expect(diffValues(value, structuredClone(value))).toMatchObject({ changes: [], isComplete: true });
    }),
    settings,
  );
});

test('[B12b] the changes, carried out on what was before, give what is after', () => {
  fc.assert(
    fc.property(plain, plain, (before, after) => {
      const { changes, isComplete } = diffValues(before, after);
      expect(isComplete).toBe(true);
      expect(patched(before, changes)).toEqual(after);
    }),
    settings,
  );
});

test('[B12b] seen from the other side, what was added is removed, and what changed has changed back', () => {
  fc.assert(
    fc.property(plain, plain, (before, after) => {
      const there = diffValues(before, after).changes.map(({ path, change }) => `${path} ${change}`);
      const opposite = { added: 'removed', removed: 'added', changed: 'changed' } as const;
      const back = diffValues(after, before).changes.map(({ path, change }) => `${path} ${opposite[change]}`);
      expect(back.sort()).toEqual(there.sort());
    }),
    settings,
  );
});
