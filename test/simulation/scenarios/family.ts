/** Children on threads of their own. */
import { callOf } from '../kinds/calls.ts';
import type { Plan } from '../plan/plan.ts';
import { chain, input, type Scenario, scenario } from './scenario.ts';

const ask = { op: 'ask', breaksOff: 0, onFailure: 'note' } as const;
const child = { op: 'child' } as const;

function family(
  name: string,
  own: Plan['nodes'],
  nodes: Plan['nodes'],
  { plan, ...more }: Parameters<typeof scenario>[2] = {},
): Scenario {
  const children: Plan = { nodes, maxSteps: 50, snapshotEvery: 32, durability: 'strict', maxResumes: 40 };
  return scenario(name, own, { ...more, plan: { isWhole: true, child: children, ...plan } });
}

export const familyScenarios = [
  family('a child, and a call after it', chain([child], [callOf('put')]), chain([callOf('pay')])),
  family('a child between two calls of one node', chain([callOf('pay'), child, callOf('put')]), chain([ask])),
  family('two children side by side', chain([{ op: 'children', count: 2 }]), chain([callOf('mail')])),
  family('a child that fails', chain([child]), chain([callOf('put'), { op: 'hopeless' }])),
  family('a child whose call is approved', chain([child]), chain([callOf('pay', { ask: 'allow' })])),
  family(
    'a parent that is cancelled while its child waits',
    chain([child]),
    chain([callOf('pay', { ask: 'ignore' })]),
    {
      actions: [input(), { does: 'cancel', id: 'cancel1', afterMs: 30, twice: true }],
    },
  ),
  family('a parent that goes back over its child', chain([child], [callOf('put', { ask: 'ignore' })]), chain([ask]), {
    plan: { redoes: true },
    actions: [input(), { does: 'go_back', id: 'travel1', afterMs: 60 }],
  }),
];
