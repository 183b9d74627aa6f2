import type { Random } from '../base/random.ts';
import { refuse } from '../program/arguments.ts';

/** Reproducible bytes from a seed (mulberry32). For tests only: anyone can predict them. */
export function seededRandom(seed: number): Random {
  if (!Number.isSafeInteger(seed)) refuse('seededRandom(seed)', `the seed is ${String(seed)}, not a whole number`);
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return {
    bytes: (length) => Uint8Array.from({ length }, () => next() & 0xff),
  };
}
