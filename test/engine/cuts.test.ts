import { describe, expect, test } from 'vitest';
import { randomFraction } from '../../src/base/random.ts';
import type { Cut } from '../../src/testing/cutting-store.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { CutWorld, type Ending } from './cut-world.ts';

const timeoutMs = 120_000;

async function undisturbed(): Promise<{ readonly ending: Ending; readonly operations: number }> {
  const world = new CutWorld();
  const { end, operations } = await world.live();
  expect(end).toEqual({ end: 'done' });
  return { ending: await world.ending(), operations };
}

/** What does not depend on clock, chance and the model's mood. */
function shapeOf({ state, visits, steps, effects }: Ending) {
  const withoutChance = (text: unknown) => String(text).replace(/\d+\.\d+(e-\d+)?|\d{6,}|life \d+/g, '#');
  const texts = Object.entries(state).map(([name, given]) => [
    name,
    Array.isArray(given) ? given.map(withoutChance) : withoutChance(given),
  ]);
  return { state: Object.fromEntries(texts), visits, steps, effects };
}

/** Lives through the cuts one after the other, then undisturbed to the end. Gives the cuts that were met. */
async function survive(cuts: readonly Cut[], expected: Ending): Promise<number> {
  const world = new CutWorld();
  let met = 0;
  for (const cut of cuts) {
    const { end } = await world.live(cut);
    expect(['died', 'done']).toContain(end === 'died' || end === 'stuck' ? end : end.end);
    if (end === 'died') met += 1;
  }
  expect((await world.live()).end).toEqual({ end: 'done' });
  world.outside.deliverTheRest();

  const { outside } = world;
  const ending = await world.ending();
  expect(shapeOf(ending)).toEqual(shapeOf(expected));
  expect(Object.fromEntries(outside.invited)).toEqual({ ann: 1 });
  expect(outside.changedFilings).toEqual([]);
  expect([...outside.filed.values()].map((text) => `filed ${text}`)).toEqual(ending.state.filings);
  expect(world.repeated).toEqual([]);
  return met;
}

function nameOf(cuts: readonly Cut[]): string {
  return cuts.map(({ at, side }) => `${side} operation ${at}`).join(', then ');
}

async function surviveNamed(cuts: readonly Cut[], expected: Ending): Promise<number> {
  try {
    return await survive(cuts, expected);
  } catch (cause) {
    throw new Error(`Cut ${nameOf(cuts)}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

describe('a process that dies', () => {
  test.each(['before', 'after'] as const)(
    '[I7, H1b, B3c, B4b, B4c, B4d, B9b, I5] %s any one of its operations on store and world: the thread comes to the same end, and nothing is done twice',
    async (side) => {
      const { ending, operations } = await undisturbed();
      let met = 0;
      for (let at = 1; at <= operations; at += 1) met += await surviveNamed([{ at, side }], ending);

      expect(operations).toBeGreaterThanOrEqual(70);
      expect(met).toBe(operations);
    },
    timeoutMs,
  );

  test(
    '[I7, H1b, B3c, B4c, B4d] and dies again while it recovers: the thread comes to the same end, and nothing is done twice',
    async () => {
      const { ending, operations } = await undisturbed();
      const random = seededRandom(20_260_101);
      const chosen = (): Cut => ({
        at: 1 + Math.floor(randomFraction(random) * operations),
        side: randomFraction(random) < 0.5 ? 'before' : 'after',
      });
      let twice = 0;
      for (let pair = 0; pair < 250; pair += 1) {
        if ((await surviveNamed([chosen(), chosen()], ending)) === 2) twice += 1;
      }

      expect(twice).toBeGreaterThan(100);
    },
    timeoutMs,
  );

  test(
    '[I7, B4c, B4d] four times in a row within its recoveries: nothing is done twice',
    async () => {
      const { ending } = await undisturbed();
      const random = seededRandom(7);
      const early = (): Cut => ({
        at: 8 + Math.floor(randomFraction(random) * 30),
        side: randomFraction(random) < 0.5 ? 'before' : 'after',
      });
      let deaths = 0;
      for (let round = 0; round < 80; round += 1) {
        deaths += await surviveNamed([early(), early(), early(), early()], ending);
      }

      expect(deaths).toBeGreaterThan(250);
    },
    timeoutMs,
  );
});
