import { shown } from '../base/text.ts';

export const runLimits: readonly string[] = ['runMs', 'tokens', 'cost'];

/** What is wrong with these limits; `undefined` if nothing is. */
export function limitProblem(limits: object, name: string): string | undefined {
  for (const [limit, amount] of Object.entries(limits as Readonly<Record<string, unknown>>)) {
    if (!runLimits.includes(limit)) return `${name} has "${limit}"; there are ${runLimits.join(', ')}`;
    const problem = amount === undefined ? undefined : amountProblem(`${name}.${limit}`, amount);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function amountProblem(name: string, amount: unknown): string | undefined {
  return typeof amount === 'number' && amount > 0 && amount !== Infinity
    ? undefined
    : `${name} is ${shown(amount)}, not a number above 0`;
}
