/** Every place at which the process of a scenario can die, one after the other, each with a second death while it recovers. */
import { run, type Verdict } from './run.ts';
import type { Scenario } from './scenarios/scenario.ts';
import { Dice } from './world/dice.ts';
import type { Interruption, Life, Operation } from './world/life.ts';
import { type Side, Troubles } from './world/trouble.ts';
import type { Trouble, World } from './world/world.ts';

export interface CrashPoint {
  readonly at: number;
  /** `sent`: the request is on its way when its sender dies. For calls to the outside only. */
  readonly side: Side;
}

/** The scenario's own troubles, and the crashes that are tried. Only the operations before the first crash are as they always are. */
class Cuts implements Trouble {
  readonly #own: Troubles;
  readonly #points: readonly CrashPoint[];
  readonly kinds: Operation['kind'][] = [];
  met = 0;

  constructor(scenario: Scenario, points: readonly CrashPoint[]) {
    this.#own = new Troubles(scenario.faults);
    this.#points = points;
  }

  meet(world: World, life: Life, operation: Operation, number: number): Interruption | undefined {
    this.kinds.push(operation.kind);
    const point = this.#points[this.met];
    const isMet = point !== undefined && number >= point.at;
    if (isMet) this.met += 1; // first: a trouble that starts a process has operations met in between
    const own = this.#own.meet(world, life, operation, number);
    if (!isMet) return own;
    world.counts.crashes += 1;
    const isCall = operation.kind === 'outside';
    if (point.side === 'sent' && isCall) world.outside.nextWayMs = world.dice.between(20, 3_000);
    const side = point.side === 'sent' && !isCall ? 'after' : point.side;
    return {
      ...own,
      [side]: () => {
        own?.[side]?.();
        world.met.crash(operation, world.watch.isRecovering(life), side !== 'before');
        world.kill(life);
      },
    };
  }
}

export interface Tried {
  readonly scenario: Scenario;
  readonly points: readonly CrashPoint[];
  readonly met: number;
  readonly verdict: Verdict;
}

export async function tryPoints(
  scenario: Scenario,
  points: readonly CrashPoint[],
  keepsLines = false,
): Promise<Tried & { readonly kinds: readonly Operation['kind'][] }> {
  const cuts = new Cuts(scenario, points);
  const { plan, actions, version, closesAlways, isOfTwoMinds } = scenario;
  const verdict = await run({ seed: 1, plan, actions, trouble: cuts, version, closesAlways, isOfTwoMinds, keepsLines });
  return { scenario, points, met: cuts.met, verdict, kinds: cuts.kinds };
}

/** The crash points of an undisturbed run. */
export async function pointsOf(
  scenario: Scenario,
): Promise<{ readonly points: readonly CrashPoint[]; readonly undisturbed: Tried }> {
  const undisturbed = await tryPoints(scenario, []);
  const points = undisturbed.kinds.flatMap((kind, index): CrashPoint[] => {
    const at = index + 1;
    const sides: readonly Side[] = kind === 'outside' ? ['before', 'sent', 'after'] : ['before', 'after'];
    return sides.map((side) => ({ at, side }));
  });
  return { points, undisturbed };
}

/** A second death at a place of the recovery that the first one decides. */
export function secondAfter(first: CrashPoint, seed: number): CrashPoint {
  const dice = new Dice(Math.imul(first.at * 3 + first.side.length, 0x9e3779b1) ^ seed);
  return { at: first.at + dice.between(1, 40), side: dice.pick<Side>(['before', 'sent', 'after']) };
}

export function nameOf({ scenario, points }: Pick<Tried, 'scenario' | 'points'>): string {
  const cuts = points.map(({ at, side }) => `${side} operation ${at}`).join(', then ');
  return `"${scenario.name}", cut ${cuts === '' ? 'nowhere' : cuts}`;
}
