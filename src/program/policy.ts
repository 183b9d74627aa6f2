/**
 * The policy table of an agent (B6, B8): data that says what is done about a failure once its retries are spent. Rules are
 * tried in their order; the first that fits, can be carried out, and has not been used up is taken. Each decision is an event.
 */
import type { Fields } from '../model/fields.ts';
import { type FailureClass, failureClasses } from './failure-class.ts';
import { checkInput } from './state.ts';

/** What a rule is for; what it does not name fits all. */
export interface PolicyMatch {
  readonly class?: FailureClass;
  /** By its name, `graph/node` inside of a graph. */
  readonly node?: string;
  /** The tool whose call failed. */
  readonly tool?: string;
  /** The error's code. */
  readonly code?: string;
}

/**
 * - `retry`: the step once more.
 * - `wait_network`: the step once more when the network is back; fits only while it is away.
 * - `go_back`: to before the newest model call, tool call, or read of data in this run, with a hint for the node and its
 *   model. Fits only where no effect of class `once` lies in between: a policy never does one again.
 * - `use_tool`, `use_model`: another one in place of the call that failed, with the same arguments.
 * - `value`: this, as the result of the call that failed.
 * - `default`: this update in place of the node's own; `skip`: none. Then on along the node's edge.
 * - `ask`: a person says `retry`, `skip` or `stop`.
 * - `stop`: the run fails, with an alert. What is done where no rule fits.
 */
export type PolicyAction =
  | { readonly action: 'retry' }
  | { readonly action: 'wait_network' }
  | { readonly action: 'go_back'; readonly before: 'model' | 'tool' | 'load'; readonly hint: string }
  | { readonly action: 'use_tool'; readonly use: string }
  | { readonly action: 'use_model'; readonly use: string }
  | { readonly action: 'value'; readonly value: unknown }
  | { readonly action: 'default'; readonly update: Readonly<Record<string, unknown>> }
  | { readonly action: 'skip' }
  | { readonly action: 'ask' }
  | { readonly action: 'stop' };

export type PolicyRule = PolicyMatch &
  PolicyAction & {
    /** How often in one run, at one node. Default 1 for `retry` and `go_back`, else any number. */
    readonly times?: number;
  };

export type PolicyTable = readonly PolicyRule[];

/** What an agent has that does not bring its own. */
export const defaultPolicy: PolicyTable = [
  { class: 'recoverable', action: 'wait_network', times: 20 },
  { action: 'stop' },
];

const actions: readonly string[] = [
  'retry',
  'wait_network',
  'go_back',
  'use_tool',
  'use_model',
  'value',
  'default',
  'skip',
  'ask',
  'stop',
];
const callActions: readonly string[] = ['use_tool', 'use_model', 'value'];
const known: readonly string[] = [
  'class',
  'node',
  'tool',
  'code',
  'action',
  'before',
  'hint',
  'use',
  'value',
  'update',
  'times',
];

/** Whether a rule is about one call, or about the step. */
export function isForCall(rule: PolicyRule): boolean {
  return callActions.includes(rule.action);
}

export function fits(rule: PolicyRule, failure: Required<Omit<PolicyMatch, 'tool' | 'code'>> & PolicyMatch): boolean {
  return (
    (rule.class ?? failure.class) === failure.class &&
    (rule.node ?? failure.node) === failure.node &&
    (rule.tool ?? failure.tool) === failure.tool &&
    (rule.code ?? failure.code) === failure.code
  );
}

export function timesOf(rule: PolicyRule): number {
  return rule.times ?? (rule.action === 'retry' || rule.action === 'go_back' ? 1 : Infinity);
}

export interface Names {
  readonly nodes: readonly string[];
  readonly tools: readonly string[];
  /** Nodes that an edge leaves. */
  readonly edges: readonly string[];
}

/** What is wrong with a table; `undefined` if nothing is. */
export function policyProblem(table: PolicyTable, names: Names, fields: Fields): string | undefined {
  for (const [index, rule] of table.entries()) {
    const problem = ruleProblem(rule, names, fields);
    if (problem !== undefined) return `rule ${index + 1} of its policy ${problem}`;
  }
  return undefined;
}

function ruleProblem(rule: PolicyRule, { nodes, tools, edges }: Names, fields: Fields): string | undefined {
  if (typeof rule !== 'object' || rule === null) return `is ${String(rule)}, not an object`;
  const strange = Object.keys(rule).find((key) => !known.includes(key));
  if (strange !== undefined) return `has "${strange}"; there are ${known.join(', ')}`;
  if (!actions.includes(rule.action)) return `has the action "${rule.action}"; there are ${actions.join(', ')}`;
  return (
    unknown('class', rule.class, failureClasses) ??
    unknown('node', rule.node, nodes) ??
    unknown('tool', rule.tool, tools) ??
    noText('code', rule.code) ??
    (rule.action === 'use_tool' ? unknown('tool to use', String(rule.use), tools) : undefined) ??
    (rule.action === 'use_model' ? noText('use', rule.use, 'the name of a model') : undefined) ??
    (rule.action === 'go_back'
      ? (unknown('place before', String(rule.before), ['model', 'tool', 'load']) ?? noText('hint', rule.hint))
      : undefined) ??
    (rule.action === 'default' ? updateProblem(fields, rule.update) : undefined) ??
    ((rule.action === 'default' || rule.action === 'skip') && rule.node !== undefined && !edges.includes(rule.node)
      ? `has the action "${rule.action}" for node "${rule.node}", and no edge leaves it: add one`
      : undefined) ??
    (rule.times === undefined || (Number.isSafeInteger(rule.times) && rule.times > 0)
      ? undefined
      : `says times ${rule.times}, not a whole number from 1`)
  );
}

function unknown(what: string, name: string | undefined, among: readonly string[]): string | undefined {
  return name === undefined || among.includes(name)
    ? undefined
    : `names the ${what} "${name}"; there are ${among.join(', ')}`;
}

function noText(key: string, given: unknown, wanted?: string): string | undefined {
  const isMissing = given === undefined && wanted !== undefined;
  if (!isMissing && (given === undefined || typeof given === 'string')) return undefined;
  return `has the ${key} ${String(given)}, not ${wanted ?? 'a text'}`;
}

/** As far as it can be told without a state: what reducers make of it shows in the run. */
function updateProblem(fields: Fields, update: object): string | undefined {
  try {
    checkInput(fields, update);
    return undefined;
  } catch (error) {
    return `gives an update that cannot be used: ${String((error as Error).message)}`;
  }
}
