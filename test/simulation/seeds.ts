/** The world of a seed: a plan, what is sent, and what goes wrong. */
import { callOf } from './kinds/calls.ts';
import { inventPlan, type Size } from './plan/invent.ts';
import { inventFamily, inventNews, inventTidying } from './plan/invent-families.ts';
import type { Plan } from './plan/plan.ts';
import { run, type Verdict } from './run.ts';
import type { ClientAction } from './world/client.ts';
import { Dice } from './world/dice.ts';
import { inventTroubles, Troubles } from './world/trouble.ts';

export async function runSeed(seed: number, keepsLines = false): Promise<Verdict> {
  const dice = new Dice(Math.imul(seed, 0x9e3779b1));
  const size: Size = dice.percent(92) ? 'small' : 'large';
  const isFamily = dice.percent(40);
  const plan = isFamily ? inventFamily(dice.fork(), size) : dice.percent(2) ? poisoned : inventPlan(dice.fork(), size);
  const { due, hasJumps } = inventTroubles(dice.fork(), size);
  const news = isFamily ? inventNews(dice.fork(), plan, size) : [];
  const actions = [...inventActions(dice.fork(), size), ...news];
  const deletion = due.find(({ fault }) => fault.kind === 'delete');
  const after: ClientAction[] =
    deletion === undefined ? [] : [{ does: 'send', input: 'in9', afterMs: 0, atOperation: deletion.at + 3 }];
  return run({
    seed,
    plan,
    actions: [...actions, ...after],
    trouble: new Troubles(due),
    keepsLines,
    closesAlways: hasJumps,
    isOfTwoMinds: dice.percent(30),
    hasRing: dice.percent(80),
  });
}

const poisoned: Plan = {
  nodes: [{ name: 'n0', ops: [callOf('put'), { op: 'poison' }], exit: { to: 'end' } }],
  maxSteps: 50,
  snapshotEvery: 32,
  durability: 'strict',
  maxResumes: 3,
};

function inventActions(dice: Dice, size: Size): readonly ClientAction[] {
  const actions: ClientAction[] = [
    {
      does: 'send',
      input: 'in1',
      afterMs: dice.below(5),
      total: dice.below(3),
      twice: dice.percent(15),
      ...(dice.percent(5) && { big: 'z'.repeat(5_000) }),
    },
  ];
  const share = size === 'small' ? 4 : 12;
  if (dice.percent(share))
    actions.push({ does: 'send', input: 'in2', afterMs: dice.between(0, 400), twice: dice.percent(15) });
  if (dice.percent(share))
    actions.push({
      does: 'cancel',
      id: 'cancel1',
      afterMs: 0,
      atOperation: dice.between(12, size === 'small' ? 40 : 90),
      twice: dice.percent(20),
    });
  if (dice.percent(share)) actions.push(inventTidying(dice));
  if (dice.percent(share / 2))
    actions.push({ does: 'send', input: 'in3', afterMs: 0, atOperation: dice.between(12, 90) });
  return actions;
}
