import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { plantedFaults } from './planted/faults.ts';
import { huntWith, placesOf } from './planted/plant.ts';

/** The same for all. */
const effort = [8_000, 1] as const;
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-fuzz-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

test.for(plantedFaults.map((fault, index) => [fault.name, fault, index] as const))(
  '[H4] a planted fault is found: %s',
  { timeout: 90_000 },
  async ([, fault, index]) => {
    expect(await placesOf(fault)).toBe(1);

    const { found } = await huntWith(fault, join(folder, String(index)), effort);

    expect(found).not.toBeNull();
  },
);
