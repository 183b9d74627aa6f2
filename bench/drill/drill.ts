import { fileURLToPath } from 'node:url';
import { randomFraction } from '../../src/base/random.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { bodyOf, serveBuiltApp } from '../../test/support/built-app.ts';
import type { OpenBrowser } from '../../test/support/real-browser.ts';
import { quantile } from '../figures.ts';
import { type RunResult, runOnce } from './run-once.ts';
import { StepCounter } from './step-counter.ts';

export interface DrillOptions {
  readonly runs: number;
  /** In each run. */
  readonly kills: number;
  /** Of the moments. */
  readonly seed: number;
  readonly report: (line: string) => void;
  /** Aborted: no further run is begun, and the one under way ends. */
  readonly signal: AbortSignal;
}

interface Sums {
  /** Runs that ended, with the result of the undisturbed run. */
  readonly completed: number;
  readonly fullReruns: number;
  readonly effectsDuplicated: number;
}

export interface DrillFigures extends Sums {
  readonly seed: number;
  readonly runs: number;
  readonly kills: number;
  readonly stepsRepeated: number;
  readonly effectsExpected: number;
  readonly effectsSeen: number;
  readonly effectsLost: number;
  readonly resumeMsP50: number;
  readonly resumeMsP95: number;
  /** The same kills with checkpoints off. */
  readonly without: Sums;
}

/** Runs the workflow undisturbed once, then with kills, each time with and without checkpoints. */
export async function drill({ runs, kills, seed, report, signal }: DrillOptions): Promise<DrillFigures> {
  const random = seededRandom(seed);
  const counter = new StepCounter();
  const open = new Set<OpenBrowser>();
  const app = await serveBuiltApp({
    root: fileURLToPath(new URL('../drill-app/', import.meta.url)),
    handle: async (request, response) => {
      if (request.method !== 'POST' || request.url !== '/steps') return false;
      counter.begun(await bodyOf(request));
      response.writeHead(204).end();
      return true;
    },
  });
  // Closing the browsers ends the run under way, and it cleans up after itself.
  const stop = () => void Promise.all([...open].map((browser) => browser.close().catch(() => undefined)));
  signal.addEventListener('abort', stop, { once: true });

  const run = (killsAfter: readonly number[], delaysMs: readonly number[], withCheckpoints: boolean) => {
    signal.throwIfAborted();
    const onOpen = (browser: OpenBrowser) => {
      open.add(browser);
      browser.context.once('close', () => open.delete(browser));
    };
    return runOnce({ appUrl: app.url, counter, killsAfter, delaysMs, withCheckpoints, onOpen });
  };
  try {
    const calm = await run([], [], true);
    if (!calm.completed || calm.result === undefined) throw new Error(`The undisturbed run ended as "${calm.end}".`);
    report(`seed ${seed}: undisturbed, ${calm.steps} steps and ${calm.deliveries.size} invitations`);
    const [withThem, without]: [RunResult[], RunResult[]] = [[], []];
    for (let number = 1; number <= runs; number += 1) {
      const killsAfter = moments(kills, calm.steps + calm.deliveries.size, random);
      const delaysMs = killsAfter.map(() => Math.floor(randomFraction(random) * 120));
      const one = await run(killsAfter, delaysMs, true);
      withThem.push(one);
      report(`run ${number} with checkpoints: ${inWords(one)}`);
      const other = await run(killsAfter, delaysMs, false);
      without.push(other);
      report(`run ${number} without: ${inWords(other)}`);
    }
    return figuresOf(seed, calm, withThem, without);
  } finally {
    signal.removeEventListener('abort', stop);
    await app.close();
  }
}

function figuresOf(
  seed: number,
  calm: RunResult,
  withThem: readonly RunResult[],
  without: readonly RunResult[],
): DrillFigures {
  const expected = calm.deliveries.size;
  const sums = (results: readonly RunResult[]): Sums => ({
    completed: results.filter(({ completed, result }) => completed && result === calm.result).length,
    fullReruns: sum(results.map(({ fullReruns }) => fullReruns)),
    effectsDuplicated: sum(results.map((result) => duplicates(result, expected))),
  });
  const resumesMs = withThem.flatMap((result) => result.resumesMs);
  return {
    seed,
    runs: withThem.length,
    kills: sum(withThem.map((result) => result.kills)),
    ...sums(withThem),
    stepsRepeated: sum(withThem.map((result) => result.stepsRepeated)),
    effectsExpected: expected * withThem.length,
    effectsSeen: sum(withThem.map(({ deliveries }) => sum([...deliveries.values()]))),
    effectsLost: sum(withThem.map(({ deliveries }) => Math.max(0, expected - deliveries.size))),
    resumeMsP50: Math.round(quantile(resumesMs, 0.5)),
    resumeMsP95: Math.round(quantile(resumesMs, 0.95)),
    without: sums(without),
  };
}

/** Different moments, in order, between the first and the last thing that happens. */
function moments(count: number, events: number, random: ReturnType<typeof seededRandom>): readonly number[] {
  const chosen = new Set<number>();
  while (chosen.size < Math.min(count, events - 2)) chosen.add(2 + Math.floor(randomFraction(random) * (events - 2)));
  return [...chosen].sort((a, b) => a - b);
}

/** Deliveries above one for each intention: repeated under their key, or made again under another. */
function duplicates({ deliveries }: RunResult, expected: number): number {
  return Math.max(0, sum([...deliveries.values()]) - Math.min(deliveries.size, expected));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function inWords({ end, kills, fullReruns, stepsRepeated, deliveries }: RunResult): string {
  const delivered = sum([...deliveries.values()]);
  return `${end} after ${kills} kills, ${fullReruns} full re-runs, ${stepsRepeated} steps repeated, ${delivered} invitations delivered`;
}
