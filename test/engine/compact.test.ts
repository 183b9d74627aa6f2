/** Retention: whatever the history and the policy, what stays can be restored, at every moment of a compaction. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { Checkpointer } from '../../src/checkpointer/checkpointer.ts';
import { compactThread } from '../../src/engine/compact.ts';
import { log, value } from '../../src/model/fields.ts';
import type { CheckpointId, ThreadId } from '../../src/model/ids.ts';
import { defaultRetention } from '../../src/model/retention.ts';
import { type Cut, CuttingStore, Life } from '../../src/testing/cutting-store.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { nth } from './support.ts';

interface State {
  readonly n: number;
  readonly big: string;
  readonly lines: readonly string[];
}

const fields = { n: value(z.number(), 0), big: value(z.string(), ''), lines: log(z.string()) };

interface Save {
  readonly big: number | undefined;
  readonly lines: readonly number[];
  /** The log begins anew. */
  readonly anew: boolean;
}

/** Sizes on both sides of the limit at which a value is stored apart; equal ones share a blob. */
const size = fc.constantFrom(0, 10, 5_000, 9_000, 60_000);
const save: fc.Arbitrary<Save> = fc.record({
  big: fc.option(size, { nil: undefined }),
  lines: fc.array(size, { maxLength: 2 }),
  anew: fc.integer({ min: 0, max: 9 }).map((chance) => chance === 0),
});

class History {
  readonly world = new TestWorld();
  readonly saved = new Map<CheckpointId, State>();
  #last: State = { n: 0, big: '', lines: [] };
  #head: CheckpointId | null = null;

  async checkpointer(everySteps = 4): Promise<Checkpointer<State>> {
    return new Checkpointer<State>(await this.world.ports(), { fields, tiers: { everySteps } });
  }

  async add(saves: readonly Save[], everySteps?: number): Promise<void> {
    const checkpointer = await this.checkpointer(everySteps);
    if (this.#head !== null) await checkpointer.load('t');
    for (const { big, lines, anew } of saves) {
      const n = this.#last.n + 1;
      const items = lines.map((length) => `${n}`.padEnd(length, 'x'));
      this.#last = {
        n,
        big: big === undefined ? this.#last.big : 'b'.repeat(big),
        lines: anew ? items : [...this.#last.lines, ...items],
      };
      this.#head = await checkpointer.save('t', this.#last, { parent: this.#head });
      this.saved.set(this.#head, this.#last);
    }
  }

  async compact(keepCheckpoints: number, pins: readonly CheckpointId[] = [], life = new Life(), eventDays = 0) {
    this.world.clock.advance(1);
    const ports = await this.world.ports();
    const hash = await ports.keyRing.threadHash('default', 't' as ThreadId);
    const row = await ports.store.readThread(hash);
    if (row === undefined) throw new Error('the thread was made');
    const { incarnation } = row;
    const policy = { ...defaultRetention, keepCheckpoints, eventDays };
    const work = async () => {
      const cutPorts = await this.world.ports(new CuttingStore(ports.store, life));
      const codec = await cutPorts.keyRing.openThread(hash, incarnation);
      return compactThread(cutPorts, codec, { policy, pins });
    };
    return Promise.race([work(), life.death]);
  }

  async ids(): Promise<readonly CheckpointId[]> {
    return (await (await this.checkpointer()).list('t')).map(({ id }) => id);
  }

  /** Every checkpoint that is listed gives the state that was saved. */
  async expectWhole(): Promise<void> {
    const checkpointer = await this.checkpointer();
    for (const id of await this.ids()) {
      expect(await checkpointer.loadCheckpoint('t', id)).toEqual(this.saved.get(id));
    }
    expect(await checkpointer.load('t')).toEqual(this.#last);
  }

  bytes(table: 'blobs' | 'segments'): number {
    const [hash] = this.world.data.threads.keys();
    if (hash === undefined) return 0;
    return this.world.data
      .records(table, hash)
      .range({})
      .reduce((sum, { body }) => sum + body.length, 0);
  }
}

const histories = fc.record({
  saves: fc.array(save, { minLength: 1, maxLength: 14 }),
  more: fc.array(save, { maxLength: 6 }),
  everySteps: fc.integer({ min: 1, max: 6 }),
  keep: fc.integer({ min: 1, max: 8 }),
  pinned: fc.array(fc.nat(13), { maxLength: 2 }),
});

describe('of any history, under any policy', () => {
  test('[A12a, A12e, A8a] the newest and the pinned checkpoints stay and can be restored, also after more is saved', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async ({ saves, more, everySteps, keep, pinned }) => {
        const history = new History();
        await history.add(saves, everySteps);
        const before = await history.ids();
        const pins = pinned.flatMap((index) => before[index] ?? []);
        await history.compact(keep, pins);
        const after = await history.ids();
        expect(after).toEqual(expect.arrayContaining([...before.slice(-keep), ...pins]));
        expect(after.length).toBeLessThanOrEqual(Math.max(keep, 2) + pins.length);
        expect(after.length).toBeGreaterThanOrEqual(Math.min(before.length, 2));
        await history.expectWhole();
        await history.add(more, everySteps);
        await history.expectWhole();
        await history.compact(keep, pins);
        await history.expectWhole();
      }),
      { numRuns: 30 },
    );
  });

  test('[A12e, I7] a crash at any moment of a compaction loses nothing, and the next one ends the work', async () => {
    const cuts = fc.record({
      at: fc.integer({ min: 1, max: 40 }),
      side: fc.constantFrom<Cut['side']>('before', 'after'),
    });
    await fc.assert(
      fc.asyncProperty(histories, cuts, async ({ saves, more, everySteps, keep }, cut) => {
        const history = new History();
        await history.add(saves, everySteps);
        const newest = (await history.ids()).slice(-keep);
        await history.compact(keep, [], new Life(cut));
        expect(await history.ids()).toEqual(expect.arrayContaining([...newest]));
        await history.expectWhole();
        await history.add(more, everySteps);
        await history.compact(keep);
        await history.expectWhole();
        expect((await history.ids()).length).toBeLessThanOrEqual(Math.max(keep, 2));
      }),
      { numRuns: 30 },
    );
  });
});

