import { describe, expect, test } from 'vitest';
import { MemoryData } from '../../src/stores/memory/memory-data.ts';
import { MemoryKeyStore } from '../../src/stores/memory/memory-key-store.ts';
import { MemoryStore } from '../../src/stores/memory/memory-store.ts';
import { SortedRecords } from '../../src/stores/memory/sorted-records.ts';
import { testKeyStore } from '../conformance/key-store.ts';
import { testStore } from '../conformance/store.ts';
import { bytes, commitId, commitOne, givenThread, groupFor, keysOf } from '../conformance/store-givens.ts';

testStore('memory', {
  open: async () => new MemoryStore(),
  exempt: { survives_reopen: 'memory is gone with the process' },
});

// Held together by data that outlives the store: what the simulator calls the disk.
testStore('memory on shared data', {
  open: async () => new MemoryStore({ name: 'disk' }),
  reopen: async (store) => {
    if (!(store instanceof MemoryStore)) throw new Error('not the store that was opened');
    await store.close();
    return new MemoryStore({ name: store.name, data: store.data });
  },
});

testKeyStore<{ readonly secret: number }>('memory', {
  open: async () => {
    const data = new MemoryData();
    return {
      keys: new MemoryKeyStore(data),
      reopen: async () => new MemoryKeyStore(data),
      close: async () => undefined,
    };
  },
  makeKey: async () => ({ secret: 1 }),
  isSame: async (a, b) => a === b,
});

describe('memory store', () => {
  test('[B14b] two stores on the same data fence each other', async () => {
    const data = new MemoryData();
    const [frozen, next] = [new MemoryStore({ data }), new MemoryStore({ data })];
    const row = await givenThread(frozen);
    const old = await frozen.takeLease(row.thread, row.incarnation);
    await next.takeLease(row.thread, row.incarnation);
    if (old === undefined) throw new Error('no lease');

    const late = groupFor(row, 'late', { conditions: [{ kind: 'epoch', is: old.epoch }] });

    expect((await commitOne(frozen, late)).status).toBe('epoch_stale');
  });
});

describe('sorted records', () => {
  const record = (key: string) => ({ key, commit: commitId('a'), format: 1, plain: {}, body: bytes() });

  test('[A1a] keys put in any order, replaced and deleted, stay sorted and unique', () => {
    const records = new SortedRecords();
    for (const key of ['c', 'a', 'd', 'b', 'a', 'd']) records.put(record(key));
    records.delete('b');
    records.delete('x');

    expect(keysOf(records.range({}))).toEqual(['a', 'c', 'd']);
    expect(records.size).toBe(3);
    expect(records.get('b')).toBeUndefined();
  });
});
