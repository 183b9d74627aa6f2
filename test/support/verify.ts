import { readArguments } from './command.ts';
import { runChild } from './run-child.ts';

interface Step {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
}

const options = readArguments(
  `npm run verify [-- --no-test] [--json]

Runs every check and lists those that failed.
  --no-test  leaves out the test suite
  --json     prints one JSON object as the last line`,
  { 'no-test': { type: 'boolean' }, json: { type: 'boolean' } },
);

const script = (name: string, ...args: string[]): Step => ({
  name,
  program: 'npm',
  args: ['run', '--silent', name, '--', ...args],
});

const steps: readonly Step[] = [
  script('lint'),
  script('types'),
  { name: 'architecture', program: 'vitest', args: ['run', '--project', 'node', 'test/architecture'] },
  ...(options['no-test'] === true ? [] : [script('test')]),
  script('build'),
  script('package'),
  { name: 'dead code', program: 'knip', args: [] },
  script('requirements', '--check'),
];

const results: { name: string; good: boolean; seconds: number }[] = [];
for (const { name, program, args } of steps) {
  const startedAtMs = performance.now();
  const { status, output } = await runChild(program, args, true);
  const seconds = Math.round((performance.now() - startedAtMs) / 100) / 10;
  results.push({ name, good: status === 0, seconds });
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds.toFixed(1)} s)`);
  if (status !== 0) console.log(output.trimEnd().replace(/^/gm, '       '));
}

const failed = results.filter((result) => !result.good).map((result) => result.name);
console.log(failed.length === 0 ? 'All is well.' : `Failed: ${failed.join(', ')}.`);
if (options.json === true) console.log(JSON.stringify({ failed, steps: results }));
process.exitCode = failed.length === 0 ? 0 : 1;
