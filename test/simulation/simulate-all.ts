/** The work behind `npm run simulate`: every crash point of every scenario, then worlds from random seeds. */
import { nameOf, pointsOf, secondAfter, tryPoints } from './crash-points.ts';
import type { Verdict } from './run.ts';
import { scenarios } from './scenarios/all.ts';
import type { Scenario } from './scenarios/scenario.ts';
import { runSeed } from './seeds.ts';

export interface Order {
  readonly seeds: number;
  readonly firstSeed: number;
  /** False: only the seeds. */
  readonly withScenarios: boolean;
  /** Every crash point once more, with a second crash during the recovery. */
  readonly withSecondCrashes: boolean;
  /** Only scenarios whose name holds this. */
  readonly only?: string | undefined;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
}

export interface Figures {
  readonly seeds: number;
  readonly crashes: number;
  readonly steps: number;
  readonly violations: number;
  readonly failingSeeds: readonly number[];
  readonly crashPointsCovered: number;
  readonly crashPointsTotal: number;
  readonly scenarios: number;
  /** Worlds in all: one for each crash point, each second crash, each seed. */
  readonly worlds: number;
  readonly seedsPerSecond: number;
  readonly operations: number;
  readonly faults: Omit<Verdict['counts'], 'operations' | 'crashes'>;
  /** Violations by the rule that they went against. */
  readonly byRule: Readonly<Record<string, number>>;
}

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

export async function simulateAll(order: Order): Promise<Figures> {
  const { seeds, firstSeed, report, signal } = order;
  const tally = new Tally();
  const chosen = order.withScenarios ? scenarios.filter(({ name }) => name.includes(order.only ?? '')) : [];
  let [covered, total] = [0, 0];
  for (const [index, scenario] of chosen.entries()) {
    const points = await tryScenario(scenario, order, tally);
    covered += points.covered;
    total += points.total;
    report(`${index + 1}/${chosen.length} ${scenario.name}: ${points.covered} of ${points.total} crash points`);
  }
  const failingSeeds: number[] = [];
  const startedAtMs = process.cpuUsage();
  for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
    signal.throwIfAborted();
    const verdict = await runSeed(seed);
    tally.add(verdict);
    if (verdict.violations.length > 0) {
      failingSeeds.push(seed);
      report(`seed ${seed}: ${told(verdict)}`);
    }
    const done = seed - firstSeed + 1;
    if (done % 1_000 === 0) report(`${done} of ${seeds} seeds, ${failingSeeds.length} of them failed`);
  }
  const { user, system } = process.cpuUsage(startedAtMs);
  const { operations = 0, crashes = 0, ...faults } = tally.counts;
  return {
    seeds,
    crashes,
    steps: tally.steps,
    violations: tally.violations,
    failingSeeds,
    crashPointsCovered: covered,
    crashPointsTotal: total,
    scenarios: chosen.length,
    worlds: tally.worlds,
    seedsPerSecond: Math.round((seeds * 1e6) / Math.max(1, user + system)),
    operations,
    faults: faults as Figures['faults'],
    byRule: tally.byRule,
  };
}

async function tryScenario(
  scenario: Scenario,
  { report, signal, withSecondCrashes }: Order,
  tally: Tally,
): Promise<{ readonly covered: number; readonly total: number }> {
  const { points, undisturbed } = await pointsOf(scenario);
  tally.add(undisturbed.verdict);
  if (undisturbed.verdict.violations.length > 0) report(`${nameOf(undisturbed)}: ${told(undisturbed.verdict)}`);
  let covered = 0;
  for (const point of points) {
    signal.throwIfAborted();
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
