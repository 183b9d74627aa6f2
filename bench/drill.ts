import { fileURLToPath } from 'node:url';
import { randomFraction } from '../src/base/random.ts';
import { seededRandom } from '../src/testing/seeded-random.ts';
import { bodyOf, serveBuiltApp } from '../test/support/built-app.ts';
import { readArguments } from '../test/support/command.ts';
import type { OpenBrowser } from '../test/support/real-browser.ts';
import { type RunResult, runOnce } from './drill/run-once.ts';
import { StepCounter } from './drill/step-counter.ts';
import { quantile } from './figures.ts';

const options = readArguments(
  `npm run drill -- --runs R --kills K [--seed S] [--json]

A real Chromium runs the screening workflow on the sample files R times and is killed (SIGKILL, the whole process tree) at K
random moments in each. A process outside counts the effects by effect key and removes no duplicate. The same kills are made once more
with checkpoints off.
  --runs   default 3
  --kills  default 3
  --seed   of the moments; default: taken from the clock, and printed
  --json   prints one JSON object as the last line`,
  {
    runs: { type: 'string', default: '3' },
    kills: { type: 'string', default: '3' },
    seed: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
);

const runs = wholeNumber('--runs', options.runs, 1);
const kills = wholeNumber('--kills', options.kills, 0);
const seed = options.seed === undefined ? Date.now() % 1_000_000 : wholeNumber('--seed', options.seed, 0);
const random = seededRandom(seed);
const counter = new StepCounter();
const open = new Set<OpenBrowser>();

const app = await serveBuiltApp({
  root: fileURLToPath(new URL('./drill-app/', import.meta.url)),
  handle: async (request, response) => {
    if (request.method !== 'POST' || request.url !== '/steps') return false;
    counter.begun(await bodyOf(request));
    response.writeHead(204).end();
    return true;
  },
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    // Killing the browsers ends every run, and each run cleans up after itself.
    isStopped = true;
    void Promise.all([...open].map((browser) => browser.close().catch(() => undefined)));
  });
}
let isStopped = false;

try {
  const calm = await run([], [], true);
  const undisturbed = calm.result;
  if (!calm.completed || undisturbed === undefined) throw new Error(`The undisturbed run ended as "${calm.end}".`);
  const events = calm.steps + calm.deliveries.size;
  console.log(`seed ${seed}: undisturbed, ${calm.steps} steps and ${calm.deliveries.size} invitations`);
  const [withThem, without]: [RunResult[], RunResult[]] = [[], []];
  for (let number = 1; number <= runs && !isStopped; number += 1) {
    const killsAfter = moments(kills, events);
    const delaysMs = killsAfter.map(() => Math.floor(randomFraction(random) * 120));
    withThem.push(await run(killsAfter, delaysMs, true));
    report(number, 'with checkpoints', withThem.at(-1));
    without.push(await run(killsAfter, delaysMs, false));
    report(number, 'without', without.at(-1));
  }
  const expected = calm.deliveries.size;
  const sums = (results: readonly RunResult[]) => ({
    completed: results.filter(({ completed, result }) => completed && result === undisturbed).length,
    fullReruns: sum(results.map(({ fullReruns }) => fullReruns)),
    effectsDuplicated: sum(results.map((result) => duplicates(result, expected))),
  });
  const resumesMs = withThem.flatMap((result) => result.resumesMs);
  const figures = {
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
  console.log(options.json ? JSON.stringify(figures) : figures);
  const isGood =
    !isStopped &&
    figures.completed === runs &&
    figures.fullReruns === 0 &&
    figures.effectsDuplicated === 0 &&
    figures.effectsLost === 0 &&
    figures.effectsSeen === figures.effectsExpected;
  process.exitCode = isGood ? 0 : 1;
} finally {
  await app.close();
}

function run(killsAfter: readonly number[], delaysMs: readonly number[], withCheckpoints: boolean): Promise<RunResult> {
  return runOnce({
    appUrl: app.url,
    counter,
    killsAfter,
    delaysMs,
    withCheckpoints,
    onOpen: (browser) => {
      open.add(browser);
      browser.context.once('close', () => open.delete(browser));
    },
  });
}

/** Different moments, in order, between the first and the last thing that happens. */
function moments(count: number, events: number): readonly number[] {
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

function report(number: number, kind: string, result: RunResult | undefined): void {
  if (result === undefined) return;
  const seen = sum([...result.deliveries.values()]);
  console.log(
    `run ${number} ${kind}: ${result.end} after ${result.kills} kills, ${result.fullReruns} full re-runs, ` +
      `${result.stepsRepeated} steps repeated, ${seen} invitations delivered`,
  );
}

function wholeNumber(name: string, written: string, least: number): number {
  const value = Number(written);
  if (Number.isInteger(value) && value >= least) return value;
  console.error(`${name} must be a whole number from ${least}, not "${written}".`);
  process.exit(2);
}
