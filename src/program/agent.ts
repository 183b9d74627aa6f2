import type { Field, Fields, StateOf } from '../model/fields.ts';
import { hiddenPrefix } from '../model/lines.ts';
import { agentProblem, nodeProblem, subgraphProblem, toolDefinitionProblem } from './definition-problem.ts';
import { programErrors } from './errors.ts';
import { limitProblem } from './limit-problem.ts';
import type { Migrations } from './migration.ts';
import type { NodeContext } from './node-context.ts';
import type { NodeResult } from './node-result.ts';
import { type PolicyTable, policyProblem } from './policy.ts';
import type { RetryPolicy } from './retry.ts';
import type { AnyTool, Tools } from './tool.ts';
import { type Aliases, versionProblem } from './versions.ts';

export type NodeFunction<F extends Fields, T extends Tools, N extends string> = (
  state: StateOf<F>,
  context: NodeContext<F, T, N>,
) => Promise<NodeResult<F, N>> | NodeResult<F, N>;

/** A node with options; a plain function is one with none. */
export interface NodeDefinition<F extends Fields, T extends Tools, N extends string> {
  run(state: StateOf<F>, context: NodeContext<F, T, N>): Promise<NodeResult<F, N>> | NodeResult<F, N>;
  /** Always followed by a full snapshot. */
  readonly critical?: boolean;
  readonly retry?: Partial<RetryPolicy>;
  /** Limit for one attempt, waits not counted. Default 10 minutes. */
  readonly timeLimitMs?: number;
  /**
   * When the whole step must be over by the wall clock: all attempts, waits and restarts included. A step that is not stops
   * its run as `timed_out`, to be extended or given up.
   */
  readonly deadlineMs?: number;
}

/** What one run may use. Reaching a limit saves the state; somebody extends it, or gives the run up. */
export interface RunLimits {
  /** By the wall clock, waits and restarts included. */
  readonly runMs?: number;
  /** Model tokens, in and out. */
  readonly tokens?: number;
  /** In the unit of the models' prices. */
  readonly cost?: number;
}

/**
 * A graph inside a graph, on the same state. Its nodes know only one another; `end` leaves it along the edge that the outer
 * graph gives to its name. Each of its nodes is a step of its own: a restart goes on inside of it.
 */
export interface Subgraph<F extends Fields, T extends Tools> {
  readonly start: string;
  readonly nodes: Readonly<Record<string, NodeFunction<F, T, string> | NodeDefinition<F, T, string> | Subgraph<F, T>>>;
  readonly edges?: Readonly<Record<string, Edge<F, string> | undefined>>;
}

/** Where a node leads: always to one node, or where a router, a pure function of the state, says. `null` ends the run. */
export type Edge<F extends Fields, N extends string> = N | null | ((state: StateOf<F>) => N | null);

export interface AgentDefinition<F extends Fields, T extends Tools, N extends string> {
  readonly name: string;
  /** Raise it with every change that a thread in flight could notice. */
  readonly version: number;
  /** Version of the state's shape, raised when fields change their meaning. Default 1. */
  readonly stateVersion?: number;
  readonly state: F;
  readonly tools?: T;
  /** The node that new input starts. */
  readonly start: NoInfer<N>;
  readonly nodes: { readonly [K in N]: NodeFunction<F, T, N> | NodeDefinition<F, T, N> | Subgraph<F, T> };
  readonly edges?: { readonly [K in NoInfer<N>]?: Edge<F, NoInfer<N>> };
  /** Steps in one run before it is stopped as failed. Default 50. */
  readonly maxSteps?: number;
  /** What one run may use. Default: no limit. */
  readonly limits?: RunLimits;
  /** What is done about failures whose retries are spent. Default: `defaultPolicy`. */
  readonly policy?: PolicyTable;
  /** Agents that its nodes start as children, by `child`. A function where they refer to this one. */
  readonly agents?: readonly AnyAgent[] | (() => readonly AnyAgent[]);
  /** New names of nodes and tools, by those that threads in flight know. */
  readonly aliases?: Aliases;
  /**
   * Older versions of this agent. Given, even as an empty list, each thread stays with the version that began it; else all go on
   * with this one.
   */
  readonly earlier?: readonly AnyAgent[];
  /** How a state of an older version becomes one of `stateVersion`, by the version each leads to: `{ 2: (state) => … }`. */
  readonly migrations?: Migrations;
  /** Makes the values again that are never stored: secrets and live objects. Called after every restart. */
  rehydrate?(state: StateOf<F>): SecretsOf<F> | Promise<SecretsOf<F>>;
}

