import { isDeepStrictEqual } from 'node:util';
import { equalBytes } from '../../src/base/bytes.ts';
import { packValue } from '../../src/codec/packer.ts';

/** Whether two values are the same in every part. What is nested too deep to be compared is not the same. */
export function isSame(a: unknown, b: unknown): boolean {
  try {
    // Node takes no invalid date, and no map with objects as keys, for the same as another: their bytes are.
    return isDeepStrictEqual(a, b) || equalBytes(packValue(a), packValue(b));
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
