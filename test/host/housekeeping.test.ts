/** Retention that is applied by itself. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { log, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { settled, statusIn } from './acting-agent.ts';
import { Workers } from './workers.ts';

const dayMs = 86_400_000;

/** Takes so many steps for each input. */
function stepping() {
  const agent = defineAgent({
    name: 'stepping',
    version: 1,
    maxSteps: 1_000,
    state: { left: value(z.number(), 0), notes: log(z.string()) },
    start: 'step',
    nodes: {
      step: ({ left }, { goto, end }) => (left === 0 ? end() : goto('step', { left: left - 1, notes: [`${left}`] })),
    },
  });
  return new Workers(agent);
}

const steps = { left: 120 };

test('[A12a] a long run is compacted when it has ended, where the app said what may go', async () => {
  const worker = await stepping().start({ retention: { keepCheckpoints: 5 } });
  await worker.send('t', { left: 1 }, 'a', 'queue');
  await expect.poll(() => statusIn(worker)).toBe('done');
  await worker.send('t', steps, 'b', 'queue');
  await expect.poll(() => statusIn(worker)).toBe('done');
  await expect.poll(async () => (await worker.checkpoints('t', { limit: 1_000 })).length).toBeLessThan(20);
  await worker.close();
});

test('[A12a] nothing is taken away where the app said nothing', async () => {
  const worker = await stepping().start();
  await worker.send('t', { left: 1 }, 'a', 'queue');
  await expect.poll(() => statusIn(worker)).toBe('done');
  await worker.send('t', steps, 'b', 'queue');
  await expect.poll(() => statusIn(worker)).toBe('done');
  await settled();
  expect((await worker.checkpoints('t', { limit: 1_000 })).length).toBeGreaterThan(120);
  await worker.close();
});

test('[A12b] a thread whose time is over is archived and purged from time to time, and its view says so', async () => {
  const workers = stepping();
  const archives: number[] = [];
  const archive = async (bytes: Uint8Array) => void archives.push(bytes.length);
  const worker = await workers.start({ retention: { doneDays: 2 }, archive });
  await worker.send('t', { left: 1 }, 'a', 'queue');
  await expect.poll(() => statusIn(worker)).toBe('done');
  workers.world.clock.advance(1.5 * dayMs);
  await settled();
  expect((await worker.threads()).map(({ id }) => id)).toEqual(['t']);
  workers.world.clock.advance(1 * dayMs);
  await expect.poll(async () => (await worker.threads()).length).toBe(0);
  expect(archives).toHaveLength(1);
  expect(await worker.view('t')).toBeNull();
  await worker.close();
});

test('[A12b] a worker that starts purges what is over since long', async () => {
  const workers = stepping();
  const first = await workers.start();
  await first.send('t', { left: 1 }, 'a', 'queue');
  await expect.poll(() => statusIn(first)).toBe('done');
  workers.world.clock.advance(30 * dayMs);
  await settled();
  expect(await first.threads()).toHaveLength(1);
  const second = await workers.start({ retention: {} });
  await expect.poll(async () => (await second.threads()).length).toBe(0);
  await first.close();
});
