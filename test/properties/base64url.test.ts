import fc from 'fast-check';
import { expect, test } from 'vitest';
import { base64url } from '../../src/base/bytes.ts';

test('ids are written as RFC 4648 has it, whatever their bytes and length', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
      expect(base64url(bytes)).toBe(Buffer.from(bytes).toString('base64url'));
    }),
  );
});
