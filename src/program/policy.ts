/**
 * The policy table of an agent (B6, B8): data that says what is done about a failure once its retries are spent. Rules are
 * tried in their order; the first that fits, can be carried out, and has not been used up is taken. Each decision is an event.
 */
import { ownCopy } from '../base/own-copy.ts';
import { notPlain } from '../base/plain-object.ts';
import type { Fields } from '../model/fields.ts';
import { FileRef } from '../model/file-ref.ts';
import { type FailureClass, failureClasses } from './failure-class.ts';
import { checkInput, wholeInput } from './state.ts';

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

/** What each action has beside `match` and `times`. */
const actions: Readonly<Record<string, readonly string[]>> = {
  retry: [],
  wait_network: [],
  go_back: ['before', 'hint'],
  use_tool: ['use'],
  use_model: ['use'],
  value: ['value'],
  default: ['update'],
  skip: [],
  ask: [],
  stop: [],
} satisfies Record<PolicyAction['action'], readonly string[]>;
const callActions: readonly string[] = ['use_tool', 'use_model', 'value'];
const match: readonly string[] = ['class', 'node', 'tool', 'code', 'action', 'times'];

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
  const { action } = rule;
  if (!Object.hasOwn(actions, action))
    return `has the action "${action}"; there are ${Object.keys(actions).join(', ')}`;
  const known = [...match, ...(actions[action] ?? [])];
  const strange = Object.keys(rule).find((key) => !known.includes(key));
  if (strange !== undefined) return `has "${strange}"; with "${action}" there are ${known.join(', ')}`;
  return (
    unknown('class', rule.class, failureClasses) ??
    unknown('node', rule.node, nodes) ??
    unknown('tool', rule.tool, tools) ??
    noText('code', rule.code) ??
    (rule.action === 'use_tool' ? unknown('tool to use', String(rule.use), tools) : undefined) ??
    (rule.action === 'use_model' ? noText('use', rule.use, 'the name of a model') : undefined) ??
    (rule.action === 'go_back'
      ? (unknown('place before', String(rule.before), ['model', 'tool', 'load']) ?? noText('hint', rule.hint, 'a text'))
      : undefined) ??
    (rule.action === 'default' ? updateProblem(fields, rule.update) : undefined) ??
    (rule.action === 'value' ? valueProblem(rule.value) : undefined) ??
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

function valueProblem(value: unknown): string | undefined {
  if (value === undefined) return 'has no value: give one, null where there is none';
  const code: string[] = [];
  ownCopy(value, undefined, (part) => isStored(part) || code.push(notPlain(part)));
  return code[0] && `has a value that cannot be stored; something in it is ${code[0]}`;
}

function isStored(part: unknown): boolean {
  return [FileRef, Error, ArrayBuffer].some((kind) => part instanceof kind) || ArrayBuffer.isView(part);
}

/** As far as it can be told without a state: what reducers make of it shows in the run. */
function updateProblem(fields: Fields, update: object): string | undefined {
  try {
    checkInput(fields, update);
    return undefined;
  } catch (error) {
    const { field, problem } = (error as { details: { field: string; problem?: string } }).details;
    const own = field === wholeInput ? problem : `its field "${field}" does not fit its schema: ${problem}`;
    return `gives an update that cannot be used: ${problem === undefined ? (error as Error).message : own}`;
  }
}
