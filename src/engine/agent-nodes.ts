import type { Fields } from '../model/fields.ts';
import type { AnyAgent, Edge, NodeDefinition } from '../program/agent.ts';
import { programErrors } from '../program/errors.ts';
import type { NodeResult } from '../program/node-result.ts';
import { defaultRetry, type RetryPolicy } from '../program/retry.ts';
import type { Tools } from '../program/tool.ts';

const defaultNodeTimeLimitMs = 600_000;

export interface RunnableNode {
  readonly name: string;
  readonly run: NodeDefinition<Fields, Tools, string>['run'];
  readonly critical: boolean;
  readonly retry: RetryPolicy;
  readonly timeLimitMs: number;
}

/** @throws `node_unknown` */
export function nodeOf(agent: AnyAgent, name: string): RunnableNode {
  const nodes = agent.nodes as Readonly<Record<string, unknown>>;
  const node = Object.hasOwn(nodes, name) ? nodes[name] : undefined;
  if (node === undefined) {
    const known = Object.keys(nodes).map((known) => `"${known}"`);
    throw programErrors.make('node_unknown', {
      agent: agent.name,
      version: agent.version,
      node: name,
      known: known.join(', '),
    });
  }
  const definition = typeof node === 'function' ? { run: node } : node;
  const { run, critical = false, retry, timeLimitMs } = definition as NodeDefinition<Fields, Tools, string>;
  return {
    name,
    run: run.bind(definition),
    critical,
    retry: { ...defaultRetry, ...retry },
    timeLimitMs: timeLimitMs ?? defaultNodeTimeLimitMs,
  };
}

/** @throws `node_returned_nothing` */
export function checkedResult(node: string, result: unknown): NodeResult<Fields, string> {
  const type = typeof result === 'object' && result !== null && 'type' in result ? result.type : undefined;
  if (type !== 'goto' && type !== 'end' && type !== 'update')
    throw programErrors.make('node_returned_nothing', { node });
  return result as NodeResult<Fields, string>;
}

/**
 * The node that follows, `null` for the end. `state` is the one after the node's update.
 *
 * @throws `edge_missing`, `node_unknown`
 */
export function nextNode(
  agent: AnyAgent,
  node: string,
  result: NodeResult<Fields, string>,
  state: object,
): string | null {
  const target = result.type === 'goto' ? result.node : result.type === 'end' ? null : routed(agent, node, state);
  if (target !== null) nodeOf(agent, target);
  return target;
}

function routed(agent: AnyAgent, node: string, state: object): string | null {
  const edge = (agent.edges as Readonly<Record<string, Edge<Fields, string> | undefined>> | undefined)?.[node];
  if (edge === undefined) throw programErrors.make('edge_missing', { node });
  return typeof edge === 'function' ? edge(state as never) : edge;
}
