/** Values as MessagePack, held against msgpackr, whose dialect docs/format.md names. */
import fc from 'fast-check';
import { Packr } from 'msgpackr';
import { describe, expect, test } from 'vitest';
import { equalBytes } from '../../src/base/bytes.ts';
import { readMessage } from '../../src/codec/message-reader.ts';
import { MessageWriter } from '../../src/codec/message-writer.ts';
import { LargeRef, packBody, packValue, StoredError, unpackBody, unpackValue } from '../../src/codec/packer.ts';

const theirBodies = new Packr({ mapsAsObjects: false, useRecords: false, variableMapSize: true });
const theirValues = new Packr({ structuredClone: true });

const ours = (value: unknown): unknown => unpackValue(packValue(value), (ref) => ref);
const theirs = (bytes: Uint8Array): unknown => theirValues.unpack(Uint8Array.from(bytes));

/** Without Uint8Array, which msgpackr writes otherwise in Node than in browsers; without what the inspection of values refuses. */
const key = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((name) => name !== '__proto__');
const leaf = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.double(),
  fc.integer(),
  fc.bigInt(),
  fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }),
  fc.boolean(),
  fc.constantFrom(null, undefined),
  fc.date({ noInvalidDate: false }),
  fc.float64Array(),
  fc.uint16Array({ maxLength: 200 }),
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.array(tie('tree'), { maxLength: 40 }),
    fc.dictionary(key, tie('tree'), { maxKeys: 20, noNullPrototype: true }),
    fc.array(fc.tuple(key, tie('tree')), { maxLength: 20 }).map((entries) => new Map(entries)),
    fc.array(fc.string(), { maxLength: 20 }).map((items) => new Set(items)),
  ),
}));
const runs = { numRuns: 500, seed: 20261130 };

describe('values', () => {
  test('[A7a] are the bytes that msgpackr writes', () => {
    fc.assert(
      fc.property(tree, (value) => {
        expect(packValue(value)).toEqual(Uint8Array.from(theirValues.pack(value)));
      }),
      runs,
    );
  });

  test('[A7a] are read as msgpackr reads them', () => {
    fc.assert(
      fc.property(tree, (value) => {
        expect(unpackValue(Uint8Array.from(theirValues.pack(value)), (ref) => ref)).toStrictEqual(value);
        expect(theirs(packValue(value))).toStrictEqual(value);
      }),
      runs,
    );
  });

  test('[A7c] with references are the bytes that msgpackr writes', () => {
    const shared = { a: 1 };
    const cycle: { self?: unknown; items: unknown[] } = { items: [shared, shared, new Map([[shared, 'x']])] };
    cycle.self = cycle;
    cycle.items.push(cycle.items, new Set([cycle]));
    expect(packValue(cycle)).toEqual(Uint8Array.from(theirValues.pack(cycle)));
    const back = ours(cycle) as typeof cycle;
    expect(back.self).toBe(back);
    expect(back.items[3]).toBe(back.items);
    expect([...(back.items[4] as Set<unknown>)][0]).toBe(back);
  });

  test('[A7a] of more shapes than can be known at a time come back, in both libraries', () => {
    const shapes = Array.from({ length: 150 }, (_, index) => ({ [`key${index % 100}`]: index, both: true }));
    const value = [...shapes, ...shapes.map((shape) => ({ ...shape }))];
    expect(ours(value)).toStrictEqual(value);
    expect(theirs(packValue(value))).toStrictEqual(value);
    expect(unpackValue(Uint8Array.from(theirValues.pack(value)), (ref) => ref)).toStrictEqual(value);
  });

  test.each([
    ['31 bytes', 31],
    ['32 bytes', 32],
    ['63 bytes', 63],
    ['64 bytes', 64],
    ['255 bytes', 255],
    ['256 bytes', 256],
    ['65,535 bytes', 65_535],
    ['65,536 bytes', 65_536],
    ['2 MB', 2_000_000],
  ])('[A7b] a text of %s comes back, of two bytes a letter too', (_, length) => {
    for (const text of ['a'.repeat(length), `\ufeff${'é'.repeat(length)}`, `${'a'.repeat(length - 1)}é`]) {
      expect(ours({ text })).toStrictEqual({ text });
      expect(equalBytes(packValue(text), theirValues.pack(text))).toBe(true);
    }
  });

  test('[A7b] bytes have a buffer of their own, and only theirs', () => {
    const back = ours([Uint8Array.of(1, 2, 3)]) as [Uint8Array];
    expect(back[0]).toStrictEqual(Uint8Array.of(1, 2, 3));
    expect(back[0].buffer.byteLength).toBe(3);
    expect(theirs(packValue([Uint8Array.of(1, 2, 3)]))).toEqual([Uint8Array.of(1, 2, 3)]);
    expect(unpackValue(Uint8Array.from(theirValues.pack(Uint8Array.of(7))), (ref) => ref)).toEqual(Uint8Array.of(7));
  });

  test('[A7c] an error whose cause leads back to it comes back as that', () => {
    const parts: unknown[] = ['RangeError', 'm', null, true];
    const stored = new StoredError(parts);
    parts.push({ by: stored });
    const back = ours(stored) as RangeError;
    expect(back).toBeInstanceOf(RangeError);
    expect((back.cause as { by: unknown }).by).toBe(back);
  });

  test('[A7c] equal references to a blob are one reference', () => {
    const ref = new LargeRef('h', 5, 'bytes');
    const back = ours([ref, ref]) as [LargeRef, LargeRef];
    expect(back[0]).toEqual(ref);
    expect(back[1]).toBe(back[0]);
  });

  test('[A7b] a message that failed leaves nothing behind for the next', () => {
    expect(() => packValue({ a: { b: () => 1 } })).toThrow(TypeError);
    expect(packValue({ a: 1 })).toEqual(Uint8Array.from(theirValues.pack({ a: 1 })));
  });
});

