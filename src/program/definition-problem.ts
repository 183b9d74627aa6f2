/** What JavaScript lets through in a definition: numbers that are none, options that are misspelt. One table, for each start reads it. */
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
const approval: Check = [
  '"always", "never" or a function',
  (given) => given === 'always' || given === 'never' || work[1](given),
];
/** Known, and checked elsewhere or by its type alone. */
const elsewhere = undefined;

const retryChecks: Checks = { attempts: whole, backoffMs: waits, jitter: part };
const nodeChecks: Checks = {
  run: work,
  critical: elsewhere,
  retry: elsewhere,
  timeLimitMs: above0,
  deadlineMs: elsewhere,
};
const toolChecks: Checks = {
  ...{
    name: elsewhere,
    description: elsewhere,
    input: elsewhere,
    effect: elsewhere,
    network: elsewhere,
    fenced: elsewhere,
    retry: elsewhere,
    run: work,
  },
  ...{ approval, reason: work, approvalExpiresMs: above0, verify: work, compensate: work },
  ...{ timeLimitMs: above0, settleMs: from0 },
};
const agentKeys =
  'name version stateVersion state tools start nodes edges maxSteps limits policy agents aliases earlier migrations rehydrate'.split(
    ' ',
  );

/** What is wrong with the keys of an agent; `undefined` if nothing is. */
export function agentProblem(agent: object): string | undefined {
  const given = agent as Readonly<Record<string, unknown>>;
  const missing = ['state', 'nodes'].find((key) => typeof given[key] !== 'object' || given[key] === null);
  if (missing !== undefined) return `it has no ${missing}: give an object`;
  const strange = Object.keys(given).find((key) => !agentKeys.includes(key));
  return strange === undefined ? undefined : `it has "${strange}"; there are ${agentKeys.join(', ')}`;
}

export function nodeProblem(name: string, node: object): string | undefined {
  return problemIn(`node "${name}"`, node, nodeChecks);
}

export function toolDefinitionProblem(name: string, tool: object): string | undefined {
  if (!('input' in tool)) return `tool "${name}" has no input: give a schema`;
  return problemIn(`tool "${name}"`, tool, toolChecks);
}

function problemIn(what: string, definition: object, checks: Checks): string | undefined {
  for (const [key, given] of Object.entries(definition)) {
    if (!Object.hasOwn(checks, key)) return `${what} has "${key}"; there are ${Object.keys(checks).join(', ')}`;
    const [wanted, fits] = checks[key] ?? [];
    if (given === undefined) continue;
    if (fits?.(given) === false)
      return `${what} has the ${key} ${typeof given === 'number' ? given : (JSON.stringify(given) ?? String(given))}, not ${wanted}`;
    if (key === 'retry') {
      const problem = problemIn(`the retry of ${what}`, given as object, retryChecks);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}
