import { isTrue } from './true-kind.ts';

/** Deeper nesting is left as it is: whoever stores the value refuses it. */
const maxDepth = 500;

/**
 * A copy of what a caller hands over, so that what they change in it later changes nothing here. Lists, plain objects, maps, sets
 * and dates are copied; anything else, bytes included, is taken as it is. Shared and cyclic parts stay so.
 *
 * @param instead what is taken in the place of an object, where that is neither a copy as above nor the object
 * @param odd hears of what is taken as it is: functions, symbols, all other objects
 */
export function ownCopy<Value>(value: Value, instead: Instead = () => undefined, odd: Odd = () => undefined): Value {
  return copied(value, { instead, odd }, new Map(), 0) as Value;
}

type Instead = (value: object) => object | undefined;
type Odd = (part: unknown) => void;

interface Copying {
  readonly instead: Instead;
  readonly odd: Odd;
}

function copied(value: unknown, copying: Copying, made: Map<object, object>, depth: number): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') copying.odd(value);
  if (typeof value !== 'object' || value === null || depth > maxDepth) return value;
  const known = made.get(value) ?? copying.instead(value);
  if (known !== undefined) return known;
  const copy = emptyLike(value);
  if (copy === undefined) {
    copying.odd(value);
    return value;
  }
  made.set(value, copy);
  const inner = (part: unknown) => copied(part, copying, made, depth + 1);
  if (value instanceof Map)
    for (const [key, item] of value) (copy as Map<unknown, unknown>).set(inner(key), inner(item));
  if (value instanceof Set) for (const item of value) (copy as Set<unknown>).add(inner(item));
  for (const name of Reflect.ownKeys(value)) {
    const property = Object.getOwnPropertyDescriptor(value, name);
    if (property !== undefined)
      Object.defineProperty(copy, name, 'value' in property ? { ...property, value: inner(property.value) } : property);
  }
  return copy;
}

/** What the copy is made in; `undefined` for what is not copied. */
function emptyLike(value: object): object | undefined {
  if (!isTrue(value)) return undefined;
  switch (Object.getPrototypeOf(value)) {
    case Object.prototype:
      return {};
    case Array.prototype:
      return [];
    case Map.prototype:
      return new Map();
    case Set.prototype:
      return new Set();
    case Date.prototype:
      return new Date(value as Date);
    default:
      return undefined;
  }
}
