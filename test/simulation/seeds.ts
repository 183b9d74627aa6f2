/** The world of a seed: a plan, what is sent, and what goes wrong. */
import { callOf } from './kinds/calls.ts';
import type { Op } from './kinds/table.ts';
import { inventPlan, type Size } from './plan/invent.ts';
import { inventFamily, inventNews, inventTidying } from './plan/invent-families.ts';
import type { Plan, PlanNode } from './plan/plan.ts';
import { run, type Verdict } from './run.ts';
import type { ClientAction } from './world/client.ts';
import { Dice } from './world/dice.ts';
import type { ForkAction } from './world/forks.ts';
import { type DueFault, inventTroubles, Troubles } from './world/trouble.ts';

export async function runSeed(seed: number, keepsLines = false): Promise<Verdict> {
  const dice = new Dice(Math.imul(seed, 0x9e3779b1));
  const size: Size = dice.percent(96) ? 'small' : 'large';
  const isFamily = dice.percent(30);
  const invented = isFamily
    ? inventFamily(dice.fork(), size)
    : dice.percent(1)
      ? poisoned
      : inventPlan(dice.fork(), size);
  const { due: troubles, hasJumps } = inventTroubles(dice.fork(), size);
  const { travels, forks, deployments } = inventChanges(dice.fork(), invented);
  const plan: Plan = {
    ...invented,
    ...(deployments.length > 0 && migrating(invented)),
    ...(travels.length > 0 && { isWhole: true, redoes: true }),
    ...(travels.length + forks.length > 0 && { nodes: invented.nodes.map(withoutReads) }),
  };
  const due = [...troubles, ...deployments].sort((a, b) => a.at - b.at);
  const news = [...(isFamily ? inventNews(dice.fork(), plan, size) : []), ...travels, ...forks];
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

/** Code that is replaced replaces that of children as well. */
function migrating({ child }: Plan): Partial<Plan> {
  return { migrates: true, ...(child && { child: { ...child, migrates: true } }) };
}

const poisoned: Plan = {
  nodes: [{ name: 'n0', ops: [callOf('put'), { op: 'poison' }], exit: { to: 'end' } }],
  maxSteps: 50,
  snapshotEvery: 32,
  durability: 'strict',
  maxResumes: 3,
};

/** A result is reused for the same arguments: those of a later time would be another call's. */
function withoutReads(node: PlanNode): PlanNode {
  const still = (op: Op): Op => {
    if (op.op === 'call') return { ...op, reads: false };
    return op.op === 'all' ? { ...op, items: op.items.map(still) } : op;
  };
  return { ...node, ops: node.ops.map(still), ...(node.graph && { graph: node.graph.map(withoutReads) }) };
}

/** What a few worlds have: code that is replaced in mid-life, and a person who goes back, edits the state, or forks the thread. */
function inventChanges(dice: Dice, plan: Plan): Changes {
  const deployments: DueFault[] = [];
  if (dice.percent(7)) {
    const at = dice.between(12, 40);
    deployments.push({ at, fault: { kind: 'newer_code' } });
    if (dice.percent(35)) deployments.push({ at: at + dice.between(6, 25), fault: { kind: 'older_code' } });
  }
  if (plan.policy !== undefined || plan.limits !== undefined) return { travels: [], forks: [], deployments };
  const when = (): Pick<ClientAction, 'afterMs' | 'atOperation'> =>
    dice.percent(50) ? { afterMs: 0, atOperation: dice.between(20, 45) } : { afterMs: dice.pick([8, 30, 700]) };
  if (dice.percent(9)) {
    const travel: ClientAction = { does: dice.pick(['edit', 'edit', 'go_back'] as const), id: 'travel1', ...when() };
    const later = dice.pick([1_500, 2_500, 4_000]);
    const again: ClientAction = { does: 'go_back', id: 'travel2', again: dice.percent(70), afterMs: later };
    return { travels: dice.percent(35) ? [travel, again] : [travel], forks: [], deployments };
  }
  const mayFork = plan.child === undefined && plan !== poisoned;
  return { travels: [], forks: mayFork && dice.percent(7) ? [{ ...inventFork(dice), ...when() }] : [], deployments };
}

interface Changes {
  readonly travels: readonly ClientAction[];
  readonly forks: readonly ClientAction[];
  readonly deployments: readonly DueFault[];
}

function inventFork(dice: Dice): ForkAction {
  return {
    does: 'fork',
    id: 'fork1',
    back: dice.pick([0, 0, 1, 3]),
    choice: dice.percent(75) ? 'reuse' : 'redo',
    edits: dice.percent(15),
    twice: dice.percent(20),
  };
}

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
    actions.push({
      does: 'send',
      input: 'in2',
      afterMs: dice.between(0, 400),
      twice: dice.percent(15),
      policy: dice.pick(['queue', 'queue', 'interrupt', 'roll_back']),
    });
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
