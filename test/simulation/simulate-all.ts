/** The work behind `npm run simulate`: every crash point of every scenario, then worlds from random seeds. */
import { nameOf, pointsOf, secondAfter, tryPoints } from './crash-points.ts';
import type { Figures, Order } from './figures.ts';
import type { Verdict } from './run.ts';
import { scenarios } from './scenarios/all.ts';
import type { Scenario } from './scenarios/scenario.ts';
import { runSeed } from './seeds.ts';

type Report = (line: string) => void;

class Tally {
  worlds = 0;
  steps = 0;
  violations = 0;
  readonly counts: Record<string, number> = {};
  readonly byRule: Record<string, number> = {};

  add({ steps, violations, counts }: Verdict): void {
    this.worlds += 1;
    this.steps += steps;
    this.violations += violations.length;
    for (const [name, count] of Object.entries(counts)) this.counts[name] = (this.counts[name] ?? 0) + count;
    for (const { oracle } of violations) this.byRule[oracle] = (this.byRule[oracle] ?? 0) + 1;
  }
}

export async function simulateAll(order: Order, report: Report): Promise<Figures> {
  const { seeds, firstSeed, part, parts } = order;
  const tally = new Tally();
  const chosen = order.withScenarios ? scenarios.filter(({ name }) => name.includes(order.only ?? '')) : [];
  let [covered, total, tried] = [0, 0, 0];
  for (const [index, scenario] of chosen.entries()) {
    if (index % parts !== part) continue;
    const points = await tryScenario(scenario, order, tally, report);
    tried += 1;
    covered += points.covered;
    total += points.total;
    report(`${index + 1}/${chosen.length} ${scenario.name}: ${points.covered} of ${points.total} crash points`);
  }
  const failingSeeds: number[] = [];
  const began = process.cpuUsage();
  let done = 0;
  for (let seed = firstSeed + part; seed < firstSeed + seeds; seed += parts) {
    const verdict = await runSeed(seed);
    tally.add(verdict);
    if (verdict.violations.length > 0) {
      failingSeeds.push(seed);
      report(`seed ${seed}: ${told(verdict)}`);
    }
    done += 1;
    if (done % 1_000 === 0) report(`${done * parts} of ${seeds} seeds, ${failingSeeds.length * parts} of them failed`);
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
  };
}

async function tryScenario(
  scenario: Scenario,
  { withSecondCrashes }: Order,
  tally: Tally,
  report: Report,
): Promise<{ readonly covered: number; readonly total: number }> {
  const { points, undisturbed } = await pointsOf(scenario);
  tally.add(undisturbed.verdict);
  if (undisturbed.verdict.violations.length > 0) report(`${nameOf(undisturbed)}: ${told(undisturbed.verdict)}`);
  let covered = 0;
  for (const point of points) {
    const once = await tryPoints(scenario, [point]);
    covered += once.met;
    const tried = withSecondCrashes ? [once, await tryPoints(scenario, [point, secondAfter(point, 1)])] : [once];
    for (const each of tried) {
      tally.add(each.verdict);
      if (each.verdict.violations.length > 0) report(`${nameOf(each)}: ${told(each.verdict)}`);
    }
  }
  return { covered, total: points.length };
}

export function told({ violations }: Verdict): string {
  return violations.map(({ oracle, message }) => `[${oracle}] ${message}`).join('\n  ');
}
