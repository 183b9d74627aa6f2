/** What an input does to a run that is under way, and what a run may use. */
import { callOf } from '../kinds/calls.ts';
import type { Op } from '../kinds/table.ts';
import type { Plan } from '../plan/plan.ts';
import type { ClientAction } from '../world/client.ts';
import { chain, input, node, scenario } from './scenario.ts';

const plan = { isWhole: true };
const ask = { op: 'ask', breaksOff: 0, onFailure: 'note' } as const;
const two = chain([callOf('put'), { op: 'add', by: 2 }], [callOf('pay', { ask: 'ignore' })], [callOf('look')]);
const extend = (afterMs: number, limits: Extract<ClientAction, { does: 'extend' }>['limits']): ClientAction => ({
  does: 'extend',
  id: 'extend1',
  limits,
  afterMs,
});

/** A line that waits, beside one that reaches a limit. */
const beside = (waits: Op) => [
  node('n0', [], { to: 'fork', lines: [{ node: 'waits' }, { node: 'goes' }], join: null, failures: 'stop' }),
  node('waits', [waits]),
  node('goes', [ask], { to: 'node', node: 'goes2' }),
  node('goes2', [ask]),
];
const question = { op: 'question', replies: ['ok'] } as const;
const child: Plan = {
  nodes: chain([callOf('pay', { ask: 'allow' })]),
  maxSteps: 50,
  snapshotEvery: 32,
  durability: 'strict',
  maxResumes: 40,
};
const cancel = (afterMs: number): ClientAction => ({ does: 'cancel', id: 'cancel1', afterMs });

export const limitScenarios = [
  scenario('a limit of steps that is reached beside a line with a child, and extended', beside({ op: 'child' }), {
    plan: { ...plan, child, maxSteps: 2 },
    actions: [input(), extend(4_000, { steps: 20 })],
  }),
  scenario('a limit of steps that is reached beside a line with a child, and given up', beside({ op: 'child' }), {
    plan: { ...plan, child, maxSteps: 2 },
    actions: [input(), cancel(60)],
  }),
  scenario('a limit of steps that is reached beside a question, and other input', beside(question), {
    plan: { ...plan, maxSteps: 2 },
    actions: [input(), input('in2', { afterMs: 60 }), extend(9_000, { steps: 20 })],
  }),
  scenario('a budget that is reached beside a question, and extended', beside(question), {
    plan: { ...plan, limits: { tokens: 3 } },
    actions: [input(), extend(4_000, { tokens: 50 })],
  }),
  scenario('an input that takes the run back', two, {
    plan,
    actions: [
      input(),
      input('in2', { afterMs: 40, policy: 'roll_back' }),
      input('in3', { afterMs: 200, policy: 'roll_back' }),
    ],
  }),
  scenario(
    'an input that takes the first run back in the middle of its calls',
    chain([callOf('put')], [callOf('ship')]),
    {
      plan,
      actions: [input(), input('in2', { afterMs: 4, policy: 'roll_back' })],
    },
  ),
  scenario('an input that ends the run, and one that waits behind it', two, {
    plan,
    actions: [input(), input('in2', { afterMs: 30 }), input('in3', { afterMs: 60, policy: 'interrupt' })],
  }),
  scenario('an input that is refused while the thread is busy', chain([callOf('pay', { ask: 'allow' })]), {
    plan,
    actions: [
      input(),
      input('in2', { afterMs: 9, policy: 'reject' }),
      input('in3', { afterMs: 5_000, policy: 'reject' }),
    ],
  }),
  scenario('a budget that is reached, and extended', chain([ask], [ask], [ask, callOf('put')]), {
    plan: { ...plan, limits: { tokens: 8 } },
    actions: [input(), extend(2_000, { tokens: 20 })],
  }),
  scenario('a budget that is reached, and given up', chain([ask], [ask], [ask]), {
    plan: { ...plan, limits: { tokens: 8 } },
    actions: [input(), { does: 'cancel', id: 'cancel1', afterMs: 3_000 }, input('in2', { afterMs: 4_000 })],
  }),
  scenario(
    'a deadline that is reached while a person is asked, and extended',
    chain([callOf('put')], [callOf('pay', { ask: 'allow' })]),
    {
      plan: { ...plan, limits: { runMs: 300 } },
      actions: [input(), extend(60_000, { runMs: 86_400_000 })],
    },
  ),
  scenario('a deadline of a step', [{ ...node('n0', [callOf('put', { behaves: ['slow'] })]), deadlineMs: 600 }], {
    plan,
    actions: [input(), { does: 'cancel', id: 'cancel1', afterMs: 30_000 }],
  }),
];
