import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countTests, type TestCounts } from './count-tests.ts';
import { ensureChromium } from './ensure-chromium.ts';
import { runChild } from './run-child.ts';

const help = `npm test [-- --json] [arguments for vitest]

Runs the whole suite, in Node and in Chromium, which is installed if it is missing.
  --json  prints one JSON object as the last line

npm test -- --project node test/codec   runs a part of it`;

const args = process.argv.slice(2);
if (args.includes('--help') || args.includes('-h')) {
  console.log(help);
  process.exit(0);
}

await ensureChromium();

const folder = mkdtempSync(join(tmpdir(), 'holdfast-tests-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const reportPath = join(folder, 'report.json');
const { status } = await runChild('vitest', [
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${reportPath}`,
  ...args.filter((argument) => argument !== '--json'),
]);

const counts = readCounts(reportPath);
for (const failure of counts.failures) console.log(`failed: ${failure}`);
if (status !== 0 && counts.failed === 0) console.log(`vitest ended with ${status} although no test failed: see above.`);
if (counts.passed === 0) console.log('No test passed: that is not a good result.');
console.log(`${counts.passed} passed, ${counts.failed} failed`);
const good = status === 0 && counts.failed === 0 && counts.passed > 0;
if (args.includes('--json')) console.log(JSON.stringify({ ...counts, good }));
process.exitCode = good ? 0 : 1;

function readCounts(path: string): TestCounts {
  try {
    return countTests(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    console.log(`Vitest wrote no report: ${error instanceof Error ? error.message : String(error)}`);
    return { passed: 0, failed: 0, skipped: 0, failures: [] };
  }
}
