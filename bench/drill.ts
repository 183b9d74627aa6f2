import { readArguments } from '../test/support/command.ts';
import { drill } from './drill/drill.ts';

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
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => stopping.abort(new Error(`Stopped by ${signal}.`)));
}

try {
  const report = (line: string) => console.log(line);
  const figures = await drill({ runs, kills, seed, report, signal: stopping.signal });
  const { completed, fullReruns, effectsDuplicated, effectsLost, effectsSeen, effectsExpected } = figures;
  const isExact = effectsLost === 0 && effectsDuplicated === 0 && effectsSeen === effectsExpected;
  console.log(options.json ? JSON.stringify(figures) : figures);
  process.exitCode = completed === runs && fullReruns === 0 && isExact ? 0 : 1;
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
