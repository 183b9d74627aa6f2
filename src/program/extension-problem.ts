import { shown } from '../base/text.ts';
import { limitProblem, runLimits } from './limit-problem.ts';

/** What is wrong with an extension, which may raise the steps of a run, too. */
export function extensionProblem(extension: unknown): string | undefined {
  if (typeof extension !== 'object' || extension === null) return `${shown(extension)} is no object with numbers`;
  const { steps, ...limits } = extension as { readonly steps?: unknown };
  const strange = Object.keys(limits).find((limit) => !runLimits.includes(limit));
  if (strange !== undefined) return `the extension has "${strange}"; there are ${runLimits.join(', ')}, steps`;
  if (steps === undefined && Object.values(limits).every((amount) => amount === undefined))
    return `the extension is empty; give one of ${runLimits.join(', ')}, steps`;
  if (steps !== undefined && !(Number.isSafeInteger(steps) && (steps as number) > 0))
    return `the extension.steps is ${shown(steps)}, not a whole number from 1`;
  return limitProblem(limits, 'the extension');
}
