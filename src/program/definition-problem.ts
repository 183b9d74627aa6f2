/** What JavaScript lets through in a definition: numbers that are none, options that are misspelt. One table, for each start reads it. */
import { shown } from '../base/text.ts';
import { fieldProblem, isSchema } from '../model/field-problem.ts';

type Check = readonly [wanted: string, fits: (given: unknown) => boolean];
type Checks = Readonly<Record<string, Check | undefined>>;

const isNumber = (given: unknown): given is number => typeof given === 'number' && Number.isFinite(given);
const whole: Check = ['a whole number from 1', (given) => Number.isSafeInteger(given) && (given as number) >= 1];
const above0: Check = ['a number above 0', (given) => isNumber(given) && given > 0];
const from0: Check = ['a number from 0', (given) => isNumber(given) && given >= 0];
const waits: Check = [
  'a list of numbers from 0 that is not empty',
  (given) => Array.isArray(given) && given.length > 0 && given.every(from0[1]),
];
const part: Check = ['a number from 0 to 1', (given) => isNumber(given) && given >= 0 && given <= 1];
const work: Check = ['a function', (given) => typeof given === 'function'];
const text: Check = ['a text', (given) => typeof given === 'string'];
const truth: Check = ['true or false', (given) => typeof given === 'boolean'];
const object: Check = ['an object', isObject];
const list: Check = ['a list', Array.isArray];
const agents: Check = [
  'a list of agents or a function',
  (given) => work[1](given) || (Array.isArray(given) && given.every(isObject)),
];
const works: Check = ['an object with functions', (given) => isObject(given) && Object.values(given).every(work[1])];
const approval: Check = [
  '"always", "never" or a function',
  (given) => given === 'always' || given === 'never' || work[1](given),
];
/** Known, and checked elsewhere or by its type alone. */
const elsewhere = undefined;

const retryChecks: Checks = { attempts: whole, backoffMs: waits, jitter: part };
const nodeChecks: Checks = {
  run: work,
  critical: truth,
  retry: object,
  timeLimitMs: above0,
  deadlineMs: elsewhere,
};
const toolChecks: Checks = {
  ...{ name: elsewhere, description: text, input: elsewhere, effect: elsewhere },
  ...{ network: truth, fenced: truth, retry: object, run: work },
  ...{ approval, reason: work, approvalExpiresMs: above0, verify: work, compensate: work },
  ...{ timeLimitMs: above0, settleMs: from0 },
};
const graphChecks: Checks = { start: text, nodes: object, edges: object };
const agentChecks: Checks = {
  ...{
    name: text,
    version: whole,
    stateVersion: whole,
    state: elsewhere,
    tools: object,
    ...graphChecks,
    maxSteps: whole,
  },
  ...{ limits: object, policy: list, agents, aliases: elsewhere, earlier: list, migrations: works, rehydrate: work },
};
const aliasChecks: Checks = { nodes: object, tools: object };

/** What is wrong with the options of an agent; `undefined` if nothing is. */
export function agentProblem(agent: object): string | undefined {
  const given = agent as Readonly<Record<string, unknown>>;
  const missing = ['state', 'nodes'].find((key) => !isObject(given[key]));
  if (missing !== undefined) return `it has no ${missing}: give an object`;
  const absent = ['name', 'version'].find((key) => given[key] === undefined || given[key] === '');
  if (absent !== undefined) return `it has no ${absent}`;
  return (
    problemIn('it', agent, agentChecks) ??
    (given.aliases === undefined ? undefined : problemIn('its aliases', given.aliases, aliasChecks)) ??
    Object.entries(given.state as object)
      .map(([field, declared]) => fieldProblem(field, declared))
      .find((problem) => problem !== undefined)
  );
}

export function nodeProblem(name: string, node: unknown): string | undefined {
  return problemIn(`node "${name}"`, node, nodeChecks) ?? missingIn(`node "${name}"`, node as object);
}

export function subgraphProblem(name: string, graph: object): string | undefined {
  return problemIn(`graph "${name}"`, graph, graphChecks);
}

export function toolDefinitionProblem(name: string, tool: object): string | undefined {
  if (!isSchema((tool as { readonly input?: unknown }).input)) return `tool "${name}" has no input: give a schema`;
  const { description = '' } = tool as { readonly description?: unknown };
  if (description === '') return `tool "${name}" has no description: people who are asked read it`;
  return problemIn(`tool "${name}"`, tool, toolChecks) ?? missingIn(`tool "${name}"`, tool);
}

function missingIn(what: string, definition: object): string | undefined {
  const { run } = definition as { readonly run?: unknown };
  return typeof run === 'function' ? undefined : `${what} has no run: give a function`;
}

function problemIn(what: string, definition: unknown, checks: Checks): string | undefined {
  if (!isObject(definition)) return `${what} is ${shown(definition)}, not an object`;
  for (const [key, given] of Object.entries(definition)) {
    if (!Object.hasOwn(checks, key)) return `${what} has "${key}"; there are ${Object.keys(checks).join(', ')}`;
    const [wanted, fits] = checks[key] ?? [];
    if (given === undefined) continue;
    if (fits?.(given) === false) return `${what} has the ${key} ${shown(given)}, not ${wanted}`;
    if (key === 'retry') {
      const problem = problemIn(`the retry of ${what}`, given, retryChecks);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function isObject(given: unknown): given is object {
  return typeof given === 'object' && given !== null;
}
