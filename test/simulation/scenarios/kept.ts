/** What is damaged and repaired, and what is taken away because nothing needs it any more. */
import { callOf } from '../kinds/calls.ts';
import type { DueFault } from '../world/trouble.ts';
import { chain, compact, input, node, scenario } from './scenario.ts';

const ask = { op: 'ask', breaksOff: 0, onFailure: 'note' } as const;
const question = { op: 'question', replies: ['ok'] } as const;
const plan = { isWhole: true };
const allLost = (at: number): DueFault => ({
  at,
  fault: { kind: 'crash', side: 'before', spoils: 'lose', of: 'all_states' },
});
const spoiled = (at: number, spoils: 'lose' | 'damage', newest = true): DueFault => ({
  at,
  fault: { kind: 'crash', side: 'before', spoils, of: 'state', newest },
});

export const keptScenarios = [
  scenario(
    'a head that is damaged behind two payments',
    chain([callOf('pay')], [ask, callOf('pay')], [callOf('put')]),
    {
      faults: [spoiled(40, 'damage')],
    },
  ),
  scenario(
    'a head that is lost behind two payments side by side, and an edit before they are found again',
    [
      node('n0', [{ op: 'add', by: 1 }], {
        to: 'fork',
        lines: [{ node: 'a' }, { node: 'b' }],
        join: 'z',
        failures: 'stop',
      }),
      node('a', [callOf('pay')]),
      node('b', [callOf('pay'), callOf('look')]),
      node('z', [callOf('put')]),
    ],
    {
      plan: { ...plan, redoes: true },
      actions: [input(), { does: 'edit', id: 'travel1', afterMs: 5_000, atOperation: 47 }],
      faults: [spoiled(27, 'lose')],
    },
  ),
  scenario(
    'a head that is lost while a person is asked',
    chain([callOf('ship'), ask], [callOf('pay', { ask: 'allow' })]),
    {
      plan,
      faults: [spoiled(42, 'lose')],
    },
  ),
  scenario(
    'a thread that loses its whole state behind an input that ended a run',
    chain([callOf('pay')], [question], [callOf('put')]),
    {
      plan,
      actions: [input(), input('in2', { afterMs: 30, policy: 'interrupt' }), input('in3', { afterMs: 900 })],
      faults: [allLost(70)],
    },
  ),
  scenario('the only checkpoint is lost', chain([callOf('pay')], [callOf('put')]), { faults: [spoiled(22, 'lose')] }),
  scenario(
    'a head that is damaged after an event was taken, and damaged again',
    chain([{ op: 'event', name: 'ping', expiresMs: 20_000 }, callOf('pay')], [callOf('put')], [callOf('look')]),
    {
      plan: { ...plan, snapshotEvery: 3 },
      actions: [input(), { does: 'signal', id: 'ev1', event: 'ping', afterMs: 5 }],
      faults: [spoiled(50, 'damage'), spoiled(90, 'lose')],
    },
  ),
  scenario('a finished thread whose head is damaged, and an input behind it', chain([callOf('pay')], [callOf('put')]), {
    actions: [input(), input('in2', { afterMs: 3_000 })],
    faults: [spoiled(34, 'damage')],
  }),
  scenario(
    'a thread that is compacted while a person is asked, and after its end',
    chain([callOf('put', { size: 6_000 }), { op: 'big', letter: 'a' }], [callOf('pay', { ask: 'allow' })]),
    {
      plan: { ...plan, snapshotEvery: 3 },
      actions: [input(), compact(40, 1), compact(6_000, 2, 'compact2'), input('in2', { afterMs: 9_000 })],
    },
  ),
  scenario(
    'a thread that is compacted between inputs, and goes on',
    chain([callOf('pay'), { op: 'recall', count: 2 }], [callOf('look')]),
    {
      plan: { snapshotEvery: 3 },
      actions: [
        input(),
        compact(300, 1),
        input('in2', { afterMs: 700 }),
        compact(2_000, 1, 'compact2'),
        input('in3', { afterMs: 3_000 }),
      ],
    },
  ),
  scenario(
    'a thread that is compacted while a person is asked for the third time in one step',
    chain([callOf('ship'), question, question, callOf('pay', { ask: 'ignore' })]),
    { plan, actions: [input(), compact(9_000, 1)] },
  ),
  scenario('a thread that is not purged, since an input is to come that nobody has heard of', chain([callOf('put')]), {
    actions: [input(), input('in2', { afterMs: 300, unheard: true }), { does: 'purge', id: 'purge1', afterMs: 400 }],
  }),
  scenario('a thread that is purged, and made again', chain([callOf('put')], [callOf('look')]), {
    actions: [
      input(),
      { does: 'purge', id: 'purge1', afterMs: 20 },
      { does: 'purge', id: 'purge2', afterMs: 400 },
      input('in9', { afterMs: 900 }),
    ],
  }),
];
