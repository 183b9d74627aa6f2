import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { codecErrors } from '../../src/codec/errors.ts';
import { FileRef } from '../../src/model/file-ref.ts';
import { givenThread, roundTrip } from './given.ts';

let thread: Awaited<ReturnType<typeof givenThread>>;
beforeAll(async () => {
  thread = await givenThread();
});

async function refusal(value: unknown): Promise<{ path: string; found: string }> {
  const error = await roundTrip(value, thread).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!codecErrors.is(error, 'value_not_storable')) throw new Error(`not refused: ${String(error)}`);
  return error.details;
}

describe('what comes back the same', () => {
  test.each([
    ['undefined', undefined],
    ['null', null],
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['-0', -0],
    ['-0 deep inside', { a: [1, { b: -0 }] }],
    ['a small BigInt', 5n],
    ['a BigInt of 64 bits', -(2n ** 63n)],
    ['a BigInt of 200 bits', 2n ** 200n],
    ['an integer above 2^32', 2 ** 45 + 1],
    ['a fraction', 0.1 + 0.2],
    ['a date', new Date(1234567890123)],
    ['a date before 1970', new Date(-62135596800000)],
    ['an invalid date', new Date(Number.NaN)],
    ['a map with an object as key', new Map<unknown, unknown>([[{ a: 1 }, new Set([1])]])],
    ['a set with undefined', new Set([undefined, 'x'])],
    ['a key that is empty', { '': 1 }],
    ['undefined as a value', { a: undefined }],
    ['a lone surrogate', 'a\ud800b'],
    ['a lone low surrogate', '\udc00'],
    ['an emoji', '🧭 ok'],
    ['a byte order mark', '\ufeffab'],
    ['an empty list', []],
    ['a boolean in a list', [true, false]],
  ])('[A7b] %s', async (_, value) => {
    expect(await roundTrip({ value }, thread)).toStrictEqual({ value });
  });

  test.each([
    new Uint8Array([1, 2, 3]),
    new Uint8ClampedArray([1]),
    new Int8Array([-1]),
    new Uint16Array([65535]),
    new Int16Array([-2]),
    new Uint32Array([2 ** 31]),
    new Int32Array([-3]),
    new Float32Array([0.5, Number.NaN]),
    new Float64Array([-0, 1.5]),
    new BigInt64Array([-1n]),
    new BigUint64Array([2n ** 63n]),
    new DataView(new Uint8Array([9, 8]).buffer),
    new Uint8Array([7, 7]).buffer,
  ])('[A7a, A7b] binary data keeps its type and its bytes: %o', async (value) => {
    const back = await roundTrip({ value }, thread);
    expect(back).toStrictEqual({ value });
  });

  test('[A7a] a view on part of a buffer is stored without its neighbours', async () => {
    const secret = new Uint8Array(64).fill(0xaa);
    secret.set([1, 2, 3], 10);
    const back = (await roundTrip({ part: secret.subarray(10, 13) }, thread)) as { part: Uint8Array };
    expect(back.part).toStrictEqual(new Uint8Array([1, 2, 3]));
    expect(back.part.buffer.byteLength).toBe(3);
  });

  test('[A7b] an error keeps class, message, stack and cause', async () => {
    const error = new RangeError('too far', { cause: new TypeError('inner -0', { cause: -0 }) });
    const { kept } = (await roundTrip({ kept: error }, thread)) as { kept: RangeError };
    expect(kept).toBeInstanceOf(RangeError);
    expect([kept.message, kept.stack]).toEqual([error.message, error.stack]);
    const inner = kept.cause as TypeError;
    expect(inner).toBeInstanceOf(TypeError);
    expect(Object.is(inner.cause, -0)).toBe(true);
    expect(Object.hasOwn((await roundTrip(new Error('none'), thread)) as Error, 'cause')).toBe(false);
  });

  test('[A7c] shared and cyclic references come back shared and cyclic, beside stand-ins too', async () => {
    const shared = { zero: -0 };
    const cycle: { self?: unknown; list: unknown[]; map: Map<string, unknown> } = {
      list: [shared, shared],
      map: new Map(),
    };
    cycle.self = cycle;
    cycle.map.set('me', cycle);
    const back = (await roundTrip(cycle, thread)) as typeof cycle;
    expect(back.self).toBe(back);
    expect(back.map.get('me')).toBe(back);
    expect(back.list[0]).toBe(back.list[1]);
    expect(Object.is((back.list[0] as { zero: number }).zero, -0)).toBe(true);
  });

  test('[A7b] any value made of storable parts comes back exactly', async () => {
    const leaf = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.double(),
      fc.integer(),
      fc.bigInt(),
      fc.boolean(),
      fc.constantFrom(null, undefined, -0),
      fc.date({ noInvalidDate: false }),
      fc.uint8Array(),
      fc.float64Array(),
    );
    const key = fc.string().filter((name) => name !== '__proto__');
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        leaf,
        fc.array(tie('tree'), { maxLength: 5 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 5, noNullPrototype: true }),
        fc.array(fc.tuple(key, tie('tree')), { maxLength: 4 }).map((entries) => new Map(entries)),
        fc.array(fc.string(), { maxLength: 4 }).map((items) => new Set(items)),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(tree, async (value) => {
        expect(await roundTrip(value, thread)).toStrictEqual(value);
      }),
      { numRuns: 400, seed: 20261129 },
    );
  });
});

