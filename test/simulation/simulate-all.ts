/** The work behind `npm run simulate`: every crash point of every scenario, then worlds from random seeds. */
import { nameOf, pointsOf, secondAfter, type Tried, tryPoints } from './crash-points.ts';
import type { Figures, Order, ScenarioFigures, Told } from './figures.ts';
import type { Verdict } from './run.ts';
import { scenarios } from './scenarios/all.ts';
import type { Scenario } from './scenarios/scenario.ts';
import { runSeed } from './seeds.ts';

class Tally {
  worlds = 0;
  steps = 0;
  violations = 0;
  readonly counts: Record<string, number> = {};
  readonly byRule: Record<string, number> = {};
  readonly met: Record<string, number> = {};

  add({ steps, violations, counts, met }: Verdict): void {
    this.worlds += 1;
    this.steps += steps;
    this.violations += violations.length;
    for (const [name, count] of Object.entries(counts)) this.counts[name] = (this.counts[name] ?? 0) + count;
    for (const [what, count] of Object.entries(met)) this.met[what] = (this.met[what] ?? 0) + count;
    for (const { oracle } of violations) this.byRule[oracle] = (this.byRule[oracle] ?? 0) + 1;
  }
}

export async function simulateAll(order: Order, tell: (told: Told) => void): Promise<Figures> {
  const { seeds, firstSeed, part, parts } = order;
  const tally = new Tally();
  const chosen = order.withScenarios ? scenarios.filter(({ name }) => name.includes(order.only ?? '')) : [];
  let [covered, total, tried] = [0, 0, 0];
  for (const [index, scenario] of chosen.entries()) {
    if (index % parts !== part) continue;
    const every = Math.floor(index / parts) % 2 === 0 ? 1 : order.pointEvery;
    const points = await tryScenario(scenario, every, order, tally);
    tried += 1;
    covered += points.covered;
    total += points.total;
    tell({ scenario: points });
  }
  const bySeeds = new Tally();
  const failingSeeds: number[] = [];
  const began = process.cpuUsage();
  let done = 0;
  for (let seed = firstSeed + part; seed < firstSeed + seeds; seed += parts) {
    const verdict = await runSeed(seed);
    tally.add(verdict);
    bySeeds.add(verdict);
    const broken = told(verdict);
    if (broken.length > 0) failingSeeds.push(seed);
    tell({ seed: { seed, digest: verdict.digest, broken } });
    done += 1;
  }
  const { user, system } = process.cpuUsage(began);
  const { operations = 0, crashes = 0, ...faults } = tally.counts;
  return {
    seeds: done,
    crashes,
    steps: tally.steps,
    violations: tally.violations,
    failingSeeds,
    crashPointsCovered: covered,
    crashPointsTotal: total,
    scenarios: tried,
    worlds: tally.worlds,
    seedsPerSecond: Math.round((done * 1e6) / Math.max(1, user + system)),
    operations,
    faults: faults as Figures['faults'],
    byRule: tally.byRule,
    met: tally.met,
    metBySeeds: bySeeds.met,
  };
}

async function tryScenario(
  scenario: Scenario,
  every: number,
  { secondEvery }: Order,
  tally: Tally,
): Promise<ScenarioFigures> {
  const broken: string[] = [];
  const judge = (tried: Tried) => {
    tally.add(tried.verdict);
    broken.push(...told(tried.verdict).map((rule) => `${nameOf(tried)}: ${rule}`));
  };
  const { points: all, undisturbed } = await pointsOf(scenario);
  const points = all.filter((_, at) => at % every === 0);
  judge(undisturbed);
  let covered = 0;
  for (const [index, point] of points.entries()) {
    const once = await tryPoints(scenario, [point]);
    covered += once.met;
    judge(once);
    if (secondEvery > 0 && index % secondEvery === 0)
      judge(await tryPoints(scenario, [point, secondAfter(point, index)]));
  }
  return { name: scenario.name, covered, total: points.length, broken };
}

function told({ violations }: Verdict): readonly string[] {
  return violations.map(({ oracle, message }) => `[${oracle}] ${message}`);
}
