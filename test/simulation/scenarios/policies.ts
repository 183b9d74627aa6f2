/** What is done about a step, or a call, that failed for good. */
import { callOf } from '../kinds/calls.ts';
import type { Plan } from '../plan/plan.ts';
import { chain, node, scenario } from './scenario.ts';

const onward = { to: 'edge', even: 'n2', odd: 'n2' } as const;
const broken = { op: 'flaky', times: 3, how: 'throw' } as const;
const withRule = (rule: NonNullable<Plan['policy']>[number], more: Partial<Plan> = {}) => ({
  plan: { isWhole: true, policy: [rule], ...more },
});
const refused = { behaves: ['refuse_for_good'] } as const;
const three = (second: Parameters<typeof node>[1], first = callOf('look')) => [
  node('n0', [first], { to: 'node', node: 'n1' }),
  node('n1', second, onward),
  node('n2', [callOf('put'), { op: 'recall', count: 2 }]),
];

export const policyScenarios = [
  scenario(
    'a step that is tried once more, its reads as well',
    three([callOf('look'), broken]),
    withRule({ action: 'retry' }, { redoes: true }),
  ),
  scenario(
    'a step that is tried once more, in vain',
    three([callOf('look'), { op: 'hopeless' }]),
    withRule({ action: 'retry' }, { redoes: true }),
  ),
  scenario(
    'a step with a payment in it is not tried once more',
    three([callOf('pay'), { op: 'hopeless' }]),
    withRule({ action: 'retry' }, { redoes: true }),
  ),
  scenario(
    'going back to before a read, with a hint',
    three([broken]),
    withRule({ action: 'go_back', before: 'load', hint: 'look again' }, { redoes: true }),
  ),
  scenario(
    'a payment is not crossed on the way back',
    [
      node('n0', [callOf('look')], { to: 'node', node: 'n1' }),
      node('n1', [callOf('pay')], { to: 'node', node: 'n2' }),
      node('n2', [{ op: 'hopeless' }]),
    ],
    withRule({ action: 'go_back', before: 'load', hint: 'look again' }, { redoes: true }),
  ),
  scenario(
    'another tool in place of one that refuses',
    three([callOf('look', refused), callOf('put')]),
    withRule({ action: 'use_tool', tool: 'look', use: 'put' }),
  ),
  scenario(
    'a value in place of a result',
    three([callOf('pay', refused)]),
    withRule({ action: 'value', tool: 'pay', value: 'nothing was paid' }),
  ),
  scenario(
    'an update in place of a step',
    three([callOf('put'), { op: 'hopeless' }]),
    withRule({ action: 'default', node: 'n1', update: { total: 7 } }),
  ),
  scenario(
    'a step that is skipped',
    three([callOf('pay'), { op: 'hopeless' }]),
    withRule({ action: 'skip', node: 'n1' }),
  ),
  scenario(
    'a person says that a step is to be skipped',
    three([callOf('put'), { op: 'hopeless' }]),
    withRule({ action: 'ask', node: 'n1' }, { policyAnswer: 'skip' }),
  ),
  scenario(
    'a person says that a step is to be tried again',
    three([broken]),
    withRule({ action: 'ask', node: 'n1' }, { policyAnswer: 'retry', redoes: true }),
  ),
  scenario(
    'a person says that a step which paid is to be tried again',
    three([callOf('pay'), callOf('put'), broken]),
    withRule({ action: 'ask', node: 'n1' }, { policyAnswer: 'retry', redoes: true }),
  ),
  scenario(
    'a person says that the run is to stop',
    chain([callOf('pay')], [{ op: 'hopeless' }]),
    withRule({ action: 'ask' }, { policyAnswer: 'stop' }),
  ),
];
