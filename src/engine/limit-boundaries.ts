/** The commits of a run that reaches a limit, and of one that may go on after it (B7). */
import type { Control, Limits } from '../model/checkpoint.ts';
import { type Extension, withSettled } from '../model/inbox.ts';
import { type Boundary, earliest } from './boundary.ts';
import { controlOf } from './control-of.ts';
import { LineDraft } from './line-draft.ts';
import { openLines } from './line-status.ts';
import { halted } from './run-end.ts';

/** Saves a run that reached a limit. Its next step and its open waits stay as they are. */
export async function halt(boundary: Boundary, why: 'timed_out' | 'out_of_budget'): Promise<void> {
  const { limits } = boundary.control;
  const ms = boundary.elapsedMs();
  await boundary.commit(() => ({
    cause: why,
    control: { status: why },
    events: [boundary.event(why, { ms, runMs: limits.runMs, tokens: limits.tokens, cost: limits.cost })],
    heavy: true,
  }));
  boundary.parts.emit({ type: 'status', status: why, failure: null });
}

/**
 * Whether the run stands at a limit, with its steps and waits, until somebody extends it or gives it up. A child that failed by its
 * step limit has ended, as its parent was told.
 */
export function standsAtLimit({ control, parts }: Boundary): boolean {
  return halted.includes(control.status) || (isOutOfSteps(control) && parts.writer.codec.parent === null);
}

function isOutOfSteps({ status, failure }: Control): boolean {
  return status === 'failed' && failure?.code === 'step_limit';
}

/**
 * Raises limits. A run that had reached one goes on; also one that failed by the step limit, unless it was cancelled since. The
 * steps of one that was timed out have their deadlines anew: else it would stop at them again at once. The thread is to be woken
 * for waits whose time passed meanwhile, or still has to.
 */
export async function extend(boundary: Boundary, order: number, extension: Extension): Promise<void> {
  const { control, position, lines } = boundary;
  const isThere = position.next.length > 0 || lines.forks.size > 0;
  const goesOn = halted.includes(control.status) || (isOutOfSteps(control) && isThere);
  const open = await boundary.unanswered(control.waits);
  const wakeUpAtMs = earliest(open.map(({ expiresAtMs }) => expiresAtMs));
  const sinceMs = boundary.elapsedMs();
  await boundary.commit((image) => {
    const before = controlOf(image, boundary.parts.options.agent.maxSteps);
    const draft = new LineDraft(boundary.lines);
    if (control.status === 'timed_out') for (const line of openLines(draft.lines)) draft.putLine({ ...line, sinceMs });
    return {
      cause: 'extended',
      lines: draft.lines,
      change: { set: draft.set, append: new Map(), remove: [] },
      control: {
        ...(control.status === 'timed_out' && { stepFromMs: sinceMs }),
        ...(goesOn && { status: 'running', failure: null }),
        ...withSettled(before, [order]),
        run: { ...before.run, maxSteps: before.run.maxSteps + (extension.steps ?? 0) },
        limits: extended(before.limits, extension),
      },
      events: [boundary.event('extended', { order, ...extension })],
      wakeUpAtMs: goesOn ? wakeUpAtMs : image.row.wakeUpAtMs,
      heavy: false,
    };
  });
  if (goesOn) boundary.parts.emit({ type: 'status', status: 'running', failure: null });
}

/** A limit that was not set is none, however it is extended. */
function extended(limits: Limits, extension: Extension): Limits {
  const more = (limit: number | null, by: number | undefined) => (limit === null ? null : limit + (by ?? 0));
  return {
    runMs: more(limits.runMs, extension.runMs),
    tokens: more(limits.tokens, extension.tokens),
    cost: more(limits.cost, extension.cost),
  };
}