describe('what is refused, with its path', () => {
  class Live {
    field = 1;
  }
  const sharing = new Uint8Array(8);
  const withAccessor = Object.defineProperty({}, 'now', { get: () => 1, enumerable: true });
  const withStack = (stack: unknown) => Object.assign(new Error('x'), { stack });
  const chain = (levels: number) => {
    let made: unknown[] = [];
    for (let level = 0; level < levels; level += 1) made = [made];
    return made;
  };
  const cyclic = new Error('round');
  cyclic.cause = { of: [cyclic] };
  const odd = new Error('odd');
  Object.assign(odd, { stack: [odd] });
  const deep: unknown[] = [];
  let inner = deep;
  for (let level = 0; level < 600; level += 1) {
    const next: unknown[] = [];
    inner.push(next);
    inner = next;
  }
  test.each<[string, unknown, string, string]>([
    ['a function', { a: { go: () => 1 } }, 'value.a.go', 'a function'],
    ['a symbol', { a: [Symbol('x')] }, 'value.a[0]', 'a symbol'],
    ['a class instance', { a: [0, new Live()] }, 'value.a[1]', 'an instance of Live'],
    [
      'a date that is none',
      { d: Object.create(Date.prototype) },
      'value.d',
      'an instance of Date that its constructor did not make',
    ],
    [
      'a map that is none',
      { d: Object.create(Map.prototype) },
      'value.d',
      'an instance of Map that its constructor did not make',
    ],
    [
      'a set that is none',
      { d: Object.create(Set.prototype) },
      'value.d',
      'an instance of Set that its constructor did not make',
    ],
    ['a URL', { u: new URL('https://example.org') }, 'value.u', 'an instance of URL'],
    ['a promise', new Map([['p', Promise.resolve()]]), 'value.get("p")', 'an instance of Promise'],
    ['a regular expression', { r: /x/ }, 'value.r', 'an instance of RegExp'],
    ['an object without a prototype', { o: Object.create(null) }, 'value.o', 'an object without a prototype'],
    ['the key __proto__', JSON.parse('{"a":{"__proto__":1}}'), 'value.a', 'the key "__proto__"'],
    ['a key with a lone surrogate', { '\ud800': 1 }, 'value', 'a key with a lone surrogate'],
    ['a key with a byte order mark', { '\ufeffa': 1 }, 'value', 'a key that begins with a byte order mark'],
    ['an error that is its own cause', { e: cyclic }, 'value.e.cause.of[0]', 'an error whose cause leads back to it'],
    ['an error whose stack is a list', { e: odd }, 'value.e.stack', 'a stack that is no text'],
    // biome-ignore lint/suspicious/noSparseArray: the hole is what is tested
    ['a hole', { list: [1, , 3] }, 'value.list[1]', 'a hole in an array'],
    ['a symbol key', { [Symbol('s')]: 1 }, 'value', 'the symbol property Symbol(s)'],
    ['a hidden property', Object.defineProperty({}, 'h', { value: 1 }), 'value', 'the hidden property h'],
    ['a property on a list', Object.assign([1], { extra: 1 }), 'value', 'an array with named properties'],
    ['an accessor', withAccessor, 'value.now', 'an accessor'],
    [
      'two views of one buffer',
      [sharing, new Uint8Array(sharing.buffer)],
      'value[1]',
      'a view of the same buffer as value[0]',
    ],
    ['shared memory', new Uint8Array(new SharedArrayBuffer(4)), 'value', 'shared memory'],
    ['an error of an own class', new (class Own extends Error {})('x'), 'value', 'an error of class Own'],
    [
      'an error with properties',
      Object.assign(new Error('x'), { code: 1 }),
      'value',
      'an error with the property code',
    ],
    ['an error whose stack is no text', withStack({ now: () => 1 }), 'value.stack', 'a stack that is no text'],
    ['an error whose stack is a deep list', [withStack(chain(20_000))], 'value[0].stack', 'a stack that is no text'],
    ['deep nesting', deep, `value${'[0]'.repeat(501)}`, 'nesting deeper than 500 levels'],
  ])('[A7d] %s', async (_, value, path, found) => {
    expect(await refusal(value)).toMatchObject({ path, found });
  });

  test('[A2f, A7d] the error names the path, what was found and what to do', async () => {
    const error = await roundTrip({ tools: { send: () => 1 } }, thread).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain('Cannot store a function at value.tools.send: code does not belong in the state.');
    expect(String(error)).toContain('Nothing was committed.');
  });
});