const plain = (big: number): Save => ({ big, lines: [10], anew: false });

test('[A12d] a large value that nothing names any more is freed; one that is named stays', async () => {
  const history = new History();
  await history.add([plain(60_000), plain(9_000), plain(9_000), plain(9_000)]);
  expect(history.bytes('blobs')).toBeGreaterThan(69_000);
  expect(await history.compact(2)).toMatchObject({ deleted: { checkpoints: 2, blobs: 1 } });
  expect(history.bytes('blobs')).toBeLessThan(10_000);
  await history.expectWhole();
});

test('[A12d, A8a] a large value that was freed and comes again is stored again', async () => {
  const history = new History();
  await history.add([plain(60_000), plain(1), plain(1), plain(1)]);
  await history.compact(2);
  await history.add([plain(60_000)]);
  await history.expectWhole();
});

test('[A12d] segments of a log that nothing names any more are deleted', async () => {
  const history = new History();
  await history.add([plain(1), plain(1), { big: 1, lines: [20], anew: true }, plain(1), plain(1)]);
  expect(await history.compact(2)).toMatchObject({ deleted: { segments: 2 } });
  await history.expectWhole();
});

test('[A6b] events stay for their days, and until two newer snapshots were verified', async () => {
  const history = new History();
  await history.add(
    Array.from({ length: 12 }, () => plain(1)),
    2,
  );
  expect(await history.compact(6, [], new Life(), 30)).toMatchObject({ deleted: { events: 0 } });
  expect(await history.compact(6, [], new Life(), 0)).toMatchObject({ deleted: { events: 6 } });
});

test('[A12e, A11d] a thread whose head is damaged is left as it is, until it was repaired', async () => {
  const history = new History();
  await history.add([plain(1), plain(1), plain(1)]);
  const head = nth(await history.ids(), -1);
  const [hash] = history.world.data.threads.keys();
  const records = history.world.data.records('checkpoints', hash ?? ('' as never));
  const record = records.get(head);
  if (record === undefined) throw new Error('the head is there');
  records.put({ ...record, body: record.body.slice(1) });

  await expect(history.compact(1)).rejects.toMatchObject({ code: 'record_damaged' });
  expect(records.range({})).toHaveLength(3);
});
