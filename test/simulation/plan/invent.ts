/** A plan from a seed. */
import { inventOp, type Op } from '../kinds/table.ts';
import type { Dice } from '../world/dice.ts';
import { inventExit } from './exits.ts';
import type { Plan, PlanNode } from './plan.ts';

/** Most worlds are small, of one thing or two: that many of them are lived through finds more than a few large ones. */
export type Size = 'small' | 'large';

export function inventPlan(dice: Dice, size: Size): Plan {
  const isSmall = size === 'small';
  const count = isSmall ? dice.pick([1, 1, 1, 1, 2]) : dice.pick([1, 1, 2, 2, 3]);
  const loopAt = dice.percent(isSmall ? 3 : 16) ? dice.below(count) : -1;
  const hopelessAt = dice.percent(4) ? dice.below(count) : -1;
  const nodes = Array.from({ length: count }, (_, index): PlanNode => {
    const ops: Op[] = Array.from({ length: isSmall ? 1 : dice.pick([1, 1, 2, 2]) }, () => inventOp(dice));
    if (index === hopelessAt) ops.push({ op: 'hopeless' });
    const exit = inventExit(dice, index, count, index === loopAt);
    return { name: `n${index}`, ops, exit, ...(dice.percent(10) && { critical: true }) };
  });
  return {
    nodes,
    maxSteps: dice.percent(5) ? 3 : 50,
    snapshotEvery: dice.pick([3, 5, 32]),
    durability: dice.percent(25) ? 'relaxed' : 'strict',
    maxResumes: 40,
  };
}
