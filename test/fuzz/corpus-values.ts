/** What the state of a thread in the corpus holds: something of every kind that records know. */
import { FileRef } from '../../src/model/file-ref.ts';

export function fieldsOf(thread: string): ReadonlyMap<string, unknown> {
  const big = Array.from({ length: 600 }, (_, at) => ({ at, text: `row ${at}` }));
  return new Map<string, unknown>([
    ['count', 1],
    ['gone', thread],
    [
      'odd',
      {
        zero: -0,
        loose: 'a\ud800b',
        at: new Date(7),
        many: new Set([1, 'x']),
        named: new Map([['k', [1n, 2n ** 70n]]]),
      },
    ],
    ['error', new RangeError('too far', { cause: { code: 1 } })],
    ['text', `${thread} `.repeat(1_500)],
    ['bytes', { all: new Uint8Array(60_000).map((_, at) => at % 251), some: new Float64Array([0.5, -1]) }],
    ['file', FileRef.from({ name: 'a.txt', type: 'text/plain', bytes: new Uint8Array(5_000).fill(65) })],
    ['big', big],
  ]);
}

export function itemsFrom(thread: string, from: number): ReadonlyMap<string, readonly unknown[]> {
  return new Map([['log', [`${thread} ${from}`, { from }, -0]]]);
}

export function hiddenFields(): ReadonlyMap<string, unknown> {
  const line = {
    node: 'work',
    step: 'SSSSSSSSSSSSSSSSSSSSSS',
    from: 0,
    sinceMs: 0,
    waits: [],
    status: 'open',
    updates: 1,
    error: null,
  };
  const fork = { node: 'begin', step: 'SSSSSSSSSSSSSSSSSSSSSS', join: 'work', count: 2, failures: 'stop', limit: 2 };
  return new Map<string, unknown>([
    ['#line/0', line],
    ['#line/1', line],
    ['#fork/', fork],
    ['#update/0/0', { count: 1 }],
  ]);
}
