import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ownCopy } from '../../src/base/own-copy.ts';

test('[A4a] a copy equals what it was made of, whatever that is', () => {
  fc.assert(
    fc.property(
      fc.anything({ withDate: true, withMap: true, withSet: true, withNullPrototype: true, withSparseArray: true }),
      (value) => {
        expect(ownCopy(value)).toStrictEqual(value);
      },
    ),
    { numRuns: 300 },
  );
});

test('[A4a] what is changed later in lists, objects, maps, sets and dates is not changed in the copy', () => {
  const [first, second] = [{ n: 1 }, { n: 1 }];
  const given = { list: [first], map: new Map([['a', second]]), set: new Set([{ n: 1 }]), date: new Date(1) };
  const copy = ownCopy(given);
  first.n = 2;
  given.list.push({ n: 3 });
  second.n = 2;
  for (const item of given.set) item.n = 2;
  given.date.setTime(2);

  const before = { list: [{ n: 1 }], map: new Map([['a', { n: 1 }]]), set: new Set([{ n: 1 }]), date: new Date(1) };
  expect(copy).toEqual(before);
});

test.each([Date, Map, Set, Array])(
  '[A4a, A7d] a %o that its constructor did not make is left as it is',
  ({ prototype }) => {
    const given = { a: [Object.create(prototype)] };
    expect(ownCopy(given).a[0]).toBe(given.a[0]);
  },
);

test('[A4a] shared and cyclic parts stay so', () => {
  const part = { n: 1 };
  const given: { a: object; b: object; self?: object } = { a: part, b: part };
  given.self = given;
  const copy = ownCopy(given);

  expect(copy.a).toBe(copy.b);
  expect(copy.a).not.toBe(part);
  expect(copy.self).toBe(copy);
});

test('[A4a] what storing refuses is still refused: it keeps what it is', () => {
  class Own {
    n = 1;
  }
  const own = new Own();
  const named = Object.assign([1], { name: 'x' });
  const accessor = {
    get n() {
      return 1;
    },
  };
  let deep: unknown = 1;
  for (let level = 0; level < 20_000; level += 1) deep = [deep];

  expect(ownCopy({ own }).own).toBe(own);
  expect(Reflect.ownKeys(ownCopy(named))).toEqual(Reflect.ownKeys(named));
  expect(Object.getOwnPropertyDescriptor(ownCopy(accessor), 'n')?.get).toBeTypeOf('function');
  expect(() => ownCopy(deep)).not.toThrow();
  expect(ownCopy(JSON.parse('{"__proto__": 1}'))).toHaveProperty(['__proto__'], 1);
});
