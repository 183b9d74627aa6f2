import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Appending } from './appending.ts';
import { type Figure, figure, median, together } from './figures.ts';

const untouchedLimit = 1.05;
const memoryLimit = 1.5;

interface LongSize {
  readonly steps: readonly [short: number, long: number];
  readonly untouchedBytes: number;
  readonly rounds: number;
}

/** P8: what a large field that no step touches adds to a step, and the memory that a long thread needs. */
export async function benchLong(
  { steps, untouchedBytes, rounds }: LongSize = { steps: [100, 10_000], untouchedBytes: 10_000_000, rounds: 16 },
): Promise<Figure> {
  const [short, long] = steps;
  const [withField, without] = await untouched(untouchedBytes, rounds);
  const [longHeap, shortHeap] = [await heapOf(long), await heapOf(short)];
  return together({
    'an untouched field': figure(
      `a step beside ${untouchedBytes} untouched bytes (median)`,
      'ms',
      withField,
      ['a step without', without],
      untouchedLimit,
    ),
    'memory of a long thread': figure(
      `heap with a thread of ${long} steps`,
      'MB',
      longHeap / 1e6,
      [`${short} steps`, shortHeap / 1e6],
      memoryLimit,
    ),
  });
}

/** The two take turns, 60 steps at a time. */
async function untouched(
  untouchedBytes: number,
  rounds: number,
): Promise<readonly [withField: number, without: number]> {
  const samples: readonly [number[], number[]] = [[], []];
  for (let round = -2; round < rounds; round += 1) {
    for (const [index, bytes] of [untouchedBytes, 0].entries()) {
      let before = Number.NaN;
      const ms: number[] = [];
      const onStep = () => {
        const now = performance.now();
        if (!Number.isNaN(before)) ms.push(now - before);
        before = now;
      };
      await new Appending().run({ steps: 60, untouchedBytes: bytes, onStep });
      if (round >= 0) samples[index as 0 | 1].push(...ms.slice(5));
    }
  }
  return [median(samples[0]), median(samples[1])];
}

/** Bytes of the heap, collected, of a process that has run such a thread and still holds it. */
async function heapOf(steps: number): Promise<number> {
  const program = fileURLToPath(new URL('./memory-process.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    '--import',
    'tsx',
    program,
    String(steps),
  ]);
  return (JSON.parse(stdout) as { readonly heapBytes: number }).heapBytes;
}
