/** What a node returned, as JavaScript hands it in: names of nodes that are none. */
import { checkText, kindOf } from '../program/arguments.ts';
import { rareProgramErrors } from '../program/rare-errors.ts';

interface Given {
  readonly type?: unknown;
  readonly node?: unknown;
  readonly branches?: unknown;
  readonly options?: unknown;
}

/** @throws `node_returned_nothing`, `argument_invalid` for a `goto`, `fork_invalid` for a fork */
export function checkResult(node: string, given: Given): void {
  if (given.type === 'goto') return void checkText('goto(node)', 'the node', given.node);
  if (given.type !== 'fork') throw rareProgramErrors.make('node_returned_nothing', { node });
  const problem = forkProblem(given);
  if (problem !== undefined) throw rareProgramErrors.make('fork_invalid', { node, problem });
}

function forkProblem({ branches, options }: Given): string | undefined {
  if (!Array.isArray(branches)) return `its branches are ${kindOf(branches)}, not a list`;
  for (const [index, branch] of branches.entries()) {
    if (typeof branch !== 'object' || branch === null)
      return `its branch ${index + 1} is ${kindOf(branch)}, not a node`;
    if (typeof branch.node !== 'string')
      return `its branch ${index + 1} is ${kindOf(branch.node)}, not the name of a node`;
  }
  if (typeof options !== 'object' || options === null) return `its options are ${kindOf(options)}, not an object`;
  const { join, failures } = options as { readonly join?: unknown; readonly failures?: unknown };
  if (join !== undefined && typeof join !== 'string') return `its join is ${kindOf(join)}, not the name of a node`;
  if (failures === 'collect' && join === undefined)
    return 'it collects failures, and has no join where a node finds them: name one';
  return undefined;
}