type SecretsOf<F extends Fields> = {
  readonly [K in keyof F as F[K] extends { kind: 'secret' } ? K : never]?: StateOf<F>[K];
};

/** An agent: what `serve` runs and `connect<typeof agent>` knows the types of. */
export interface Agent<F extends Fields = Fields, T extends Tools = Tools, N extends string = string>
  extends AgentDefinition<F, T, N> {
  readonly tools: T;
  readonly stateVersion: number;
  readonly maxSteps: number;
}

/** An agent whose types are known only where it was defined. */
export interface AnyAgent {
  readonly name: string;
  readonly version: number;
  readonly stateVersion: number;
  readonly state: Readonly<Record<string, Field>>;
  readonly tools: Readonly<Record<string, AnyTool>>;
  readonly start: string;
  readonly nodes: object;
  readonly edges?: object;
  readonly maxSteps: number;
  readonly limits?: RunLimits;
  readonly policy?: PolicyTable;
  readonly agents?: readonly AnyAgent[] | (() => readonly AnyAgent[]);
  readonly migrations?: Migrations;
  readonly aliases?: Aliases;
  readonly earlier?: readonly AnyAgent[];
  rehydrate?(state: never): object | Promise<object>;
}

/**
 * Defines an agent: plain functions and data. Nothing in them knows of storage, crashes or tabs.
 *
 * @throws `agent_invalid`: a start, an edge or a tool that does not fit, named.
 */
export function defineAgent<F extends Fields, N extends string, T extends Tools = Record<never, never>>(
  definition: AgentDefinition<F, T, N>,
): Agent<F, T, N> {
  const given = { ...definition }; // of nothing at all, an agent without a state
  const agent = {
    ...given,
    tools: given.tools ?? ({} as T),
    stateVersion: given.stateVersion ?? 1,
    maxSteps: given.maxSteps ?? 50,
  };
  const problem = firstProblem(agent);
  if (problem !== undefined) throw programErrors.make('agent_invalid', { agent: String(agent.name), problem });
  return Object.freeze(agent);
}

function firstProblem(agent: AnyAgent): string | undefined {
  const odd = agentProblem(agent);
  if (odd !== undefined) return odd;
  const beyond = Object.keys(agent.migrations ?? {}).find(
    (to) => !(Number(to) > 1 && Number(to) <= agent.stateVersion),
  );
  if (beyond !== undefined)
    return `it has a migration to state version ${beyond}, and its stateVersion is ${agent.stateVersion}`;
  const given = Object.keys(agent.migrations ?? {}).map(Number);
  const missing = given.find((to) => to > Math.min(...given) && !given.includes(to - 1));
  if (missing !== undefined)
    return `it has migrations to state versions ${given.join(', ')}, and none to ${missing - 1}: add it`;
  const hidden = Object.keys(agent.state).find((name) => name.startsWith(hiddenPrefix));
  if (hidden !== undefined) return `its field "${hidden}" begins with "${hiddenPrefix}": such names are kept for lines`;
  return (
    limitProblem(agent.limits ?? {}, 'limits') ??
    graphProblem(agent, '') ??
    toolProblem(agent) ??
    policyProblem(agent.policy ?? [], namesIn(agent), agent.state) ??
    versionProblem(agent, namesIn(agent))
  );
}

function namesIn(agent: AnyAgent) {
  return { nodes: nodeNames(agent, ''), tools: Object.keys(agent.tools), edges: edgeNames(agent, '') };
}

