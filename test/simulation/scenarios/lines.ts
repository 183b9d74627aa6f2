/** Lines side by side, lists, and graphs inside of graphs. */
import { callOf } from '../kinds/calls.ts';
import type { ForkExit } from '../plan/exits.ts';
import { node, scenario } from './scenario.ts';

const plan = { isWhole: true };
const fork = (nodes: readonly string[], join: string | null, more: Partial<ForkExit> = {}): ForkExit => ({
  to: 'fork',
  lines: nodes.map((name) => ({ node: name })),
  join,
  failures: 'stop',
  ...more,
});
const list = (at: string, items: readonly string[], join: string | null, more: Partial<ForkExit> = {}): ForkExit =>
  fork([], join, { lines: items.map((item) => ({ node: at, item })), ...more });
const ask = { op: 'ask', breaksOff: 0, onFailure: 'note' } as const;

export const lineScenarios = [
  scenario(
    'three lines, the first of them the slowest',
    [
      node('n0', [{ op: 'add', by: 1 }], fork(['a', 'b', 'c'], 'z')),
      node('a', [callOf('pay', { behaves: ['slow'] })]),
      node('b', [callOf('put')], { to: 'node', node: 'b2' }),
      node('b2', [ask]),
      node('c', [{ op: 'add', by: 3 }]),
      node('z', [{ op: 'recall', count: 4 }]),
    ],
    { plan },
  ),
  scenario(
    'a list with a limit, whose items fail behind a call',
    [
      node('n0', [], list('i', ['x', 'y', 'w'], 'z', { failures: 'collect', limit: 2 })),
      {
        ...node('i', [callOf('ship'), callOf('pay', { behaves: ['refuse_for_good'], onFailure: 'throw' })]),
        takesItem: true,
      },
      node('z', [{ op: 'failed_lines' }, { op: 'recall', count: 3 }]),
    ],
    { plan },
  ),
  scenario(
    'a line that fails, and stops the run behind the others',
    [
      node('n0', [{ op: 'add', by: 2 }], fork(['a', 'b'], 'z')),
      node('a', [{ op: 'hopeless' }]),
      node('b', [callOf('put')], { to: 'node', node: 'b2' }),
      node('b2', [callOf('pay', { ask: 'allow' })]),
      node('z', [callOf('look')]),
    ],
    { plan },
  ),
  scenario(
    'a fork inside of a fork',
    [
      node('n0', [], fork(['a', 'b'], 'z')),
      node('a', [callOf('look')], fork(['c', 'd'], 'e')),
      node('b', [callOf('pay', { behaves: ['lost'] })]),
      node('c', [callOf('put', { behaves: ['slow'] })]),
      node('d', [{ op: 'add', by: 4 }]),
      node('e', [{ op: 'recall', count: 2 }]),
      node('z', [{ op: 'recall', count: 5 }]),
    ],
    { plan },
  ),
  scenario(
    'a graph inside of a graph, and lines inside of that',
    [
      {
        ...node('g', [], { to: 'node', node: 'z' }),
        graph: [
          node('g0', [callOf('look')], fork(['ga', 'gb'], 'g1')),
          node('ga', [callOf('put')]),
          node('gb', [ask]),
          node('g1', [callOf('pay')]),
        ],
      },
      node('z', [{ op: 'recall', count: 3 }]),
    ],
    { plan },
  ),
  scenario(
    'lines that wait, each for its own',
    [
      node('n0', [], fork(['a', 'b', 'c'], 'z')),
      node('a', [{ op: 'question', replies: ['ok'] }]),
      node('b', [callOf('pay', { ask: 'allow' })]),
      node('c', [{ op: 'sleep', forMs: 700 }], { to: 'node', node: 'c2' }),
      node('c2', [callOf('put')]),
      node('z', [{ op: 'recall', count: 3 }]),
    ],
    { plan },
  ),
  scenario(
    'a fork without lines that go on',
    [node('n0', [], fork(['a', 'b'], null)), node('a', [ask]), node('b', [callOf('mail')])],
    {
      plan,
    },
  ),
];
