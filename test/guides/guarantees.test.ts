/** The guarantees name tests that are there, and that name the requirement. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readTitles } from '../support/requirements/read-titles.ts';
import { top } from './examples.ts';

interface Row {
  readonly sentence: string;
  readonly ids: readonly string[];
  /** Titles with their groups, as `readTitles` gives them, and the files they are in. */
  readonly tests: readonly { readonly title: string; readonly file: string }[];
}

const page = await readFile(join(top, 'docs/guarantees.md'), 'utf8');
const rows: readonly Row[] = [...page.matchAll(/^\| ([A-Z`].*?) \| (.*?) \| (\[.*) \|$/gm)].map(
  ([, sentence = '', ids = '', links = '']) => ({
    sentence,
    ids: ids.split(', '),
    tests: [...links.matchAll(/\[(.*?)\]\(\.\.\/(test\/.*?)\)/g)].map(([, title = '', file = '']) => ({ title, file })),
  }),
);

async function titlesIn(file: string) {
  return readTitles(file, await readFile(join(top, file), 'utf8').catch(() => ''));
}

test('[C2a] the page has its areas, each with a table, and says what is not promised', () => {
  expect([...page.matchAll(/^## (.*)$/gm)].map(([, area]) => area)).toEqual([
    'Acknowledged is durable',
    'Effects, by class',
    'Waits',
    'Several runners',
    'Going back and forking',
    'Retention',
    'Repair and old data',
    'Time and budgets',
    'What is not promised',
  ]);
  expect(rows.length).toBe(page.split('\n').filter((line) => line.includes('](../test/')).length);
  expect(rows.length).toBeGreaterThan(40);
});

test.each(rows)('[C2a] every test exists that proves: $sentence', async ({ tests }) => {
  expect(tests.length).toBeGreaterThan(0);
  for (const { title, file } of tests) {
    expect((await titlesIn(file)).map((found) => found.title)).toContain(title);
  }
});

test.each(rows)('[C2a] each requirement is named by a test that proves: $sentence', async ({ ids, tests }) => {
  const named = await Promise.all(
    tests.map(async ({ title, file }) => (await titlesIn(file)).filter((found) => found.title === title)),
  );
  const proved = new Set(named.flat().flatMap((found) => found.ids));
  expect(ids.filter((id) => !proved.has(id))).toEqual([]);
});

test('[C2a] every page that is linked to is there', async () => {
  const links = [...page.matchAll(/\]\(((?!\.\.|#)[^)]+)\)/g)].map(([, path = '']) => path);
  expect(links.length).toBeGreaterThan(5);
  for (const link of links) await expect(readFile(join(top, 'docs', link), 'utf8')).resolves.toBeTruthy();
});
