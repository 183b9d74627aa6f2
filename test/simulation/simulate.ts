import { readArguments } from '../support/command.ts';
import { runSeed } from './seeds.ts';
import { simulateAll, told } from './simulate-all.ts';

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
  --json            prints one JSON object as the last line`,
  {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string' },
    seed: { type: 'string' },
    only: { type: 'string' },
    'no-scenarios': { type: 'boolean', default: false },
    single: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
);

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => stopping.abort(new Error(`Stopped by ${signal}.`)));
}

if (options.seed !== undefined) {
  const verdict = await runSeed(wholeNumber('--seed', options.seed, 0), true);
  for (const line of verdict.lines) console.log(line);
  console.log(`The thread ended ${verdict.status}; digest of the trace ${verdict.digest}.`);
  if (verdict.violations.length > 0) console.log(told(verdict));
}

try {
  const given = options.seed ?? options.from;
  const first = given === undefined ? Date.now() % 1_000_000_000 : wholeNumber('--from', given, 0);
  console.log(`The first seed is ${first}.`);
  const figures = await simulateAll({
    seeds: options.seed === undefined ? wholeNumber('--seeds', options.seeds, 0) : 1,
    firstSeed: first,
    withScenarios: options.seed === undefined && !options['no-scenarios'],
    withSecondCrashes: !options.single,
    only: options.only,
    report: (line) => console.log(line),
    signal: stopping.signal,
  });
  console.log(options.json ? JSON.stringify(figures) : figures);
  const isGood = figures.violations === 0 && figures.crashPointsCovered === figures.crashPointsTotal;
  process.exitCode = isGood ? 0 : 1;
} catch (error) {
  if (!stopping.signal.aborted) throw error;
  console.error(stopping.signal.reason.message);
  process.exitCode = 130;
}

function wholeNumber(name: string, written: string, least: number): number {
  const value = Number(written);
  if (Number.isInteger(value) && value >= least) return value;
  console.error(`${name} must be a whole number from ${least}, not "${written}".`);
  process.exit(2);
}
