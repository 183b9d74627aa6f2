/** Makes a real agent out of a plan. The reference runs the same nodes by other means. */
import { log, value } from '../../../src/model/fields.ts';
import type { AnyAgent } from '../../../src/program/agent.ts';
import { defineAgent } from '../../../src/program/agent.ts';
import { runOp } from '../kinds/table.ts';
import { alongEdge, type Leave, leave } from './exits.ts';
import type { Draft, Mood, Plan, PlanNode, PlanScope, PlanState } from './plan.ts';
import { anything, type Reach, toolsOn } from './tools.ts';

export interface PlanUpdate {
  readonly input?: string;
  readonly rounds?: Readonly<Record<string, number>>;
  readonly total?: number;
  readonly last?: string;
  readonly big?: string;
  readonly notes?: readonly string[];
}

const fields = {
  input: value(anything<string>(), ''),
  rounds: value(anything<Readonly<Record<string, number>>>(), {}, addRounds),
  total: value(anything<number>(), 0, (sum: number, more: number) => sum + more),
  last: value(anything<string>(), ''),
  big: value(anything<string>(), ''),
  notes: log(anything<string>()),
};

export function addRounds(rounds: Readonly<Record<string, number>>, more: Readonly<Record<string, number>>) {
  const sum: Record<string, number> = { ...rounds };
  for (const [node, count] of Object.entries(more)) sum[node] = (sum[node] ?? 0) + count;
  return sum;
}

/** Does what the node's plan says, and tells where it leads and what it changes. */
export async function runNode(
  node: PlanNode,
  state: PlanState,
  scope: PlanScope,
  mood: Mood,
): Promise<{ readonly leave: Leave; readonly update: PlanUpdate }> {
  const visit = state.rounds[node.name] ?? 0;
  const draft: Draft = { notes: [], total: 0, last: undefined, big: undefined };
  for (const [index, op] of node.ops.entries()) {
    const place = `${state.input}/${node.name}.${visit}/${index}`;
    await runOp(op, { place, scope, state, draft, mood, run: runOp });
  }
  const { notes, total, last, big } = draft;
  const update: PlanUpdate = {
    rounds: { [node.name]: 1 },
    ...(notes.length > 0 && { notes }),
    ...(total !== 0 && { total }),
    ...(last !== undefined && { last }),
    ...(big !== undefined && { big }),
  };
  return { leave: leave(node.exit, visit, state, draft), update };
}

export function agentOf(plan: Plan, reach: Reach, mood: Mood, version = 1): AnyAgent {
  const [first] = plan.nodes;
  if (first === undefined) throw new Error('A plan needs a node.');
  const nodes = plan.nodes.map((node) => [
    node.name,
    {
      critical: node.critical ?? false,
      retry: { backoffMs: [200, 400], attempts: 3 },
      timeLimitMs: 120_000,
      run: async (state: PlanState, context: PlanContext) => {
        const { leave: way, update } = await runNode(node, state, context, mood);
        if (way.type === 'goto') return context.goto(way.node, update);
        return way.type === 'end' ? context.end(update) : context.update(update);
      },
    },
  ]);
  const edges = plan.nodes.flatMap(({ name, exit }) =>
    exit.to === 'edge' ? [[name, ({ total }: PlanState) => alongEdge(exit, total)]] : [],
  );
  return defineAgent({
    name: 'planned',
    version,
    state: fields,
    tools: toolsOn(reach) as never,
    start: first.name as never,
    nodes: Object.fromEntries(nodes) as never,
    edges: Object.fromEntries(edges) as never,
    maxSteps: plan.maxSteps,
  });
}

interface PlanContext extends PlanScope {
  goto(node: string, update: PlanUpdate): never;
  end(update: PlanUpdate): never;
  update(update: PlanUpdate): never;
}
