import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readArguments } from './command.ts';
import { requirementItems } from './requirement-items.ts';
import { judge } from './requirements/judge.ts';
import { pageOf } from './requirements/page.ts';
import { readTitles } from './requirements/read-titles.ts';

const options = readArguments(
  `npm run requirements [-- --check] [--json]

Writes docs/requirements.md from the titles of the tests.
  --check  writes nothing and fails if the page is not up to date
  --json   prints one JSON object as the last line`,
  { check: { type: 'boolean' }, json: { type: 'boolean' } },
);

const top = fileURLToPath(new URL('../..', import.meta.url));
const page = `${top}docs/requirements.md`;

const tests = readdirSync(`${top}test`, { recursive: true, encoding: 'utf8' })
  .map((path) => posix.join('test', path))
  .filter((path) => path.endsWith('.ts') && !path.includes('/fixtures/'))
  .sort()
  .flatMap((path) => readTitles(path, readFileSync(top + path, 'utf8')));

const judgement = judge(requirementItems, tests);
const { items, errors } = judgement;
const facts = items.flatMap((item) => item.facts);
const open = items.filter((item) => !item.proved).map((item) => item.id);
const openParts = facts.filter((fact) => fact.tests.length === 0).map((fact) => fact.id);

const text = pageOf(judgement);
const stale = options.check === true && text !== readIfThere(page);
if (options.check !== true && errors.length === 0) writeFileSync(page, text);

for (const error of errors) console.error(error);
if (stale) console.error('docs/requirements.md is not up to date: run `npm run requirements`.');
console.log(
  `${items.length - open.length} of ${items.length} proved, ${facts.length - openParts.length} of ${facts.length} parts.`,
);
if (options.json === true) {
  console.log(
    JSON.stringify({ total: items.length, proved: items.length - open.length, open, openParts, errors, stale }),
  );
}
process.exitCode = errors.length > 0 || stale ? 1 : 0;

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
