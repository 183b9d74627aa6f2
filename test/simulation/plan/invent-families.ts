/** Plans of the families that are judged run by run: lines, waits, limits and policies, from a seed. */
import { callOf } from '../kinds/calls.ts';
import { inventOp, type Op } from '../kinds/table.ts';
import { eventNames } from '../kinds/waits.ts';
import type { ClientAction } from '../world/client.ts';
import type { Dice } from '../world/dice.ts';
import type { ForkExit } from './exits.ts';
import type { Size } from './invent.ts';
import type { Plan, PlanNode } from './plan.ts';

type Family = Pick<Plan, 'nodes'> & Partial<Plan>;

type Invent = (dice: Dice, size: Size) => Family;

/** Parents have two threads and more, and cost as many times the time of the others. */
const others: readonly [Invent, ...Invent[]] = [lines, list, graph, straight, policy, limited];

export function inventFamily(dice: Dice, size: Size): Plan {
  return {
    maxSteps: 50,
    snapshotEvery: dice.pick([3, 5, 32]),
    durability: dice.percent(25) ? 'relaxed' : 'strict',
    maxResumes: 40,
    isWhole: true,
    ...(dice.percent(8) ? parent : dice.pick(others))(dice, size),
  };
}

/** What comes from outside beside the inputs. */
export function inventNews(dice: Dice, { limits }: Plan, size: Size): readonly ClientAction[] {
  const news: ClientAction[] = [];
  for (let index = 1; index <= (size === 'small' ? dice.pick([0, 1, 1]) : dice.pick([0, 1, 2, 3])); index += 1) {
    const at = { afterMs: dice.pick([1, 30, 300, 2_000]), twice: dice.percent(20) };
    news.push({ does: 'signal', id: `ev${index}`, event: dice.pick(eventNames), ...at });
  }
  const share = size === 'small' ? 7 : 20;
  if (dice.percent(share)) news.push({ does: 'go_offline', afterMs: dice.below(20), forMs: dice.pick([100, 4_000]) });
  const policy = dice.pick(['roll_back', 'interrupt', 'reject'] as const);
  if (dice.percent(share)) news.push({ does: 'send', input: 'in4', afterMs: dice.between(2, 400), policy });
  if (dice.percent(share)) news.push(inventTidying(dice));
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

function ops(dice: Dice, size: Size): readonly Op[] {
  return Array.from({ length: size === 'small' ? 1 : dice.pick([1, 1, 2]) }, () =>
    dice.percent(35) ? waitOp(dice) : inventOp(dice),
  );
}

function waitOp(dice: Dice): Op {
  return dice.pick<Op>([
    { op: 'question', replies: dice.pick<readonly (string | null)[]>([['ok'], ['no', 'ok'], [null]]) },
    { op: 'event', name: dice.pick(eventNames), expiresMs: dice.pick([300, 4_000]) },
    { op: 'sleep', forMs: dice.pick([0, 40, 3_000]) },
    { op: 'online' },
  ]);
}

function node(dice: Dice, size: Size, name: string, exit: PlanNode['exit'] = { to: 'end' }): PlanNode {
  const hopeless: readonly Op[] = dice.percent(8) ? [{ op: 'hopeless' }] : [];
  return { name, ops: [...ops(dice, size), ...hopeless], exit };
}

/** Does nothing but lead on. */
const bare = (name: string, exit: PlanNode['exit']): PlanNode => ({ name, ops: [], exit });

const join = (dice: Dice, size: Size): PlanNode => ({
  name: 'z',
  ops: [{ op: 'failed_lines' }, ...(size === 'small' ? [] : ops(dice, size))],
  exit: { to: 'end' },
});

function forkTo(dice: Dice, lines: ForkExit['lines'], to: string): ForkExit {
  const failures = dice.pick(['stop', 'collect'] as const);
  const join = dice.percent(80) ? to : null;
  return {
    to: 'fork',
    lines,
    join,
    failures: join === null ? 'stop' : failures, // what is collected needs a node that finds it
    ...(dice.percent(30) && { limit: dice.pick([1, 2]) }),
  };
}

function lines(dice: Dice, size: Size): Family {
  const isSmall = size === 'small';
  const names = ['a', 'b', 'c'].slice(0, isSmall ? 2 : dice.between(2, 3));
  const forks = forkTo(
    dice,
    names.map((name) => ({ node: name })),
    'z',
  );
  if (isSmall) return { nodes: [bare('n0', forks), ...names.map((name) => node(dice, size, name)), join(dice, size)] };
  const first = dice.percent(30)
    ? node(dice, size, 'a', forkTo(dice, [{ node: 'x' }, { node: 'y' }], 'w'))
    : node(dice, size, 'a', { to: 'node', node: 'w' });
  return {
    nodes: [
      node(dice, size, 'n0', forks),
      first,
      ...names.slice(1).map((name) => node(dice, size, name)),
      ...['w', 'x', 'y'].map((name) => node(dice, size, name)),
      join(dice, size),
    ],
  };
}

function list(dice: Dice, size: Size): Family {
  const isSmall = size === 'small';
  const items = ['p', 'q', 'r'].slice(0, dice.between(1, isSmall ? 2 : 3)).map((item) => ({ node: 'i', item }));
  const forks = forkTo(dice, items, 'z');
  const begin = isSmall ? bare('n0', forks) : node(dice, size, 'n0', forks);
  return { nodes: [begin, { ...node(dice, size, 'i'), takesItem: true }, join(dice, size)] };
}

function graph(dice: Dice, size: Size): Family {
  const isSmall = size === 'small';
  const onward = { to: 'node', node: 'g1' } as const;
  const exit = dice.percent(50) ? onward : forkTo(dice, [{ node: 'g1' }, { node: 'g2' }], 'g3');
  const begin = isSmall ? bare('g0', exit) : node(dice, size, 'g0', exit);
  const inner = [begin, ...['g1', 'g2', 'g3'].map((name) => node(dice, size, name))];
  const last = isSmall ? bare('z', { to: 'end' }) : node(dice, size, 'z');
  return { nodes: [{ ...bare('g', { to: 'node', node: 'z' }), graph: inner }, last] };
}

function straight(dice: Dice, size: Size): Family {
  if (size === 'small') return { nodes: [{ name: 'n0', ops: [waitOp(dice)], exit: { to: 'end' } }] };
  return { nodes: [node(dice, size, 'n0', { to: 'node', node: 'n1' }), node(dice, size, 'n1')] };
}

function policy(dice: Dice, size: Size): Family {
  const onward = { to: 'edge', even: 'n2', odd: 'n2' } as const;
  const failing: PlanNode = {
    name: 'n1',
    ops: [callOf(dice.pick(['look', 'put', 'pay'])), { op: 'hopeless' }],
    exit: onward,
  };
  const update = { total: 7 };
  const rule = dice.pick<NonNullable<Plan['policy']>[number]>([
    { action: 'skip', node: 'n1' },
    { action: 'default', node: 'n1', update },
    { action: 'ask', node: 'n1' },
  ]);
  const nodes =
    size === 'small'
      ? [failing, bare('n2', { to: 'end' })]
      : [node(dice, size, 'n0', { to: 'node', node: 'n1' }), failing, node(dice, size, 'n2')];
  return { nodes, policy: [rule], policyAnswer: dice.pick(['skip', 'stop']) };
}

function limited(dice: Dice, size: Size): Family {
  const isSmall = size === 'small';
  const ask: Op = { op: 'ask', breaksOff: 0, onFailure: 'note' };
  const names = isSmall ? ['n0', 'n1'] : ['n0', 'n1', 'n2'];
  const nodes = names.map((name, index): PlanNode => {
    return {
      name,
      ops: [ask, ...(isSmall ? [] : ops(dice, size))],
      exit: index === names.length - 1 ? { to: 'end' } : { to: 'node', node: `n${index + 1}` },
    };
  });
  const tokens = dice.pick(isSmall ? [3, 5] : [3, 8]);
  return { nodes, limits: dice.percent(60) ? { tokens } : { runMs: dice.pick([200, 3_000]) } };
}

/** Children of one step or two, which do anything that a node does but wait for an event: those go to the parent. */
function parent(dice: Dice, size: Size): Family {
  const start: Op = dice.percent(60) ? { op: 'child' } : { op: 'children', count: dice.pick([2, 3]) };
  const first = size === 'small' ? [start] : [...ops(dice, size), start];
  const own = (name: string, exit: PlanNode['exit']): PlanNode => ({ name, ops: [inventOp(dice)], exit });
  const nodes = dice.percent(70)
    ? [own('c0', { to: 'end' })]
    : [own('c0', { to: 'node', node: 'c1' }), own('c1', { to: 'end' })];
  const child: Plan = { nodes, maxSteps: 50, snapshotEvery: 32, durability: 'strict', maxResumes: 40 };
  if (size === 'small') return { nodes: [{ name: 'n0', ops: first, exit: { to: 'end' } }], child };
  return { nodes: [{ name: 'n0', ops: first, exit: { to: 'node', node: 'n1' } }, node(dice, size, 'n1')], child };
}
