/** What is left of a run's time and budget (B7). */
import type { Control, Position, Spent } from '../model/checkpoint.ts';
import { holdsNothing } from '../model/inbox.ts';
import type { Lines } from '../model/lines.ts';
import type { AnyAgent } from '../program/agent.ts';
import { nodeOf } from './agent-nodes.ts';
import { openLines } from './line-status.ts';

/** Leases in a row without a committed step before a thread is stopped as failed (PROTOCOL 5). */
export const defaultMaxResumes = 8;

/**
 * Milliseconds until the run, or one of its steps that stand, must be over: 0 or less if it is too late. Infinity without a
 * deadline, and while runs are gone through again after a repair: they are over already. `elapsedMs` is how long the run has taken
 * by now.
 */
export function timeLeft(
  agent: AnyAgent,
  { limits, stepFromMs, inboxReplay }: Pick<Control, 'limits' | 'stepFromMs' | 'inboxReplay'>,
  { next }: Pick<Position, 'next'>,
  lines: Lines,
  elapsedMs: number,
): number {
  if (inboxReplay !== null && !holdsNothing(inboxReplay)) return Infinity;
  const steps =
    lines.forks.size > 0
      ? openLines(lines).map((line) => stepLeft(agent, line.node, elapsedMs - line.sinceMs))
      : next.map(({ node }) => stepLeft(agent, node, elapsedMs - stepFromMs));
  return Math.min((limits.runMs ?? Infinity) - elapsedMs, ...steps);
}

/** A node that this version does not have has no deadline: whoever runs it says so. */
function stepLeft(agent: AnyAgent, node: string, tookMs: number): number {
  try {
    return nodeOf(agent, node).deadlineMs - tookMs;
  } catch {
    return Infinity;
  }
}

/** Whether a model call would go beyond what the run may use. */
export function isSpent({ limits, spent }: Pick<Control, 'limits' | 'spent'>, live: Omit<Spent, 'ms'>): boolean {
  const tokens = spent.tokens + live.tokens;
  const cost = spent.cost + live.cost;
  return tokens >= (limits.tokens ?? Infinity) || cost >= (limits.cost ?? Infinity);
}
