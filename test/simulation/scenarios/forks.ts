/** New threads that are made of a checkpoint. */
import { callOf } from '../kinds/calls.ts';
import type { ClientAction } from '../world/client.ts';
import type { ForkAction } from '../world/forks.ts';
import { chain, compact, input, node, scenario } from './scenario.ts';

type At = Pick<ClientAction, 'afterMs' | 'atOperation'>;

const ask = { op: 'ask', breaksOff: 0, onFailure: 'note' } as const;
const fork = (at: At, more: Partial<ForkAction> = {}): ClientAction => ({
  does: 'fork',
  id: 'fork1',
  back: 0,
  choice: 'reuse',
  ...at,
  ...more,
});

export const forkScenarios = [
  scenario(
    'a fork of a step in the middle of its calls, with their results',
    chain([callOf('pay'), ask, callOf('put', { behaves: ['slow'] }), callOf('ship')], [callOf('pay')]),
    { actions: [input(), fork({ afterMs: 1_000 })] },
  ),
  scenario(
    'a fork that is made twice with one id, of large values, whose calls are made again',
    chain([callOf('pay', { size: 6_000 }), { op: 'big', letter: 'a' }], [callOf('ship')], [callOf('put')]),
    {
      actions: [
        input('in1', { big: 'z'.repeat(5_000) }),
        fork({ afterMs: 400 }, { back: 2, choice: 'redo', edits: true, twice: true }),
      ],
    },
  ),
  scenario(
    'a fork of a thread that waits, and one from behind a grant after its end',
    chain([callOf('pay', { ask: 'for_thread' })], [callOf('pay', { ask: 'for_thread' })]),
    {
      actions: [input(), fork({ afterMs: 40 }), fork({ afterMs: 9_000 }, { id: 'fork2', back: 1, choice: 'redo' })],
    },
  ),
  scenario(
    'a fork from among lines',
    [
      node('n0', [], { to: 'fork', lines: [{ node: 'a' }, { node: 'b' }], join: 'z', failures: 'stop' }),
      node('a', [callOf('pay')]),
      node('b', [callOf('ship'), { op: 'question', replies: ['ok'] }]),
      node('z', [{ op: 'recall', count: 4 }]),
    ],
    { plan: { isWhole: true }, actions: [input(), fork({ afterMs: 60 })] },
  ),
  scenario(
    'a fork of a thread that is compacted while it is made, and after it',
    chain(
      [callOf('put', { size: 6_000 }), { op: 'big', letter: 'a' }],
      [callOf('look')],
      [callOf('pay')],
      [callOf('ship')],
    ),
    {
      plan: { snapshotEvery: 3 },
      actions: [
        input(),
        fork({ afterMs: 600 }, { back: 3, twice: true }),
        compact(600, 1),
        compact(2_000, 1, 'compact2'),
        fork({ afterMs: 3_000 }, { id: 'fork2', back: 2 }),
      ],
    },
  ),
  scenario(
    'a fork that older code is asked for, of what newer code left',
    chain([callOf('put')], [callOf('pay', { ask: 'allow' })]),
    {
      plan: { migrates: true },
      version: 2,
      faults: [{ at: 42, fault: { kind: 'older_code' } }],
      actions: [input(), fork({ afterMs: 900 })],
    },
  ),
];
