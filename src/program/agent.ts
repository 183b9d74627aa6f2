import type { Field, Fields, StateOf } from '../model/fields.ts';
import { programErrors } from './errors.ts';
import type { Migrations } from './migration.ts';
import type { NodeContext } from './node-context.ts';
import type { NodeResult } from './node-result.ts';
import type { RetryPolicy } from './retry.ts';
import type { AnyTool, Tools } from './tool.ts';

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
  readonly nodes: { readonly [K in N]: NodeFunction<F, T, N> | NodeDefinition<F, T, N> };
  readonly edges?: { readonly [K in NoInfer<N>]?: Edge<F, NoInfer<N>> };
  /** Steps in one run before it is stopped as failed. Default 50. */
  readonly maxSteps?: number;
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
  readonly migrations?: Migrations;
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
  const agent = {
    ...definition,
    tools: definition.tools ?? ({} as T),
    stateVersion: definition.stateVersion ?? 1,
    maxSteps: definition.maxSteps ?? 50,
  };
  const problem = firstProblem(agent);
  if (problem !== undefined) throw programErrors.make('agent_invalid', { agent: definition.name, problem });
  return Object.freeze(agent);
}

function firstProblem(agent: AnyAgent): string | undefined {
  const nodes = new Set(Object.keys(agent.nodes));
  const list = [...nodes].map((node) => `"${node}"`).join(', ');
  if (agent.name === '') return 'it has no name';
  if (!Number.isSafeInteger(agent.version) || agent.version < 1)
    return `its version ${agent.version} is not a whole number from 1`;
  if (!Number.isSafeInteger(agent.maxSteps) || agent.maxSteps < 1)
    return `maxSteps ${agent.maxSteps} is not a whole number from 1`;
  if (!Number.isSafeInteger(agent.stateVersion) || agent.stateVersion < 1)
    return `its stateVersion ${agent.stateVersion} is not a whole number from 1`;
  const beyond = Object.keys(agent.migrations ?? {}).find(
    (to) => !(Number(to) > 1 && Number(to) <= agent.stateVersion),
  );
  if (beyond !== undefined)
    return `it has a migration to state version ${beyond}, and its stateVersion is ${agent.stateVersion}`;
  if (!nodes.has(agent.start)) return `it starts at "${agent.start}", but its nodes are ${list}`;
  for (const [from, to] of Object.entries(agent.edges ?? {})) {
    if (!nodes.has(from)) return `an edge leaves "${from}", but its nodes are ${list}`;
    if (typeof to === 'string' && !nodes.has(to))
      return `the edge from "${from}" leads to "${to}", but its nodes are ${list}`;
  }
  for (const [key, tool] of Object.entries(agent.tools)) {
    if (tool.name !== key) return `tool "${tool.name}" is listed under "${key}": use its name`;
    if (tool.effect !== 'read' && tool.effect !== 'idempotent' && tool.effect !== 'once') {
      return `tool "${key}" has the effect class "${String(tool.effect)}": say read, idempotent or once`;
    }
  }
  return undefined;
}
