import type { Line, Lines } from '../model/lines.ts';
import type { ThreadStatus } from '../model/records.ts';

/** Lines that have a step to run or to wait for. */
export function openLines({ lines }: Lines): readonly Line[] {
  return [...lines.values()].filter(({ status }) => status === 'open');
}

/** A run waits when none of its lines can go on without an answer. `waits` says it of the main line, where that is the one. */
export function statusOf(lines: Lines, waits: boolean): ThreadStatus {
  if (lines.forks.size === 0) return waits ? 'waiting' : 'running';
  return openLines(lines).every((line) => line.waits.length > 0) ? 'waiting' : 'running';
}
