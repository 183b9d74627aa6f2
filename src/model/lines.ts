/**
 * Lines of a run that has forked. A line is one branch, or one item of a fan-out: it goes from node to node by itself until
 * it ends, and what it changes is kept beside the state until all lines of its fork have ended. Then their updates are
 * applied in the order of the lines, whichever ended first. Lines are kept as hidden fields of the state, so that a step of
 * one line costs what that line changed, however many there are.
 */
import type { ErrorData } from '../base/errors.ts';
import type { StepId, WaitId } from './ids.ts';

/** A line that is not the main one. Its path names the fork and the place in it: `2`, and inside of that `2/0`. */
export interface Line {
  readonly path: string;
  readonly node: string;
  /** The step that is to run next or, once the line has ended, the one that ended it. */
  readonly step: StepId;
  /** Ledger entries that were begun when the step was scheduled. */
  readonly from: number;
  /** How long the run had taken by then: what the step's deadline counts from. */
  readonly sinceMs: number;
  /** What its step waits for. */
  readonly waits: readonly WaitId[];
  /** `forked`: goes on when its own lines have ended. */
  readonly status: 'open' | 'forked' | 'done' | 'failed';
  /** How many updates it has made. */
  readonly updates: number;
  readonly error: ErrorData | null;
}

export interface Fork {
  /** The line that forked; empty for the main one. */
  readonly path: string;
  readonly node: string;
  readonly step: StepId;
  /** Where that line goes on when all have ended; `null` ends it. */
  readonly join: string | null;
  readonly count: number;
  /** What failed lines do: `stop` fails the run once the others have ended; `collect` tells the next node of them. */
  readonly failures: 'stop' | 'collect';
  /** Lines that run at the same time. */
  readonly limit: number;
}

/** A line that failed, as the node after its fork sees it. */
export interface LineFailure {
  /** Place of the line in its fork, from 0. */
  readonly index: number;
  readonly node: string;
  readonly error: ErrorData;
}

export interface Lines {
  readonly lines: ReadonlyMap<string, Line>;
  readonly forks: ReadonlyMap<string, Fork>;
}

export const noLines: Lines = { lines: new Map(), forks: new Map() };

/** Fields that hold lines begin with this; an agent's own may not. */
export const hiddenPrefix = '#';

export const hiddenFields = {
  line: (path: string) => `#line/${path}`,
  fork: (path: string) => `#fork/${path}`,
  item: (path: string) => `#item/${path}`,
  update: (path: string, index: number) => `#update/${path}/${index}`,
  failures: (path: string) => `#failures/${path}`,
  hint: (path: string) => `#hint/${path}`,
  asked: (path: string) => `#asked/${path}`,
} as const;

function childPath(parent: string, index: number): string {
  return parent === '' ? String(index) : `${parent}/${index}`;
}

/** The line that forked into this one, and the place in that fork. */
export function parentOf(path: string): { readonly path: string; readonly index: number } {
  const cut = path.lastIndexOf('/');
  return { path: path.slice(0, Math.max(0, cut)), index: Number(path.slice(cut + 1)) };
}

/** The lines of one fork, in their order. */
export function linesOf({ lines, forks }: Lines, path: string): readonly Line[] {
  const count = forks.get(path)?.count ?? 0;
  return Array.from({ length: count }, (_, index) => lines.get(childPath(path, index))).filter(
    (line) => line !== undefined,
  );
}

export function hasEnded({ status }: Line): boolean {
  return status === 'done' || status === 'failed';
}
