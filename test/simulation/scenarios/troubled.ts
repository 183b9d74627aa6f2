/** Worlds in which more goes wrong than the crash that is tried. */
import { callOf } from '../kinds/calls.ts';
import { chain, input, node, scenario } from './scenario.ts';

const addOne = { op: 'add', by: 1 } as const;
const ask = { op: 'ask', breaksOff: 0, onFailure: 'note' } as const;

export const troubledScenarios = [
  scenario('poison', chain([callOf('put'), { op: 'poison' }]), {
    actions: [input(), input('in2', { afterMs: 10 })],
    plan: { maxResumes: 3 },
  }),
  scenario('two runners at once', chain([ask], [callOf('pay')], [callOf('put')]), {
    faults: [{ at: 26, fault: { kind: 'steal' } }],
  }),
  scenario(
    'values of clock and chance whose entry cannot be written',
    chain([{ op: 'all', items: [callOf('put', { reads: true }), callOf('ship', { reads: true })] }]),
    {
      faults: [{ at: 21, fault: { kind: 'store', code: 'quota_exceeded', applied: false, times: 4, only: 'commit' } }],
    },
  ),
  scenario(
    'the power is cut behind two payments whose steps are relaxed',
    chain([callOf('pay')], [callOf('pay')], [callOf('put')]),
    { plan: { durability: 'relaxed' }, faults: [{ at: 26, fault: { kind: 'crash', side: 'after', power: true } }] },
  ),
  scenario('two processes that start at once', chain([callOf('put')]), {
    faults: [{ at: 4, fault: { kind: 'steal' } }],
  }),
  scenario('a booking that answers while it is undone', chain([callOf('book', { behaves: ['slow'] })]), {
    faults: [{ at: 24, fault: { kind: 'slow_way', forMs: 1_500 } }],
  }),
  scenario(
    'refusals and doubts together',
    chain([callOf('pay', { behaves: ['refuse', 'refuse', 'error', 'error', 'error'] })]),
  ),
  scenario('a large result, and a store that cannot be read', chain([callOf('put', { size: 6_000 })]), {
    faults: [{ at: 23, fault: { kind: 'store', code: 'store_failed', applied: false, times: 1, only: 'any' } }],
  }),
  scenario('two answers to one question', chain([ask, callOf('put', { reads: true }), callOf('pay'), callOf('put')]), {
    faults: [
      { at: 21, fault: { kind: 'steal' } },
      { at: 22, fault: { kind: 'slow_way', forMs: 15 } },
    ],
  }),
  scenario('an answer that overtakes a cancel', chain([callOf('pay', { ask: 'allow' })]), {
    actions: [input(), { does: 'cancel', id: 'cancel1', afterMs: 3 }],
    faults: [{ at: 45, fault: { kind: 'hold', forMs: 2_500 } }],
  }),
  scenario(
    'a record that is lost with its process',
    chain([callOf('pay', { behaves: ['refuse'] })], [callOf('mail', { behaves: ['refuse'] })]),
    {
      faults: [{ at: 26, fault: { kind: 'crash', side: 'before', spoils: 'lose', newest: true } }],
    },
  ),
  scenario('a runner that is frozen before its call', chain([callOf('pay')], [callOf('ship')]), {
    faults: [{ at: 21, fault: { kind: 'freeze', side: 'after', forMs: 15_000, heirAfterMs: 100 } }],
  }),
  scenario('a runner that is frozen for a moment', chain([callOf('ship')], [callOf('put')]), {
    faults: [{ at: 21, fault: { kind: 'freeze', side: 'after', forMs: 4_000, heirAfterMs: 100 } }],
  }),
  ...(['ship', 'wire'] as const).map((tool) =>
    scenario(`a runner that is frozen in the moment of its call, a robbed one (${tool})`, chain([callOf(tool)]), {
      faults: [{ at: 22, fault: { kind: 'freeze', side: 'before', forMs: 60_000, heirAfterMs: 100 } }],
    }),
  ),
  scenario('commits whose answer is lost', chain([callOf('pay')], [ask]), {
    faults: [
      { at: 12, fault: { kind: 'store', code: 'timed_out', applied: true, times: 1, only: 'commit' } },
      { at: 16, fault: { kind: 'store', code: 'timed_out', applied: true, times: 2, only: 'commit' } },
      { at: 26, fault: { kind: 'store', code: 'timed_out', applied: true, times: 1, only: 'commit' } },
    ],
  }),
  scenario('a disk that is full for results', chain([callOf('pay'), callOf('put')]), {
    faults: [{ at: 14, fault: { kind: 'store', code: 'quota_exceeded', applied: false, times: 6, only: 'result' } }],
  }),
  scenario('a thread that is deleted, and made again', chain([callOf('put')], [callOf('look')]), {
    actions: [input(), input('in9', { afterMs: 400 })],
    faults: [{ at: 24, fault: { kind: 'delete' } }],
  }),
  scenario('older code takes over for a while', chain([callOf('put')], [callOf('pay')], [callOf('look')]), {
    version: 2,
    faults: [{ at: 26, fault: { kind: 'older_code' } }],
  }),
  scenario('newer code takes over, and migrates the state', chain([callOf('put'), addOne], [callOf('pay')], [addOne]), {
    plan: { migrates: true },
    faults: [{ at: 24, fault: { kind: 'newer_code' } }],
  }),
  scenario(
    'newer code takes over while lines run, and older code after it for a while',
    [
      node('n0', [addOne], {
        to: 'fork',
        lines: [{ node: 'a' }, { node: 'b' }],
        join: 'z',
        failures: 'stop',
      }),
      node('a', [callOf('ship'), addOne]),
      node('b', [callOf('put')], { to: 'node', node: 'b2' }),
      node('b2', [addOne]),
      node('z', [callOf('pay')]),
    ],
    {
      plan: { migrates: true, isWhole: true },
      faults: [
        { at: 24, fault: { kind: 'newer_code' } },
        { at: 44, fault: { kind: 'older_code' } },
      ],
    },
  ),
  scenario('a host that closes in the middle', chain([callOf('pay', { ask: 'allow' })], [callOf('put')]), {
    faults: [
      { at: 26, fault: { kind: 'stop' } },
      { at: 52, fault: { kind: 'stop' } },
    ],
  }),
  scenario(
    'a clock that jumps',
    chain([callOf('pay', { behaves: ['error'] })], [callOf('put', { behaves: ['error'] })]),
    {
      closesAlways: true,
      faults: [
        { at: 22, fault: { kind: 'jump', byMs: -3_600_000 } },
        { at: 32, fault: { kind: 'jump', byMs: 3_600_000 } },
      ],
    },
  ),
];
