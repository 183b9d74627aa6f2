/** A step that has ended, and what its end changes. */
import { raised } from '../base/counts.ts';
import type { StateChange } from '../codec/commit-builder.ts';
import type { ThreadImage } from '../codec/thread-image.ts';
import type { Control } from '../model/checkpoint.ts';
import type { Fields } from '../model/fields.ts';
import type { StepId } from '../model/ids.ts';
import type { Line } from '../model/lines.ts';
import type { NodeResult } from '../program/node-result.ts';
import type { AppliedUpdate } from '../program/state.ts';
import type { RunnableNode } from './agent-nodes.ts';
import type { Boundary } from './boundary.ts';
import { stepIdFor } from './identity.ts';
import type { LineDraft } from './line-draft.ts';
import type { StepRun } from './step-run.ts';
import type { ThreadState } from './thread-state.ts';

export interface EndedStep {
  readonly node: RunnableNode;
  readonly run: StepRun;
  /** The state that all lines began with. */
  readonly main: ThreadState;
  /** The state that this line saw. */
  readonly state: ThreadState;
  readonly stepMs: number;
}

/** The id of the step that follows on a line. */
export function stepAfter(boundary: Boundary, predecessor: StepId, node: string, path: string): Promise<StepId> {
  const { lineage, run } = boundary.control;
  return stepIdFor(boundary.parts.writer.codec, { lineage, predecessor, node, path, input: run.input });
}

type Fork = Extract<NodeResult<Fields, string>, { type: 'fork' }>;

export function forks(result: NodeResult<Fields, string>): result is Fork {
  return result.type === 'fork' && result.branches.length > 0;
}

/** How the line itself goes on: after a fork without branches as after one whose lines have ended. */
export function goesOn(result: NodeResult<Fields, string>): Exclude<NodeResult<Fields, string>, { type: 'fork' }> {
  if (result.type !== 'fork') return result;
  const { options, update } = result;
  return options.join === undefined ? { type: 'end', update } : { type: 'goto', node: options.join, update };
}

export function lineOf(draft: LineDraft, path: string): Line {
  const line = draft.lines.lines.get(path);
  if (line === undefined) throw new Error(`There is no line ${path}.`);
  return line;
}

/** What the commit changes: the state, and the hidden fields of the lines. */
export function changeOf({ state }: ThreadImage, applied: AppliedUpdate, draft: LineDraft): StateChange {
  return {
    set: new Map([...applied.set, ...draft.set]),
    append: applied.append,
    remove: draft.remove.filter((name) => state?.fields.has(name)),
  };
}

/** Model use after a step, or after an attempt that failed: that was paid for, too. */
export function usedAfter({ usage, spent }: Control, { inputTokens, outputTokens, cost }: StepRun['tally']) {
  return {
    usage: {
      inputTokens: usage.inputTokens + inputTokens,
      outputTokens: usage.outputTokens + outputTokens,
      cost: usage.cost + cost,
    },
    spent: { ...spent, tokens: spent.tokens + inputTokens + outputTokens, cost: spent.cost + cost },
  };
}

export function retriesAfter(counts: Readonly<Record<string, number>>, { ledger, scheduled: { node } }: StepRun) {
  const failures = ledger.nodeFailures.length;
  return failures === 0 ? counts : raised(counts, node, failures);
}
