/** What is asked of the simulator, and what it answers: apart from it, so that whoever starts its processes need not load it. */
import type { World } from './world/world.ts';

export interface Order {
  readonly seeds: number;
  readonly firstSeed: number;
  /** False: only the seeds. */
  readonly withScenarios: boolean;
  /** One in so many crash points is met once more, with a second crash during the recovery; 0 for none. */
  readonly secondEvery: number;
  /** Every second scenario is tried at one in so many of its crash points; the others at all. */
  readonly pointEvery: number;
  /** Only scenarios whose name holds this. */
  readonly only?: string | undefined;
  /** Which of so many equal parts of all this is to be done here, from 0. */
  readonly part: number;
  readonly parts: number;
}

/** How a fixed scenario went. */
export interface ScenarioFigures {
  readonly name: string;
  readonly covered: number;
  readonly total: number;
  readonly broken: readonly string[];
}

export interface SeedFigures {
  readonly seed: number;
  /** Of its trace. */
  readonly digest: string;
  readonly broken: readonly string[];
}

export type Told =
  | { readonly line: string }
  | { readonly scenario: ScenarioFigures }
  | { readonly seed: SeedFigures }
  | { readonly figures: Figures };

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
  /** For one core, by the time that it worked. */
  readonly seedsPerSecond: number;
  readonly operations: number;
  readonly faults: Omit<World['counts'], 'operations' | 'crashes'>;
  /** Violations by the rule that they went against. */
  readonly byRule: Readonly<Record<string, number>>;
  /** What of PROTOCOL 10 came to pass, and how often: in all worlds, and in those of random seeds alone. */
  readonly met: Readonly<Record<string, number>>;
  readonly metBySeeds: Readonly<Record<string, number>>;
}

/** Of all parts together. */
export function sumOf(figures: readonly Figures[]): Figures {
  const sum: Record<string, unknown> = {};
  for (const each of figures) add(sum, each as unknown as Readonly<Record<string, unknown>>);
  const failingSeeds = figures.flatMap((each) => each.failingSeeds).sort((a, b) => a - b);
  const measured = figures.filter(({ seeds }) => seeds > 0);
  const speed = measured.reduce((total, { seedsPerSecond }) => total + seedsPerSecond, 0);
  return {
    ...(sum as unknown as Figures),
    failingSeeds,
    seedsPerSecond: measured.length === 0 ? 0 : Math.round(speed / measured.length),
  };
}

function add(sum: Record<string, unknown>, more: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(more)) {
    if (typeof value === 'number') sum[name] = ((sum[name] as number | undefined) ?? 0) + value;
    else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const inner = (sum[name] ?? {}) as Record<string, unknown>;
      sum[name] = inner;
      add(inner, value as Readonly<Record<string, unknown>>);
    }
  }
}