describe('large values', () => {
  test('[A8a] a text and an array over 4 KiB are stored apart, and equal content once', async () => {
    const text = 'long '.repeat(2_000);
    const bytes = new Uint8Array(200_000).map((_, index) => index % 251);
    const given = await givenThread(7);
    const value = { text, again: text, bytes, copy: bytes.slice(), small: 'x' };
    expect(await roundTrip(value, given)).toStrictEqual(value);
    const records = await given.store.range('blobs', given.hash, {});
    // 10 KB of text in one chunk, 200 KB of bytes in five.
    expect(records).toHaveLength(6);
    expect(Math.max(...records.map(({ body }) => body.length))).toBeLessThan(64 * 1024);
  });

  test('[A8a] equal arrays do not come back as one', async () => {
    const bytes = new Uint8Array(5_000).fill(3);
    const back = (await roundTrip([bytes, bytes.slice()], await givenThread(8))) as Uint8Array[];
    expect(back[0]).toStrictEqual(back[1]);
    expect(back[0]).not.toBe(back[1]);
  });

  test('[A8b] a file comes back without its bytes, and reads them when asked', async () => {
    const given = await givenThread(9);
    const file = FileRef.from({ name: 'a.txt', type: 'text/plain', bytes: new Uint8Array(100_000).fill(65) });
    let reads = 0;
    const range = given.store.range.bind(given.store);
    given.store.range = (...args) => {
      reads += 1;
      return range(...args);
    };
    const { kept } = (await roundTrip({ kept: file }, given)) as { kept: FileRef };
    expect(reads).toBe(0);
    expect([kept.name, kept.type, kept.sizeBytes]).toEqual(['a.txt', 'text/plain', 100_000]);
    expect((await kept.text()).length).toBe(100_000);
    expect(reads).toBe(1);
  });

  test('[A8b, I10] a missing chunk is named, not made up', async () => {
    const given = await givenThread(10);
    const file = FileRef.from({ name: 'b', bytes: new Uint8Array(100_000) });
    const { kept } = (await roundTrip({ kept: file }, given)) as { kept: FileRef };
    const [, second] = await given.store.range('blobs', given.hash, {});
    given.store.data.records('blobs', given.hash).delete(second?.key ?? '');
    await expect(kept.bytes()).rejects.toMatchObject({
      code: 'record_missing',
      details: { table: 'blobs', key: second?.key },
    });
  });
});

test.each([undefined, {}, { name: 'a.txt' }, { name: 'a.txt', bytes: 5 }, { name: 'a.txt', bytes: [1] }])(
  '[A7c] a file of %j is refused, and told by its name',
  (given) => {
    expect(() => FileRef.from(given as never)).toThrow('are no Uint8Array and no text.');
  },
);