/** The names of all nodes, those inside of graphs as `graph/node`. */
export function nodeNames(graph: Pick<AnyAgent, 'nodes'>, scope: string): readonly string[] {
  return Object.entries(graph.nodes as Readonly<Record<string, object>>).flatMap(([name, node]) =>
    isSubgraph(node) ? nodeNames(node, `${scope}${name}/`) : [`${scope}${name}`],
  );
}

/** The names of the nodes that an edge leaves. */
function edgeNames(graph: Pick<AnyAgent, 'nodes' | 'edges'>, scope: string): readonly string[] {
  const own = Object.keys(graph.edges ?? {}).map((name) => `${scope}${name}`);
  const inner = Object.entries(graph.nodes as Readonly<Record<string, object>>).flatMap(([name, node]) =>
    isSubgraph(node) ? edgeNames(node, `${scope}${name}/`) : [],
  );
  return [...own, ...inner];
}

/** The agents that this one starts as children. */
export function childrenOf({ agents = [] }: Pick<AnyAgent, 'agents'>): readonly AnyAgent[] {
  return typeof agents === 'function' ? agents() : agents;
}

/**
 * The agent and all that it, or one of its children, starts, by name.
 *
 * @throws `agent_invalid`: two of them have one name.
 */
export function agentsByName(root: AnyAgent, found = new Map<string, AnyAgent>()): ReadonlyMap<string, AnyAgent> {
  const known = found.get(root.name);
  if (known !== undefined && known !== root) {
    const problem = 'another agent that it is used with has the same name';
    throw programErrors.make('agent_invalid', { agent: root.name, problem });
  }
  if (known !== undefined) return found;
  found.set(root.name, root);
  for (const child of childrenOf(root)) agentsByName(child, found);
  return found;
}

/** `path` is empty for the agent's own graph, and ends with `/` for one inside of it. */
function graphProblem(graph: Pick<AnyAgent, 'start' | 'nodes' | 'edges'>, path: string): string | undefined {
  const nodes = new Set(Object.keys(graph.nodes));
  const list = [...nodes].map((node) => `"${path}${node}"`).join(', ');
  const slashed = [...nodes].find((node) => node.includes('/'));
  if (slashed !== undefined) return `its node "${path}${slashed}" has a "/" in its name`;
  if (!nodes.has(graph.start)) return `it starts at "${path}${graph.start}", but its nodes are ${list}`;
  for (const [from, to] of Object.entries(graph.edges ?? {})) {
    if (!nodes.has(from)) return `an edge leaves "${path}${from}", but its nodes are ${list}`;
    if (to !== null && to !== undefined && typeof to !== 'function' && !nodes.has(to))
      return `the edge from "${path}${from}" leads to "${path}${to}", but its nodes are ${list}`;
  }
  for (const [name, node] of Object.entries(graph.nodes as Readonly<Record<string, object>>)) {
    const problem = isSubgraph(node)
      ? (subgraphProblem(`${path}${name}`, node) ?? graphProblem(node, `${path}${name}/`))
      : ((typeof node === 'function' ? undefined : nodeProblem(`${path}${name}`, node)) ??
        ('deadlineMs' in node &&
          limitProblem({ runMs: node.deadlineMs }, '')?.replace('.runMs', `node "${path}${name}" deadlineMs`)));
    if (problem) return problem;
  }
  return undefined;
}

export function isSubgraph(node: unknown): node is Subgraph<Fields, Tools> {
  return typeof node === 'object' && node !== null && 'nodes' in node && 'start' in node;
}

function toolProblem(agent: AnyAgent): string | undefined {
  for (const [key, tool] of Object.entries(agent.tools)) {
    if (typeof tool !== 'object' || tool === null) return `tool "${key}" is ${String(tool)}, not what tool(…) gives`;
    if (tool.name !== key) return `tool "${tool.name}" is listed under "${key}": use its name`;
    if (tool.effect !== 'read' && tool.effect !== 'idempotent' && tool.effect !== 'once') {
      return `tool "${key}" has the effect class "${String(tool.effect)}": say read, idempotent or once`;
    }
    const problem = toolDefinitionProblem(key, tool);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
