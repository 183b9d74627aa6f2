/** A plan from a seed. */
import { inventOp, type Op } from '../kinds/table.ts';
import type { Dice } from '../world/dice.ts';
import { inventExit } from './exits.ts';
import type { Plan, PlanNode } from './plan.ts';

export function inventPlan(dice: Dice): Plan {
  const count = dice.pick([1, 1, 1, 1, 2, 2, 3]); // many small worlds find more than few large ones
  const loopAt = dice.percent(16) ? dice.below(count) : -1;
  const hopelessAt = dice.percent(4) ? dice.below(count) : -1;
  const nodes = Array.from({ length: count }, (_, index): PlanNode => {
    const ops: Op[] = Array.from({ length: dice.pick([1, 1, 1, 2, 2]) }, () => inventOp(dice));
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
