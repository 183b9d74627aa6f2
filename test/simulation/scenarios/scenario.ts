/** A fixed world, made to be cut everywhere. */
import type { Op } from '../kinds/table.ts';
import type { Exit } from '../plan/exits.ts';
import type { Plan, PlanNode } from '../plan/plan.ts';
import type { ClientAction } from '../world/client.ts';
import type { DueFault } from '../world/trouble.ts';

export interface Scenario {
  readonly name: string;
  readonly plan: Plan;
  readonly actions: readonly ClientAction[];
  /** What goes wrong beside the crash that is tried. */
  readonly faults: readonly DueFault[];
  readonly version: number;
  readonly closesAlways: boolean;
  readonly isOfTwoMinds: boolean;
}

export const input = (name = 'in1', more: Partial<Extract<ClientAction, { does: 'send' }>> = {}): ClientAction => ({
  does: 'send',
  input: name,
  afterMs: 1,
  ...more,
});

export const compact = (afterMs: number, keepCheckpoints: number, id = 'compact1'): ClientAction => ({
  does: 'compact',
  id,
  afterMs,
  keepCheckpoints,
});

export function node(name: string, ops: readonly Op[], exit: Exit = { to: 'end' }, critical = false): PlanNode {
  return { name, ops, exit, critical };
}

/** One node after the other. */
export function chain(...ops: readonly (readonly Op[])[]): readonly PlanNode[] {
  return ops.map((own, index) =>
    node(`n${index}`, own, index === ops.length - 1 ? { to: 'end' } : { to: 'node', node: `n${index + 1}` }),
  );
}

export function scenario(
  name: string,
  nodes: readonly PlanNode[],
  more: Partial<Omit<Scenario, 'name' | 'plan'>> & { readonly plan?: Partial<Plan> } = {},
): Scenario {
  const { plan, ...rest } = more;
  return {
    name,
    actions: [input()],
    faults: [],
    version: 1,
    closesAlways: false,
    isOfTwoMinds: false,
    ...rest,
    plan: { nodes, maxSteps: 50, snapshotEvery: 32, durability: 'strict', maxResumes: 40, ...plan },
  };
}
