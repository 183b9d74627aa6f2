/** Calls of every class, well and badly answered. */
import { callOf } from '../kinds/calls.ts';
import { chain, input, scenario } from './scenario.ts';

export const effectScenarios = [
  scenario('a read, and a step after it', chain([callOf('look')], [{ op: 'add', by: 2 }])),
  scenario('an idempotent call whose answer is lost', chain([callOf('put', { behaves: ['lost'] })])),
  scenario(
    'an idempotent call that fails for good',
    chain([callOf('put', { behaves: ['error', 'error', 'error', 'error'] })]),
  ),
  scenario('an idempotent call that answers too late', chain([callOf('put', { behaves: ['slow'] }), callOf('look')])),
  scenario('a payment that can be verified and closed', chain([callOf('pay')], [callOf('look')])),
  scenario('a payment whose answer is lost', chain([callOf('pay', { behaves: ['lost'] })])),
  scenario('a payment that is refused twice', chain([callOf('pay', { behaves: ['refuse', 'refuse'] })])),
  scenario(
    'a payment that is refused for good',
    chain([callOf('pay', { behaves: ['refuse_for_good'] }), callOf('put')]),
  ),
  scenario(
    'a payment of which nothing can be learned',
    chain([callOf('pay', { behaves: ['lost'], verifies: ['unknown'] })]),
  ),
  scenario('a verification that breaks once', chain([callOf('pay', { behaves: ['error'], verifies: ['error'] })])),
  scenario('a shipment that cannot be closed', chain([callOf('ship', { behaves: ['error'] })])),
  scenario('a shipment that answers too late', chain([callOf('ship', { behaves: ['slow'] })])),
  scenario('a booking that is undone when in doubt', chain([callOf('book', { behaves: ['lost'] })])),
  scenario('a booking whose undoing breaks once', chain([callOf('book', { behaves: ['error'], verifies: ['error'] })])),
  scenario('a mail that only a person can clear', chain([callOf('mail', { behaves: ['lost'] })])),
  scenario('a mail that was not sent', chain([callOf('mail', { behaves: ['error'] })])),
  scenario(
    'clock and chance in calls of three steps',
    chain([callOf('put', { reads: true })], [callOf('look', { reads: true })], [callOf('pay', { reads: true })]),
  ),
  scenario('three calls side by side', chain([{ op: 'all', items: [callOf('put'), callOf('pay'), callOf('look')] }])),
  scenario(
    'calls with keys of their own',
    chain([{ op: 'keyed', calls: [callOf('put'), callOf('ship')] }, callOf('look')]),
  ),
  scenario(
    'a large result and a large value',
    chain([callOf('put', { size: 6_000 })], [{ op: 'big', letter: 'a' }], [{ op: 'recall', count: 2 }]),
    {
      actions: [input('in1', { big: 'z'.repeat(5_000) })],
    },
  ),
];
