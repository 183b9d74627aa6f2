/** Plans of the families that are judged run by run: lines, waits, limits and policies, from a seed. */
import { callOf } from '../kinds/calls.ts';
import { inventOp, type Op } from '../kinds/table.ts';
import { eventNames } from '../kinds/waits.ts';
import type { ClientAction } from '../world/client.ts';
import type { Dice } from '../world/dice.ts';
import type { ForkExit } from './exits.ts';
import type { Plan, PlanNode } from './plan.ts';

type Family = Pick<Plan, 'nodes'> & Partial<Plan>;

const families: readonly [(dice: Dice) => Family, ...((dice: Dice) => Family)[]] = [
  lines,
  list,
  graph,
  straight,
  policy,
  limited,
];

export function inventFamily(dice: Dice): Plan {
  return {
    maxSteps: 50,
    snapshotEvery: dice.pick([3, 5, 32]),
    durability: dice.percent(25) ? 'relaxed' : 'strict',
    maxResumes: 40,
    isWhole: true,
    ...dice.pick(families)(dice),
  };
}

/** What comes from outside beside the inputs. */
export function inventNews(dice: Dice, { limits }: Plan): readonly ClientAction[] {
  const news: ClientAction[] = [];
  for (let index = 1; index <= dice.pick([0, 1, 2, 3]); index += 1) {
    const at = { afterMs: dice.pick([1, 30, 300, 2_000]), twice: dice.percent(20) };
    news.push({ does: 'signal', id: `ev${index}`, event: dice.pick(eventNames), ...at });
  }
  if (dice.percent(15)) news.push({ does: 'go_offline', afterMs: dice.below(20), forMs: dice.pick([100, 4_000]) });
  const policy = dice.pick(['roll_back', 'interrupt', 'reject'] as const);
  if (dice.percent(20)) news.push({ does: 'send', input: 'in4', afterMs: dice.between(2, 400), policy });
  if (dice.percent(20)) news.push(inventTidying(dice));
  if (limits === undefined) return news;
  const more = limits.runMs === undefined ? { tokens: 20 } : { runMs: 86_400_000 };
  return [...news, { does: 'extend', id: 'extend1', limits: more, afterMs: dice.pick([10, 1_000, 9_000]) }];
}

/** Retention at work in the middle of a life. */
export function inventTidying(dice: Dice): ClientAction {
  const at = { afterMs: dice.pick([5, 40, 700, 4_000]), id: 'tidy1', twice: dice.percent(15) };
  if (dice.percent(10)) return { does: 'purge', ...at };
  return { does: 'compact', keepCheckpoints: dice.pick([1, 2, 3]), ...at };
}

function ops(dice: Dice): readonly Op[] {
  return Array.from({ length: dice.pick([1, 1, 2]) }, () => (dice.percent(35) ? waitOp(dice) : inventOp(dice)));
}

function waitOp(dice: Dice): Op {
  return dice.pick<Op>([
    { op: 'question', replies: dice.pick<readonly (string | null)[]>([['ok'], ['no', 'ok'], [null]]) },
    { op: 'event', name: dice.pick(eventNames), expiresMs: dice.pick([300, 4_000]) },
    { op: 'sleep', forMs: dice.pick([0, 40, 3_000]) },
    { op: 'online' },
  ]);
}

function node(dice: Dice, name: string, exit: PlanNode['exit'] = { to: 'end' }): PlanNode {
  const hopeless: readonly Op[] = dice.percent(8) ? [{ op: 'hopeless' }] : [];
  return { name, ops: [...ops(dice), ...hopeless], exit };
}

const join = (dice: Dice): PlanNode => ({
  name: 'z',
  ops: [{ op: 'failed_lines' }, ...ops(dice)],
  exit: { to: 'end' },
});

function forkTo(dice: Dice, lines: ForkExit['lines'], to: string): ForkExit {
  const failures = dice.pick(['stop', 'collect'] as const);
  return {
    to: 'fork',
    lines,
    join: dice.percent(80) ? to : null,
    failures,
    ...(dice.percent(30) && { limit: dice.pick([1, 2]) }),
  };
}

function lines(dice: Dice): Family {
  const names = ['a', 'b', 'c'].slice(0, dice.between(2, 3));
  const inner = dice.percent(30);
  const first = inner
    ? node(dice, 'a', forkTo(dice, [{ node: 'x' }, { node: 'y' }], 'w'))
    : node(dice, 'a', { to: 'node', node: 'w' });
  return {
    nodes: [
      node(
        dice,
        'n0',
        forkTo(
          dice,
          names.map((name) => ({ node: name })),
          'z',
        ),
      ),
      first,
      ...names.slice(1).map((name) => node(dice, name)),
      ...['w', 'x', 'y'].map((name) => node(dice, name)),
      join(dice),
    ],
  };
}

function list(dice: Dice): Family {
  const items = ['p', 'q', 'r'].slice(0, dice.between(1, 3)).map((item) => ({ node: 'i', item }));
  return { nodes: [node(dice, 'n0', forkTo(dice, items, 'z')), { ...node(dice, 'i'), takesItem: true }, join(dice)] };
}

function graph(dice: Dice): Family {
  const inner = [
    node(
      dice,
      'g0',
      dice.percent(50) ? { to: 'node', node: 'g1' } : forkTo(dice, [{ node: 'g1' }, { node: 'g2' }], 'g3'),
    ),
    ...['g1', 'g2', 'g3'].map((name) => node(dice, name)),
  ];
  return { nodes: [{ name: 'g', ops: [], exit: { to: 'node', node: 'z' }, graph: inner }, node(dice, 'z')] };
}

function straight(dice: Dice): Family {
  return { nodes: [node(dice, 'n0', { to: 'node', node: 'n1' }), node(dice, 'n1')] };
}

function policy(dice: Dice): Family {
  const onward = { to: 'edge', even: 'n2', odd: 'n2' } as const;
  const nodes = (last: Op): readonly PlanNode[] => [
    node(dice, 'n0', { to: 'node', node: 'n1' }),
    { name: 'n1', ops: [callOf(dice.pick(['look', 'put', 'pay'])), last], exit: onward },
    node(dice, 'n2'),
  ];
  const update = { total: 7 };
  const rule = dice.pick<NonNullable<Plan['policy']>[number]>([
    { action: 'skip', node: 'n1' },
    { action: 'default', node: 'n1', update },
    { action: 'ask', node: 'n1' },
  ]);
  return { nodes: nodes({ op: 'hopeless' }), policy: [rule], policyAnswer: dice.pick(['skip', 'stop']) };
}

function limited(dice: Dice): Family {
  const ask: Op = { op: 'ask', breaksOff: 0, onFailure: 'note' };
  const nodes = ['n0', 'n1', 'n2'].map((name, index): PlanNode => {
    return {
      name,
      ops: [ask, ...ops(dice)],
      exit: index === 2 ? { to: 'end' } : { to: 'node', node: `n${index + 1}` },
    };
  });
  return { nodes, limits: dice.percent(60) ? { tokens: dice.pick([3, 8]) } : { runMs: dice.pick([200, 3_000]) } };
}
