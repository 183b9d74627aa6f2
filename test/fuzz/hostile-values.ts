/** Values of the wrong type, size or name. */
import type { Dice } from './dice.ts';

export const hostileNames = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'then',
  '',
  '\u0000',
  'a/b',
  '#line/0',
];

const numbers = [
  Number.NaN,
  Number.POSITIVE_INFINITY,
  -1,
  -0,
  0,
  0.5,
  1,
  2 ** 31,
  2 ** 32,
  2 ** 40,
  2 ** 53,
  2 ** 64,
  1e308,
  -(2 ** 53),
];
const texts = [
  '',
  '__proto__',
  'constructor',
  '\u0000',
  '\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0001',
  'null',
  '{',
  '[]',
  '{"__proto__":{"polluted":true}}',
  'o:~',
  '../..',
  'x'.repeat(5_000),
];

/** Anything that a structured clone can carry. */
export function hostileValue(dice: Dice, depth = 0): unknown {
  if (depth > 2) return null;
  return dice.pick<() => unknown>([
    () => null,
    () => undefined,
    () => dice.chance(0.5),
    () => dice.pick(numbers),
    () => dice.pick(numbers),
    () => dice.pick(texts),
    () => dice.pick(texts),
    () => dice.bytes(dice.below(20)),
    () => dice.pick([2n ** 63n, -1n, 5n]),
    () => new Date(dice.pick(numbers)),
    () => Array.from({ length: dice.below(6) }, () => hostileValue(dice, depth + 1)),
    () => new Map([[dice.pick(hostileNames), hostileValue(dice, depth + 1)]]),
    () => new Map<unknown, unknown>([[hostileValue(dice, depth + 1), 1]]),
    () => nested(dice.pick([40, 600, 2_000])),
    () => hostileObject(dice, depth),
  ])();
}

export function hostileObject(dice: Dice, depth = 0): object {
  const made = {};
  for (let count = 1 + dice.below(3); count > 0; count -= 1) {
    const value = hostileValue(dice, depth + 1);
    Object.defineProperty(made, dice.pick(hostileNames), {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return made;
}

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

/** A copy of a tree of lists and maps in which one thing is changed: replaced, dropped, doubled, moved or nested. */
export function mutatedTree(dice: Dice, tree: unknown): unknown {
  const places: ((change: (value: unknown) => unknown) => void)[] = [];
  const lists: unknown[][] = [];
  const maps: Map<unknown, unknown>[] = [];
  let root = copyOf(tree);
  places.push((change) => {
    root = change(root);
  });
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) {
      lists.push(value);
      value.forEach((item, index) => {
        places.push((change) => {
          value[index] = change(item);
        });
        walk(item);
      });
    } else if (value instanceof Map) {
      maps.push(value);
      for (const [key, item] of value) {
        places.push((change) => value.set(key, change(item)));
        walk(item);
      }
    }
  };
  walk(root);
  const kind = dice.below(10);
  if (kind === 0 && lists.length > 0) {
    const list = dice.pick(lists);
    list.splice(dice.below(list.length + 1), dice.below(2), ...(dice.chance(0.5) ? [hostileValue(dice)] : []));
  } else if (kind === 1 && lists.length > 0) {
    const list = dice.pick(lists);
    const [a, b] = [dice.below(Math.max(1, list.length)), dice.below(Math.max(1, list.length))];
    [list[a], list[b]] = [list[b], list[a]];
  } else if (kind === 2 && maps.length > 0) {
    dice.pick(maps).set(dice.chance(0.8) ? dice.pick(hostileNames) : hostileValue(dice), hostileValue(dice));
  } else if (kind === 3 && lists.length > 0) {
    const list = dice.pick(lists);
    list.length = dice.below(list.length + 1);
  } else if (kind === 4) {
    dice.pick(places)((value) => [value]);
  } else {
    dice.pick(places)(() => hostileValue(dice));
  }
  return root;
}

function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, copyOf(item)]));
  return value;
}
