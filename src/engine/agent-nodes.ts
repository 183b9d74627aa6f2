/** The nodes of an agent by their names: `name`, and `graph/name` for those of a graph inside of it. */
import type { Fields } from '../model/fields.ts';
import { type AnyAgent, type Edge, isSubgraph, type NodeDefinition, nodeNames } from '../program/agent.ts';
import { programErrors } from '../program/errors.ts';
import type { NodeResult } from '../program/node-result.ts';
import { defaultRetry, type RetryPolicy } from '../program/retry.ts';
import type { Tools } from '../program/tool.ts';
import { nodeNow } from '../program/versions.ts';

const defaultNodeTimeLimitMs = 600_000;

export interface RunnableNode {
  readonly name: string;
  readonly run: NodeDefinition<Fields, Tools, string>['run'];
  readonly critical: boolean;
  readonly retry: RetryPolicy;
  readonly timeLimitMs: number;
  /** For the whole step, by the wall clock; Infinity for none. */
  readonly deadlineMs: number;
}

interface Graph {
  readonly start: string;
  readonly nodes: object;
  readonly edges?: object;
}

/** @throws `node_unknown`, also for the name of a whole graph. */
export function nodeOf(agent: AnyAgent, old: string): RunnableNode {
  const name = nodeNow(agent, old);
  const node = lookUp(agent, name);
  if (isSubgraph(node)) throw unknownNode(agent, name);
  const definition = typeof node === 'function' ? { run: node } : node;
  const {
    run,
    critical = false,
    retry,
    timeLimitMs,
    deadlineMs = Infinity,
  } = definition as NodeDefinition<Fields, Tools, string>;
  return {
    name,
    run: run.bind(definition),
    critical,
    retry: { ...defaultRetry, ...retry },
    timeLimitMs: timeLimitMs ?? defaultNodeTimeLimitMs,
    deadlineMs,
  };
}

/** The node at which one begins that is sent to `name`: the start of a graph, or the node itself. @throws `node_unknown` */
export function entryOf(agent: AnyAgent, name: string): string {
  const node = lookUp(agent, name);
  return isSubgraph(node) ? entryOf(agent, `${name}/${node.start}`) : name;
}

/**
 * The node that follows, `null` for the end of the line. `state` is the one after the node's update; `scope` is the graph in
 * which the line began.
 *
 * @throws `edge_missing`, `node_unknown`
 */
export function nextNode(
  agent: AnyAgent,
  node: string,
  result: Exclude<NodeResult<Fields, string>, { type: 'fork' }>,
  state: object,
  scope = '',
): string | null {
  if (result.type === 'goto') return entryOf(agent, `${scopeOf(node)}${result.node}`);
  return result.type === 'end' ? left(agent, node, state, scope) : routed(agent, node, state, scope);
}

/** The graph that a node is in: empty, or its name and a slash. */
export function scopeOf(node: string): string {
  return node.slice(0, node.lastIndexOf('/') + 1);
}

/** Leaves the graph of this node; `null` where the line began in it. */
function left(agent: AnyAgent, node: string, state: object, scope: string): string | null {
  const graph = scopeOf(node);
  return graph === scope ? null : routed(agent, graph.slice(0, -1), state, scope);
}

function routed(agent: AnyAgent, node: string, state: object, scope: string): string | null {
  const graph = scopeOf(node);
  const own = node.slice(graph.length);
  const edges = (graphOf(agent, graph).edges ?? {}) as Readonly<Record<string, Edge<Fields, string>>>;
  const edge = Object.hasOwn(edges, own) ? edges[own] : undefined;
  if (edge === undefined) throw programErrors.make('edge_missing', { node });
  const target = typeof edge === 'function' ? edge(state as never) : edge;
  return target === null ? left(agent, node, state, scope) : entryOf(agent, `${graph}${target}`);
}

function graphOf(agent: AnyAgent, scope: string): Graph {
  if (scope === '') return agent;
  const graph = lookUp(agent, scope.slice(0, -1));
  if (!isSubgraph(graph)) throw unknownNode(agent, scope.slice(0, -1));
  return graph;
}

function lookUp(agent: AnyAgent, name: string): object {
  const now = nodeNow(agent, name);
  if (now !== name) return lookUp(agent, now);
  const graph = graphOf(agent, scopeOf(name));
  const own = name.slice(scopeOf(name).length);
  const nodes = graph.nodes as Readonly<Record<string, object>>;
  const node = Object.hasOwn(nodes, own) ? nodes[own] : undefined;
  if (node === undefined) throw unknownNode(agent, name);
  return node;
}

function unknownNode(agent: AnyAgent, node: string) {
  const known = nodeNames(agent, '').map((name) => `"${name}"`);
  const { name, version } = agent;
  return programErrors.make('node_unknown', { agent: name, version, node, known: known.join(', ') });
}
