/** Questions, events, timers, and a network that is away. */
import { callOf } from '../kinds/calls.ts';
import type { ClientAction } from '../world/client.ts';
import { chain, input, scenario } from './scenario.ts';

const plan = { isWhole: true };
const signal = (id: string, name: string, afterMs: number, twice = false): ClientAction => ({
  does: 'signal',
  id,
  event: name,
  afterMs,
  twice,
});
const event = (name: string, expiresMs = 20_000) => ({ op: 'event', name, expiresMs }) as const;

export const waitScenarios = [
  scenario(
    'a question that is answered wrongly, then well',
    chain([callOf('put'), { op: 'question', replies: ['what', 'ok'] }], [callOf('pay')]),
    { plan },
  ),
  scenario('a question that is declined', chain([{ op: 'question', replies: [null] }, callOf('put')]), { plan }),
  scenario('an event that comes before it is waited for', chain([callOf('pay')], [event('ping')]), {
    plan,
    actions: [input(), signal('ev1', 'ping', 2)],
  }),
  scenario('an event that comes late, and twice', chain([event('ping'), callOf('put')]), {
    plan,
    actions: [input(), signal('ev1', 'ping', 400, true)],
  }),
  scenario('two waits for one event, and one more than is waited for', chain([event('ping')], [event('ping')]), {
    plan,
    actions: [input(), signal('ev1', 'ping', 300), signal('ev2', 'ping', 310), signal('ev3', 'ping', 900)],
  }),
  scenario(
    'waits for one event side by side',
    chain([{ op: 'all', items: [event('ping'), event('ping'), event('pong')] }]),
    { plan, actions: [input(), signal('ev1', 'ping', 30), signal('ev2', 'pong', 60), signal('ev3', 'ping', 500)] },
  ),
  scenario('an event that never comes, and one that nobody waits for', chain([event('ping', 600), callOf('put')]), {
    plan,
    actions: [input(), signal('ev1', 'pong', 100)],
  }),
  scenario(
    'an event that was taken by a step which an input takes the place of',
    chain([event('ping'), callOf('put'), event('pong')]),
    {
      plan,
      actions: [
        input(),
        signal('ev1', 'ping', 100),
        input('in2', { afterMs: 300, policy: 'interrupt' }),
        signal('ev2', 'ping', 500),
        signal('ev3', 'pong', 600),
      ],
    },
  ),
  scenario(
    'an event, and a wait after it in the same step whose time ends',
    chain([event('ping'), event('ping', 300), callOf('put')]),
    { plan, actions: [input(), signal('ev1', 'ping', 100)] },
  ),
  scenario('a timer between two calls', chain([callOf('put'), { op: 'sleep', forMs: 5_000 }, callOf('pay')]), { plan }),
  scenario('a network that is away, and comes back', chain([callOf('look'), { op: 'online' }, callOf('pay')]), {
    plan,
    actions: [{ does: 'go_offline', afterMs: 0, forMs: 3_000 }, input()],
  }),
];
