/** Nodes that break by themselves. */
import type { OpKind } from '../plan/plan.ts';

export interface FlakyOp {
  readonly op: 'flaky';
  readonly times: number;
  readonly how: 'throw' | 'hang';
}

export const flaky: OpKind<FlakyOp> = {
  weight: 1,
  invent: (dice) => ({ op: 'flaky', times: dice.between(1, 2), how: dice.percent(80) ? 'throw' : 'hang' }),
  async run({ times, how }, { place, mood }) {
    if (!mood.breaks(place, times)) return;
    if (how === 'throw') throw new Error(`${place} broke.`);
    await new Promise(() => undefined);
  },
};

/** Throws on every run: the node's retries are spent, and the run fails. */
export interface HopelessOp {
  readonly op: 'hopeless';
}

export const hopeless: OpKind<HopelessOp> = {
  weight: 0,
  invent: () => ({ op: 'hopeless' }),
  async run(_, { place }) {
    throw new Error(`${place} is hopeless.`);
  },
};

/** Takes its process away on every run. */
export interface PoisonOp {
  readonly op: 'poison';
}

export const poison: OpKind<PoisonOp> = {
  weight: 0,
  invent: () => ({ op: 'poison' }),
  run: (_, { place, mood }) => mood.kill(place),
};
