/** Decisions from a seed (mulberry32): the same seed decides the same, however often it is asked. */
import type { Random } from '../../../src/base/random.ts';

export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed ^ 0x5bd1e995) >>> 0;
  }

  /** A whole number from 0 to 2^32 - 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** A whole number from 0 to `limit - 1`. */
  below(limit: number): number {
    return this.next() % limit;
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  /** True in so many of a hundred cases. */
  percent(share: number): boolean {
    return this.below(100) < share;
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[this.below(items.length)] ?? items[0];
  }

  /** Decisions that do not depend on how many are taken here later. */
  fork(): Dice {
    return new Dice(this.next());
  }
}

/** The engine's randomness, apart from the decisions of the world: how much of it is used changes nothing else. */
export function randomFrom(dice: Dice): Random {
  return {
    bytes: (length) => {
      const bytes = new Uint8Array(length);
      for (let index = 0; index < length; index += 4) {
        let word = dice.next();
        for (let at = index; at < length && at < index + 4; at += 1) {
          bytes[at] = word & 0xff;
          word >>>= 8;
        }
      }
      return bytes;
    },
  };
}
