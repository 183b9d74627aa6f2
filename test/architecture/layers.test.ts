import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { offencesOf } from './offences.ts';
import { filesOnDisk, type Modules, seeModules } from './see-modules.ts';

const top = fileURLToPath(new URL('../..', import.meta.url));
let modules: Modules;

beforeAll(async () => {
  modules = await seeModules(top);
}, 60_000);

test('every source file is seen', () => {
  expect(modules.files.length).toBeGreaterThan(10);
  expect(modules.files).toEqual(filesOnDisk(top));
});

test('every import is in the table of layers, and the pure layers use no ambient names', () => {
  expect(offencesOf(top, modules)).toEqual([]);
});