describe('bodies', () => {
  test('[A7a] are the bytes that msgpackr writes, and standard', () => {
    const part = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 80 }), fc.double(), fc.integer(), fc.constant(null));
    const body = fc.array(
      fc.oneof(
        part,
        fc.array(part),
        fc.array(fc.tuple(key, part), { maxLength: 40 }).map((entries) => new Map(entries)),
        fc.dictionary(key, part, { noNullPrototype: true }),
      ),
    );
    fc.assert(
      fc.property(body, (items) => {
        const packed = packBody(items);
        expect(packed).toEqual(Uint8Array.from(theirBodies.pack(items)));
        expect(unpackBody(packed)).toStrictEqual(theirBodies.unpack(packed));
      }),
      runs,
    );
  });

  test('[A7a] hold bytes as bytes', () => {
    expect(packBody([Uint8Array.of(1, 2)])).toEqual(Uint8Array.of(0x91, 0xc4, 2, 1, 2));
    expect(packBody([new Uint8Array(300)]).subarray(0, 4)).toEqual(Uint8Array.of(0x91, 0xc5, 1, 0x2c));
    expect(unpackBody(packBody([new Uint8Array(70_000)]))).toHaveProperty('0.length', 70_000);
  });
});

describe('what is no message is refused', () => {
  const bytes = (...all: readonly number[]) => Uint8Array.from(all);
  test.each([
    ['nothing', bytes()],
    ['a list that ends too early', bytes(0x92, 1)],
    ['a list that declares more than there is', bytes(0xdd, 0xff, 0xff, 0xff, 0xff, 1)],
    ['a text that ends too early', bytes(0xa5, 0x61)],
    ['a number that ends too early', bytes(0xcb, 1, 2)],
    ['bytes behind the value', bytes(0xc0, 0xc0)],
    ['a text that is no UTF-8', bytes(0xa2, 0xc3, 0x28)],
    ['a reference that leads nowhere', bytes(0xd6, 0x70, 0, 0, 0, 1)],
    ['an extension that nobody knows', bytes(0xd4, 0x33, 0, 0xc0)],
    ['a typed array of no type', bytes(0xc7, 2, 0x74, 40, 0)],
    ['a typed array of half an element', bytes(0xc7, 4, 0x74, 4, 1, 2, 3)],
    ['a record with the key __proto__', bytes(0xd4, 0x72, 0x40, 0x91, 0xa9, ...Buffer.from('__proto__'), 0x80)],
    ['a record whose keys are no list', bytes(0xd4, 0x72, 0x40, 0xc0, 0x80)],
    ['nesting without end', new Uint8Array(100_000).fill(0x91)],
  ])('[A11b, H4] %s', (_, message) => {
    expect(() => unpackValue(message, (ref) => ref)).toThrow();
  });

  test('[H4] also where an extension reads only part of its content', () => {
    const packed = new MessageWriter(() => ({ type: 0x20, content: null })).write({});
    expect(() => readMessage(packed, () => null)).toThrow(TypeError);
  });
});
