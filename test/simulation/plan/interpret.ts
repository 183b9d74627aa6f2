/** Makes a real agent out of a plan. The reference runs the same nodes by other means. */
import { log, value } from '../../../src/model/fields.ts';
import type { Schema } from '../../../src/model/schema.ts';
import type { AnyAgent } from '../../../src/program/agent.ts';
import { defineAgent } from '../../../src/program/agent.ts';
import { runOp } from '../kinds/table.ts';
import { alongEdge, type ForkExit, type Leave, leave } from './exits.ts';
import {
  childName,
  type Draft,
  type Mood,
  type Plan,
  type PlanNode,
  type PlanScope,
  type PlanState,
  type Site,
} from './plan.ts';
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
  { item, failures = [] }: { readonly item?: string | undefined; readonly failures?: Site['failures'] } = {},
): Promise<{ readonly leave: Leave; readonly update: PlanUpdate }> {
  const visit = state.rounds[node.name] ?? 0;
  const draft: Draft = { notes: [], total: 0, last: undefined, big: undefined };
  for (const [index, op] of node.ops.entries()) {
    const place = `${state.input}/${node.name}.${visit}${item === undefined ? '' : `@${item}`}/${index}`;
    await runOp(op, { place, scope, state, draft, mood, failures, run: runOp });
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

/** What the migration adds to the total: by an even number, since edges look at whether it is odd. */
export const migrationAdds = 1_000;
/** What an edit adds to it. */
export const editAdds = 100;

const migrations = {
  2: (state: Readonly<Record<string, unknown>>) => ({ ...state, total: Number(state.total ?? 0) + migrationAdds }),
};

export function agentOf(plan: Plan, reach: Reach, mood: Mood, version = 1, name = 'planned'): AnyAgent {
  return defineAgent({
    name,
    version,
    ...(plan.migrates && version > 1 && { stateVersion: 2, migrations }),
    state: fields,
    tools: toolsOn(reach) as never,
    ...(graphOf(plan.nodes, mood) as never as { start: never; nodes: never; edges: never }),
    maxSteps: plan.maxSteps,
    ...(plan.child && { agents: [agentOf(plan.child, reach, mood, version, childName)] }),
    ...(plan.limits && { limits: plan.limits }),
    ...(plan.policy && { policy: plan.policy }),
  });
}

function graphOf(nodes: readonly PlanNode[], mood: Mood): { start: string; nodes: object; edges: object } {
  const [first] = nodes;
  if (first === undefined) throw new Error('A plan needs a node.');
  const edges = nodes.flatMap(({ name, exit, graph }) => {
    if (graph !== undefined && exit.to === 'node') return [[name, exit.node]];
    return exit.to === 'edge' ? [[name, ({ total }: PlanState) => alongEdge(exit, total)]] : [];
  });
  return {
    start: first.name,
    nodes: Object.fromEntries(
      nodes.map((node) => [node.name, node.graph ? graphOf(node.graph, mood) : nodeOf(node, mood)]),
    ),
    edges: Object.fromEntries(edges),
  };
}

function nodeOf(node: PlanNode, mood: Mood): object {
  return {
    critical: node.critical ?? false,
    retry: { backoffMs: [200, 400], attempts: 3 },
    timeLimitMs: 120_000,
    ...(node.deadlineMs !== undefined && { deadlineMs: node.deadlineMs }),
    run: async (state: PlanState, context: PlanContext) => {
      const item = node.takesItem ? context.item(anything<string>()) : undefined;
      const { failures } = context;
      const { leave: way, update } = await runNode(node, state, context, mood, { item, failures });
      if (way.type === 'goto') return context.goto(way.node, update);
      if (way.type === 'fork') return fork(way.exit, update, context);
      return way.type === 'end' ? context.end(update) : context.update(update);
    },
  };
}

function fork({ lines, join, failures, limit }: ForkExit, update: PlanUpdate, context: PlanContext): never {
  const options = { update, failures, ...(join !== null && { join }), ...(limit !== undefined && { limit }) };
  const [first] = lines;
  if (first?.item === undefined)
    return context.parallel(
      lines.map(({ node }) => node),
      options,
    );
  return context.fanOut(
    first.node,
    lines.map(({ item }) => item),
    options,
  );
}

interface PlanContext extends PlanScope {
  readonly failures: Site['failures'];
  item(schema: Schema<unknown, string>): string;
  parallel(nodes: readonly string[], options: object): never;
  fanOut(node: string, items: readonly unknown[], options: object): never;
  goto(node: string, update: PlanUpdate): never;
  end(update: PlanUpdate): never;
  update(update: PlanUpdate): never;
}
