import type { ThreadStatus } from 'holdfast';
import type { Mark } from './run.ts';

/** What is under way, by node. */
const doing: Readonly<Record<string, string>> = {
  job: 'Reading the job description',
  read: 'Reading the file',
  extract: 'Finding the facts',
  match: 'Matching the skills',
  assess: 'Assessing',
  rank: 'Ranking all applications',
  choose: 'Choosing whom to invite',
  invite: 'Sending invitations',
  report: 'Writing the report',
};

/** What was done, by node; `of` a file where there is one. */
const did: Readonly<Record<string, string>> = {
  job: 'Read the job description',
  read: 'Read',
  extract: 'Found the facts in',
  match: 'Matched the skills of',
  assess: 'Assessed',
  rank: 'Ranked all applications',
  choose: 'Chose whom to invite',
  invite: 'Dealt with the invitations',
  report: 'Wrote the report',
};

const statuses: Readonly<Record<ThreadStatus, string>> = {
  idle: 'Not started',
  running: 'Running',
  timed_out: 'Out of time',
  out_of_budget: 'Out of budget',
  waiting: 'Waiting for you',
  done: 'Finished',
  failed: 'Failed',
  cancelled: 'Stopped',
};

const fileNodes = new Set(['read', 'extract', 'match', 'assess']);

export function doingWords(node: string | null): string {
  return node === null ? 'Starting' : (doing[node] ?? node);
}

/** What a checkpoint holds, in one line. */
export function markWords(mark: Mark, file: string | undefined): string {
  switch (mark.cause) {
    case 'input':
      return mark.sequence === 0 ? 'Took the files' : 'Went on';
    case 'wait':
      return 'Asked you';
    case 'failed':
      return 'Failed';
    case 'cancelled':
      return 'Stopped by you';
    default: {
      const node = mark.node ?? '';
      if (node === 'read' && mark.next !== 'extract') return `Could not read ${file ?? 'a file'}`;
      const words = did[node] ?? node;
      return fileNodes.has(node) ? `${words} ${file ?? 'a file'}` : words;
    }
  }
}

/** A blocked thread has any status: it stands, and cannot go on as things are. */
export function statusWords(status: ThreadStatus, isBlocked: boolean): string {
  return isBlocked ? 'Cannot go on' : statuses[status];
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** "step 4", "steps 4 and 9". */
export function stepsInWords(steps: readonly number[]): string {
  const last = steps.at(-1);
  if (steps.length < 2) return `step ${last ?? 0}`;
  return `steps ${steps.slice(0, -1).join(', ')} and ${last}`;
}

export function sizeInWords(sizeBytes: number): string {
  if (sizeBytes < 1_024) return `${sizeBytes} bytes`;
  if (sizeBytes < 1_024 * 1_024) return `${(sizeBytes / 1_024).toFixed(1)} KB`;
  const megabytes = sizeBytes / 1_024 / 1_024;
  return `${megabytes.toFixed(Number.isInteger(megabytes) ? 0 : 1)} MB`;
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });

export function timeOfDay(atMs: number): string {
  return clock.format(atMs);
}

/** The time alone where it was today. */
export function dayAndTime(atMs: number, nowMs = Date.now()): string {
  const isToday = new Date(atMs).toDateString() === new Date(nowMs).toDateString();
  return isToday ? clock.format(atMs) : day.format(atMs);
}
