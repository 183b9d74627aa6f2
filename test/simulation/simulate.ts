import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { readArguments } from '../support/command.ts';
import { compile } from './compile.ts';
import { type Figures, sumOf, type Told } from './figures.ts';
import { runPart } from './processes.ts';

const options = readArguments(
  `npm run simulate -- --seeds N [--seed S] [--json]

Runs the engine under a simulated clock, store, network and crashes: first every crash point of every fixed scenario, each once
more with a second crash during the recovery, then N worlds from random seeds. Exit status 0 only where no rule was broken and
every crash point was met.
  --seeds           default 1000
  --from            first seed; default: taken from the clock, and printed
  --seed            replays this one seed and prints all that happened
  --only TEXT       only scenarios whose name holds TEXT
  --no-scenarios    only the seeds
  --single          no second crashes
  --processes N     default: one for each core
  --json            prints one JSON object as the last line`,
  {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string' },
    seed: { type: 'string' },
    only: { type: 'string' },
    'no-scenarios': { type: 'boolean', default: false },
    single: { type: 'boolean', default: false },
    processes: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
);

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => stopping.abort(new Error(`Stopped by ${signal}.`)));
}
const given = options.seed ?? options.from;
const firstSeed = given === undefined ? Date.now() % 1_000_000_000 : wholeNumber('--from', given, 0);
const replays = options.seed !== undefined;
const parts = replays ? 1 : wholeNumber('--processes', options.processes ?? String(availableParallelism()), 1);
const order = {
  seeds: replays ? 1 : wholeNumber('--seeds', options.seeds, 0),
  firstSeed,
  withScenarios: !replays && !options['no-scenarios'],
  secondEvery: options.single ? 0 : 1,
  pointEvery: 1,
  replays,
  ...(options.only !== undefined && { only: options.only }),
  parts,
};
console.log(`The first seed is ${firstSeed}.`);

const folder = await mkdtemp(join(tmpdir(), 'holdfast-simulate-'));
try {
  const program = await compile('simulate-part.ts', folder);
  const hear = reporter();
  const work = (part: number) => runPart(program, { ...order, part }, hear, stopping.signal);
  const all = await Promise.all(Array.from({ length: parts }, (_, part) => work(part)));
  const figures = sumOf(all);
  console.log(options.json ? JSON.stringify(figures) : figures);
  const isGood = figures.violations === 0 && figures.crashPointsCovered === figures.crashPointsTotal;
  process.exitCode = isGood ? 0 : 1;
} catch (error) {
  process.exitCode = stopping.signal.aborted ? 130 : 1;
  stopping.abort(error);
  console.error(error instanceof Error ? error.message : String(error));
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Says what is worth reading: how each scenario went, what broke, and from time to time how far it is. */
function reporter(): (told: Exclude<Told, { figures: Figures }>) => void {
  let [done, failed] = [0, 0];
  return (told) => {
    if ('line' in told) return console.log(told.line);
    if ('scenario' in told) {
      const { name, covered, total, broken } = told.scenario;
      for (const each of broken) console.log(each);
      return console.log(`${name}: ${covered} of ${total} crash points`);
    }
    const { seed, broken } = told.seed;
    done += 1;
    if (broken.length > 0) {
      failed += 1;
      console.log(`seed ${seed}: ${broken.join('\n  ')}`);
    }
    if (done % 1_000 === 0) console.log(`${done} of ${order.seeds} seeds, ${failed} of them failed`);
  };
}

function wholeNumber(name: string, written: string, least: number): number {
  const value = Number(written);
  if (Number.isInteger(value) && value >= least) return value;
  console.error(`${name} must be a whole number from ${least}, not "${written}".`);
  process.exit(2);
}
