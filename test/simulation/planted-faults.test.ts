import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { plantedFaults } from './planted/faults.ts';
import { Ground } from './planted/plant.ts';

/** Every so many crash points of each scenario, and so many seeds: the same for all. */
const effort = [24, 120] as const;
const timeoutMs = 60_000;
let folder = '';
let ground: Ground;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-planted-'));
  ground = new Ground(folder);
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

test('[H1d] the engine as it is breaks no rule in the worlds in which planted faults are looked for', {
  timeout: timeoutMs,
}, async () => {
  const { violation, worlds } = await ground.hunt(effort);

  expect(violation).toBeNull();
  expect(worlds).toBeGreaterThan(400);
});

test.concurrent.for(plantedFaults.map((fault) => [fault.name, fault] as const))(
  '[H1d] a planted fault is found: %s',
  { timeout: timeoutMs },
  async ([, fault], { expect }) => {
    const { violation } = await ground.huntWith(fault, effort);

    expect(violation).not.toBeNull();
  },
);
