/** What the end of a step does to the lines of a fork: it forks, goes on with its own line, or ends it and joins. */

import { errorToData } from '../base/errors.ts';
import { shown } from '../base/text.ts';
import type { Fields } from '../model/fields.ts';
import type { StepId } from '../model/ids.ts';
import { type Fork, type Line, parentOf } from '../model/lines.ts';
import type { AnyAgent } from '../program/agent.ts';
import { programErrors } from '../program/errors.ts';
import type { Branch, NodeResult } from '../program/node-result.ts';
import { rareProgramErrors } from '../program/rare-errors.ts';
import { entryOf, nextNode, scopeOf } from './agent-nodes.ts';
import type { Boundary } from './boundary.ts';
import { type EndedStep, forks, goesOn, lineOf, stepAfter } from './ended-step.ts';
import type { LineDraft } from './line-draft.ts';
import { Join, type Joined } from './line-join.ts';
import type { LineUpdates } from './line-updates.ts';
import type { StepRun } from './step-run.ts';
import { ledgerHere } from './step-trace.ts';
import type { ThreadState } from './thread-state.ts';

/** Writes to the draft of a commit what it does to the lines, and says what it does to the main one. */
type Draw = (draft: LineDraft) => Promise<Joined>;

export class LineEnds {
  readonly #boundary: Boundary;
  readonly #updates: LineUpdates;

  constructor(boundary: Boundary, updates: LineUpdates) {
    this.#boundary = boundary;
    this.#updates = updates;
  }

  /** After a step on a line of a fork, or one that forks. `seen`: the state as the line sees it with the step's update. */
  after(ended: EndedStep, result: NodeResult<Fields, string>, seen: ThreadState): Draw {
    const { run } = ended;
    const { path } = run.scheduled;
    return async (draft) => {
      if (forks(result)) {
        await this.#fork(draft, ended, result);
        return path === '' ? { updates: [result.update] } : this.#own(draft, path, result.update);
      }
      const { agent } = this.#boundary.parts.options;
      const next = nextNode(agent, ended.node.name, goesOn(result), seen.values, this.#scopeOf(draft, path));
      const step = next === null ? null : await this.#stepAfter(run.scheduled.step, next, path);
      this.#own(draft, path, result.update);
      const line = lineOf(draft, path);
      if (next !== null && step !== null) {
        draft.putLine({ ...line, node: next, step, ...this.#here(run), waits: [] });
        return { updates: [] };
      }
      draft.putLine({ ...line, status: 'done', waits: [] });
      return this.#joins(draft, ended).after(path);
    };
  }

  /** After a step that failed on a line of a fork. */
  failed(ended: EndedStep, cause: unknown): Draw {
    const { path } = ended.run.scheduled;
    return async (draft) => {
      draft.putLine({
        ...lineOf(draft, path),
        status: 'failed',
        waits: [],
        error: this.#boundary.parts.writer.codec.secrets.masked(errorToData(cause)),
      });
      return this.#joins(draft, ended).after(path);
    };
  }

  async #fork(
    draft: LineDraft,
    { node, run }: EndedStep,
    result: Extract<NodeResult<Fields, string>, { type: 'fork' }>,
  ): Promise<void> {
    const { path, step } = run.scheduled;
    const { branches, join, limit } = forkOf(this.#boundary.parts.options.agent, node.name, result);
    const fork: Fork = {
      path,
      node: node.name,
      step,
      join,
      count: branches.length,
      failures: result.options.failures ?? 'stop',
      limit,
    };
    draft.putFork(fork);
    const here = this.#here(run);
    for (const [index, branch] of branches.entries()) {
      const child = path === '' ? String(index) : `${path}/${index}`;
      const line: Line = {
        path: child,
        node: branch.node,
        step: await this.#stepAfter(step, branch.node, child),
        ...here,
        waits: [],
        status: 'open',
        updates: 0,
        error: null,
      };
      draft.putLine(line);
      draft.putItem(child, branch.item);
    }
    if (path !== '') draft.putLine({ ...lineOf(draft, path), status: 'forked', waits: [] });
  }

  /** Adds the update to those of the line; the main line is not touched by it. */
  #own(draft: LineDraft, path: string, update: object): Joined {
    draft.addUpdate(path, update);
    return { updates: [] };
  }

  #joins(draft: LineDraft, { main, run }: EndedStep): Join {
    return new Join({
      draft,
      main,
      agent: this.#boundary.parts.options.agent,
      updatesOf: (path) => this.#updates.of(path, draft),
      stepAfter: (predecessor, node, path) => this.#stepAfter(predecessor, node, path),
      hash: (steps) => this.#boundary.parts.writer.codec.sealer.hash('join', ...steps) as Promise<StepId>,
      here: () => this.#here(run),
    });
  }

  #here(ended: StepRun) {
    return { from: ledgerHere(this.#boundary.image, ended).from, sinceMs: this.#boundary.elapsedMs() };
  }

  #scopeOf(draft: LineDraft, path: string): string {
    return path === '' ? '' : scopeOf(draft.lines.forks.get(parentOf(path).path)?.node ?? '');
  }

  #stepAfter(predecessor: StepId, node: string, path: string): Promise<StepId> {
    return stepAfter(this.#boundary, predecessor, node, path);
  }
}

const forkOptions: readonly string[] = ['join', 'failures', 'limit', 'update'];

/** The first nodes of a fork's lines, and where it goes on. @throws `fork_invalid` */
function forkOf(
  agent: AnyAgent,
  node: string,
  { branches, options }: Extract<NodeResult<Fields, string>, { type: 'fork' }>,
): { readonly branches: readonly Branch[]; readonly join: string | null; readonly limit: number } {
  const { join, limit = 8 } = options;
  const strange = Object.keys(options).find((option) => !forkOptions.includes(option));
  if (strange !== undefined) {
    const problem = `its options have "${strange}"; there are ${forkOptions.join(', ')}`;
    throw rareProgramErrors.make('fork_invalid', { node, problem });
  }
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw rareProgramErrors.make('fork_invalid', {
      node,
      problem: `its limit ${shown(limit)} is not a whole number from 1`,
    });
  }
  const { failures = 'stop' } = options;
  if (failures !== 'stop' && failures !== 'collect')
    throw rareProgramErrors.make('fork_invalid', {
      node,
      problem: `its failures "${String(failures)}" is neither stop nor collect`,
    });
  const entry = (to: string, what: string) => {
    try {
      return entryOf(agent, `${scopeOf(node)}${to}`);
    } catch (cause) {
      if (!programErrors.is(cause, 'node_unknown')) throw cause;
      // Named by the code that runs now, not by a thread of another version: nothing would bring it back.
      const problem = `${what} "${to}" is not there; there are ${cause.details.known}`;
      throw rareProgramErrors.make('fork_invalid', { node, problem }, cause);
    }
  };
  return {
    branches: branches.map((branch) => ({ ...branch, node: entry(branch.node, 'its branch') })),
    join: join === undefined ? null : entry(join, 'its join'),
    limit,
  };
}
