import { describe, expect, test } from 'vitest';
import { nameOf, pointsOf, secondAfter, type Tried, tryPoints } from './crash-points.ts';
import { scenarios } from './scenarios/all.ts';
import { runSeed } from './seeds.ts';

const timeoutMs = 60_000;
/** `npm run simulate` gives every crash point a second crash; here it is one in so many. */
const secondEvery = 10;
const firstSeed = 20_261_130;

function brokenIn(tried: readonly Tried[]): readonly string[] {
  return tried.flatMap((each) =>
    each.verdict.violations.map(({ oracle, message }) => `${nameOf(each)}: [${oracle}] ${message}`),
  );
}

describe('[H1b, H1c, I1, I2, I4, I5, I6, I7, I8, I9, I10] a process that dies at every crash point breaks no rule', () => {
  test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    '%s',
    { timeout: timeoutMs },
    async (_, scenario) => {
      const { points, undisturbed } = await pointsOf(scenario);
      const tried: Tried[] = [undisturbed];
      let met = 0;
      for (const [index, point] of points.entries()) {
        const once = await tryPoints(scenario, [point]);
        met += once.met;
        tried.push(once);
        if (index % secondEvery === 0) tried.push(await tryPoints(scenario, [point, secondAfter(point, index)]));
      }

      expect(brokenIn(tried)).toEqual([]);
      expect(met).toBe(points.length);
    },
  );

  test('[H1c] there are at least 30 scenarios, each with a name of its own', () => {
    expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length);
    expect(scenarios.length).toBeGreaterThanOrEqual(30);
  });
});

describe('worlds from random seeds', () => {
  test('[H1a, I1, I2, I4, I5, I6, I7, I8, I9, I10, B3c, B4c, B5d, B14c] 400 of them break no rule', {
    timeout: timeoutMs,
  }, async () => {
    const broken: string[] = [];
    for (let seed = firstSeed; seed < firstSeed + 400; seed += 1) {
      const { violations } = await runSeed(seed);
      for (const { oracle, message } of violations) broken.push(`seed ${seed}: [${oracle}] ${message}`);
    }

    expect(broken).toEqual([]);
  });

  test('[H1a] a seed replays exactly: the same trace, to the last operation', { timeout: timeoutMs }, async () => {
    const seeds = Array.from({ length: 40 }, (_, index) => firstSeed + index);
    const digests = async () => {
      const all: string[] = [];
      for (const seed of seeds) all.push((await runSeed(seed)).digest);
      return all;
    };
    const first = await digests();

    expect(await digests()).toEqual(first);
    expect(new Set(first).size).toBe(seeds.length);
  });

  test('[H1a] a line of the trace is kept for every operation', async () => {
    const { lines, counts } = await runSeed(firstSeed, true);

    expect(lines.filter((line) => /^\d+ \d+ life \d+ \w/.test(line)).length).toBe(counts.operations);
  });
});
