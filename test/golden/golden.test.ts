import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { answer, only } from '../engine/support.ts';
import { type Golden, makeGolden, openGolden, readGolden } from './golden.ts';

const folder = new URL('.', import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith('.json'));

describe.each(files)('%s', (name) => {
  const golden = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Golden;

  test('[A10e] opens as what it was written as', async () => {
    expect(await readGolden(golden)).toEqual(golden.expected);
  });

  test('[A10e] goes on where it was', async () => {
    const { thread } = await openGolden(golden);
    await answer(thread, only(await thread.waits()), { decision: 'allow' });
    expect(await thread.run()).toEqual({ end: 'done' });
  });
});

test('[A10a] a golden file of the format of today is the same each time it is made, and opens', async () => {
  const golden = JSON.parse(JSON.stringify(await makeGolden())) as Golden;
  expect(golden).toEqual(JSON.parse(JSON.stringify(await makeGolden())));
  expect(new Set(golden.records.map(({ table }) => table)).size).toBe(8);
  expect(await readGolden(golden)).toEqual(golden.expected);
  const { thread } = await openGolden(golden);
  await answer(thread, only(await thread.waits()), { decision: 'allow' });
  expect(await thread.run()).toEqual({ end: 'done' });
});
