import { readArguments } from '../support/command.ts';
import { fuzz } from './fuzz-runs.ts';
import { watchdog } from './watchdog.ts';

const options = readArguments(
  `npm run fuzz -- --runs N [--seed S] [--json]

Puts hostile bytes, records, messages and replies into every decoder. Exit status 0 only where nothing crashed and nothing that was
changed was read all the same.
  --runs   default 100000
  --seed   default: taken from the clock, and printed
  --json   prints one JSON object as the last line`,
  {
    runs: { type: 'string', default: '100000' },
    seed: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
);

const runs = wholeNumber('--runs', options.runs, 1);
const seed = options.seed === undefined ? Date.now() % 1_000_000 : wholeNumber('--seed', options.seed, 0);
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort());

console.log(`seed ${seed}`);
const dog = watchdog(`seed ${seed}`);
const figures = await fuzz({
  runs,
  seed,
  signal: stopping.signal,
  onRun: dog.begin,
  report: (line) => console.log(line),
});
await dog.end();
for (const finding of figures.findings) console.log(finding);
const { findings: _, ...counts } = figures;
if (!options.json) console.table(figures.decoders);
console.log(options.json ? JSON.stringify(counts) : counts);
if (stopping.signal.aborted) process.exitCode = 130;
else process.exitCode = figures.crashes === 0 && figures.silentlyAccepted === 0 ? 0 : 1;

function wholeNumber(name: string, written: string, least: number): number {
  const value = Number(written);
  if (Number.isSafeInteger(value) && value >= least) return value;
  console.error(`${name} must be a whole number from ${least}, not "${written}".`);
  process.exit(2);
}
