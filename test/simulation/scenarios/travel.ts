/** Going back on purpose. */
import { callOf } from '../kinds/calls.ts';
import { chain, input, scenario } from './scenario.ts';

const plan = { isWhole: true, redoes: true };

const ask = { op: 'ask', breaksOff: 0, onFailure: 'note' } as const;

export const travelScenarios = [
  scenario('a finished run is taken back to its beginning', chain([callOf('put')], [callOf('pay')], [callOf('look')]), {
    plan,
    actions: [input(), { does: 'go_back', id: 'back1', afterMs: 600 }],
  }),
  scenario(
    'a run is taken back, and then to where that led',
    chain([callOf('put')], [callOf('pay')], [callOf('look')]),
    {
      plan,
      actions: [
        input(),
        { does: 'go_back', id: 'back1', afterMs: 600 },
        { does: 'go_back', id: 'back2', afterMs: 1_800, again: true },
        { does: 'go_back', id: 'back3', afterMs: 3_000, again: true },
      ],
    },
  ),
  scenario('forks of where going back led', chain([ask, callOf('put')], [callOf('pay')], [callOf('ship')]), {
    plan,
    actions: [
      input(),
      { does: 'go_back', id: 'back1', afterMs: 600 },
      { does: 'fork', id: 'fork1', back: 0, choice: 'reuse', afterMs: 602 },
      { does: 'fork', id: 'fork2', back: 3, choice: 'reuse', afterMs: 1_800 },
    ],
  }),
  scenario(
    'a run that waits is taken back',
    chain([callOf('ship'), callOf('pay', { ask: 'allow' })], [callOf('put')]),
    {
      plan,
      actions: [input(), { does: 'go_back', id: 'back1', afterMs: 12 }],
    },
  ),
  scenario(
    'a run is taken back while it runs',
    chain([callOf('pay'), callOf('look')], [callOf('pay')], [callOf('put')]),
    {
      plan,
      actions: [input(), { does: 'go_back', id: 'back1', afterMs: 0, atOperation: 34 }],
    },
  ),
  scenario(
    'the state is edited while a person is asked, and again after the end',
    chain([callOf('ship'), callOf('pay', { ask: 'allow' })], [callOf('put')]),
    {
      plan,
      actions: [
        input(),
        { does: 'edit', id: 'edit1', afterMs: 14 },
        { does: 'edit', id: 'edit2', afterMs: 9_000 },
        input('in2', { afterMs: 9_500 }),
      ],
    },
  ),
  scenario(
    'an edit, and a loss of the whole state behind it',
    chain([callOf('pay', { ask: 'allow' })], [callOf('look')], [callOf('put')]),
    {
      plan,
      actions: [input(), { does: 'edit', id: 'edit1', afterMs: 14 }],
      faults: [{ at: 96, fault: { kind: 'crash', side: 'before', spoils: 'lose', of: 'all_states' } }],
    },
  ),
  scenario('the state is edited while a step runs', chain([callOf('pay'), callOf('look')], [callOf('put')]), {
    plan,
    actions: [input(), { does: 'edit', id: 'edit1', afterMs: 0, atOperation: 26 }],
  }),
];
