/** What is wrong with these limits; `undefined` if nothing is. */
export function limitProblem(limits: object, name: string): string | undefined {
  for (const [limit, amount] of Object.entries(limits as Readonly<Record<string, unknown>>)) {
    if (limit !== 'runMs' && limit !== 'tokens' && limit !== 'cost' && limit !== 'steps')
      return `${name} has "${limit}"; there are runMs, tokens and cost`;
    if (amount === undefined) continue;
    if (typeof amount !== 'number' || !(amount > 0) || amount === Infinity)
      return `${name}.${limit} is ${String(amount)}, not a number above 0`;
  }
  return undefined;
}
