/** Steps, models, loops, waits, inputs, cancels and failures. */
import { callOf } from '../kinds/calls.ts';
import { chain, input, node, scenario } from './scenario.ts';

const ask = { op: 'ask', breaksOff: 0, onFailure: 'note' } as const;

export const flowScenarios = [
  scenario('a model whose answer decides the way', [
    node('n0', [ask], { to: 'branch', even: 'n1', odd: 'n2' }),
    node('n1', [callOf('put')]),
    node('n2', [callOf('look')]),
  ]),
  scenario('a model that breaks off twice', chain([{ ...ask, breaksOff: 2 }], [callOf('put')])),
  scenario('a model that never ends', chain([{ ...ask, breaksOff: 9 }])),
  scenario('a loop with a model and a call', [
    node('n0', [ask], { to: 'node', node: 'n1' }),
    node('n1', [callOf('put', { reads: true })], { to: 'loop', times: 3, body: 'n0', after: null }),
  ]),
  scenario('an edge that reads the state', [
    node('n0', [{ op: 'add', by: 3 }], { to: 'edge', even: null, odd: 'n1' }),
    node(
      'n1',
      [
        { op: 'add', by: 2 },
        { op: 'recall', count: 1 },
      ],
      { to: 'edge', even: null, odd: null },
    ),
  ]),
  scenario('an approval that is given', chain([callOf('put'), callOf('pay', { ask: 'allow' })], [callOf('look')])),
  scenario('an approval that is denied', chain([callOf('pay', { ask: 'deny' }), callOf('put')])),
  scenario('an approval with other arguments', chain([callOf('mail', { ask: 'edit', reads: true })])),
  scenario(
    'an approval for the rest of the thread',
    chain([callOf('pay', { ask: 'for_thread' })], [callOf('pay', { ask: 'for_thread' })]),
  ),
  scenario('an approval that nobody gives', chain([callOf('put', { ask: 'ignore' })])),
  scenario(
    'two approvals at once, from two tabs of two minds',
    chain([{ op: 'all', items: [callOf('pay', { ask: 'allow' }), callOf('put', { ask: 'deny' })] }]),
    {
      isOfTwoMinds: true,
    },
  ),
  scenario('an input that is sent twice, and another behind it', chain([callOf('put')]), {
    actions: [input('in1', { twice: true, total: 2 }), input('in2', { afterMs: 3 })],
  }),
  scenario('a cancel in the middle', chain([callOf('put')], [callOf('pay', { ask: 'allow' })], [callOf('look')]), {
    actions: [input(), { does: 'cancel', id: 'cancel1', afterMs: 5, twice: true }],
  }),
  scenario('a cancel, and an input after it', chain([callOf('pay', { ask: 'ignore' })]), {
    actions: [
      input(),
      { does: 'cancel', id: 'cancel1', afterMs: 40 },
      input('in2', { afterMs: 200 }),
      { does: 'cancel', id: 'cancel2', afterMs: 900 },
    ],
  }),
  scenario(
    'a cancel behind the answer of a model, while a person is asked',
    chain([ask, callOf('pay', { ask: 'ignore' })]),
    {
      actions: [input(), { does: 'cancel', id: 'cancel1', afterMs: 3_000 }],
    },
  ),
  scenario(
    'a node that breaks twice',
    chain([callOf('put'), { op: 'flaky', times: 2, how: 'throw' }], [callOf('look')]),
  ),
  scenario('a node that hangs once', chain([callOf('pay'), { op: 'flaky', times: 1, how: 'hang' }])),
  scenario('a node that always breaks, and an input behind it', chain([callOf('put'), { op: 'hopeless' }]), {
    actions: [input(), input('in2', { afterMs: 30 })],
  }),
  scenario(
    'a node that throws what a call threw',
    chain([callOf('pay', { behaves: ['refuse_for_good'], onFailure: 'throw' })]),
  ),
  scenario('the step limit', [node('n0', [{ op: 'add', by: 1 }], { to: 'loop', times: 9, body: 'n0', after: null })], {
    plan: { maxSteps: 3 },
  }),
  scenario(
    'deltas and snapshots over many steps',
    [
      node(
        'n0',
        [
          { op: 'add', by: 1 },
          { op: 'recall', count: 2 },
        ],
        { to: 'loop', times: 8, body: 'n0', after: null },
      ),
    ],
    {
      plan: { snapshotEvery: 3 },
    },
  ),
  scenario(
    'steps that are committed relaxed',
    chain([callOf('look')], [{ op: 'add', by: 1 }], [callOf('pay')], [{ op: 'add', by: 1 }]),
    {
      plan: { durability: 'relaxed' },
    },
  ),
  scenario('a critical node', [
    node('n0', [callOf('look')], { to: 'node', node: 'n1' }, true),
    node('n1', [callOf('put')]),
  ]),
];
