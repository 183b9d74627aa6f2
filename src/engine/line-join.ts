/** Joins lines that have ended into the one that forked, and that one into its own, as far as it goes. */
import { type ErrorData, errorToData } from '../base/errors.ts';
import type { ScheduledStep } from '../model/checkpoint.ts';
import type { StepId } from '../model/ids.ts';
import { type Fork, hasEnded, type Line, type LineFailure, linesOf, parentOf } from '../model/lines.ts';
import type { AnyAgent } from '../program/agent.ts';
import { rareProgramErrors } from '../program/rare-errors.ts';
import { nextNode, scopeOf } from './agent-nodes.ts';
import type { LineDraft } from './line-draft.ts';
import type { ThreadState } from './thread-state.ts';

/** What a commit does to the main line: its updates, and where it goes on: `undefined` while it stands, `null` for the end. */
export interface Joined {
  readonly updates: readonly object[];
  readonly next?: ScheduledStep | null;
  readonly failure?: ErrorData;
}

export interface JoinParts {
  readonly draft: LineDraft;
  readonly main: ThreadState;
  readonly agent: AnyAgent;
  /** The updates that a line has made, those of this commit included. */
  readonly updatesOf: (path: string) => Promise<readonly object[]>;
  readonly stepAfter: (predecessor: StepId, node: string, path: string) => Promise<StepId>;
  readonly hash: (steps: readonly StepId[]) => Promise<StepId>;
  /** Where the ledger and the run's time stand now. */
  readonly here: () => { readonly from: number; readonly sinceMs: number };
}

export class Join {
  readonly #parts: JoinParts;

  constructor(parts: JoinParts) {
    this.#parts = parts;
  }

  /** Called when the line of this path has ended. */
  async after(path: string): Promise<Joined> {
    const { draft } = this.#parts;
    const parent = parentOf(path).path;
    const fork = draft.lines.forks.get(parent);
    const lines = linesOf(draft.lines, parent);
    if (fork === undefined || !lines.every(hasEnded)) return { updates: [] };
    const updates = await this.#updatesOf(lines);
    const failures = failuresOf(lines);
    const [first] = failures;
    const failure = first === undefined || fork.failures === 'collect' ? undefined : failed(fork, failures, first);
    return parent === ''
      ? this.#intoMain(fork, lines, updates, failures, failure)
      : this.#intoLine(fork, lines, updates, failures, failure);
  }

  async #intoMain(
    fork: Fork,
    lines: readonly Line[],
    updates: readonly object[],
    failures: readonly LineFailure[],
    failure: ErrorData | undefined,
  ): Promise<Joined> {
    const { draft, main } = this.#parts;
    try {
      main.compose(updates);
    } catch (error) {
      // Each fitted by itself, all of them do not: nothing of it can be applied, and the lines stay as they are.
      return { updates: [], failure: errorToData(error) };
    }
    draft.removeFork('');
    if (failure !== undefined) return { updates, failure };
    const node = this.#goesOnAt(fork, main.with(updates), '');
    if (node !== null) draft.putFailures('', failures);
    return { updates, next: node === null ? null : { node, step: await this.#stepAfter(fork, lines, node), path: '' } };
  }

  async #intoLine(
    fork: Fork,
    lines: readonly Line[],
    updates: readonly object[],
    failures: readonly LineFailure[],
    failure: ErrorData | undefined,
  ): Promise<Joined> {
    const { draft, main } = this.#parts;
    const { path } = fork;
    draft.removeFork(path);
    for (const update of updates) draft.addUpdate(path, update);
    const line = draft.lines.lines.get(path);
    if (line === undefined) return { updates: [] };
    if (failure !== undefined) {
      draft.putLine({ ...line, status: 'failed', error: failure });
      return this.after(path);
    }
    const state = main.with(await this.#seenBy(path));
    const scope = scopeOf(draft.lines.forks.get(parentOf(path).path)?.node ?? '');
    const node = this.#goesOnAt(fork, state, scope);
    const step = await this.#stepAfter(fork, lines, node ?? fork.node);
    if (node === null) {
      draft.putLine({ ...line, status: 'done', step });
      return this.after(path);
    }
    draft.putFailures(path, failures);
    draft.putLine({ ...line, status: 'open', node, step, ...this.#parts.here(), waits: [] });
    return { updates: [] };
  }

  #goesOnAt(fork: Fork, state: ThreadState, scope: string): string | null {
    if (fork.join !== null) return fork.join;
    return nextNode(this.#parts.agent, fork.node, { type: 'end', update: {} }, state.values, scope);
  }

  async #stepAfter(fork: Fork, lines: readonly Line[], node: string): Promise<StepId> {
    const predecessors = await this.#parts.hash([fork.step, ...lines.map(({ step }) => step)]);
    return this.#parts.stepAfter(predecessors, node, fork.path);
  }

  async #updatesOf(lines: readonly Line[]): Promise<readonly object[]> {
    const all = await Promise.all(lines.map(({ path }) => this.#parts.updatesOf(path)));
    return all.flat();
  }

  /** The updates of the line and of those that it comes from. */
  async #seenBy(path: string): Promise<readonly object[]> {
    const own = await this.#parts.updatesOf(path);
    const parent = parentOf(path).path;
    return parent === '' ? own : [...(await this.#seenBy(parent)), ...own];
  }
}

function failuresOf(lines: readonly Line[]): readonly LineFailure[] {
  return lines.flatMap(({ path, node, error, status }) =>
    status === 'failed' && error !== null ? [{ index: parentOf(path).index, node, error }] : [],
  );
}

function failed(fork: Fork, failures: readonly LineFailure[], first: LineFailure): ErrorData {
  const { node, count } = fork;
  const details = { node, failed: failures.length, lines: count, first: first.error.message };
  return errorToData(rareProgramErrors.make('lines_failed', details));
}
