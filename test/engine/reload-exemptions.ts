/**
 * Tests of the engine that a reload after each boundary cannot pass unchanged, each with the reason, which the report prints.
 * Nothing else is left out of the second run of the suite.
 */
import { beforeEach } from 'vitest';
import { reloads } from './reloading-thread.ts';

interface Exemption {
  readonly title: RegExp;
  readonly reason: string;
}

const sameProcess = 'tells of two things that happen in one process at the same time: the reload ends one of them';
const counted = 'counts leases, resumes or reads, or lists every event: each reload adds its own';
const jump = 'a clock that jumps can be noticed only by a process that outlives the jump';

export const exemptions: readonly Exemption[] = [
  { title: /an answer that is being looked up while the last line stops is not missed/, reason: sameProcess },
  { title: /goes on at once with an answer that comes from another tab/, reason: sameProcess },
  { title: /takes up an answer that it was not told of, before it ends/, reason: sameProcess },
  { title: /a call that was under way is in doubt, and its later answer is still recorded/, reason: sameProcess },
  { title: /an event that comes while another call of the node runs is handed to it there/, reason: sameProcess },
  { title: /here: it is stopped first, and its call in doubt needs a choice/, reason: sameProcess },
  { title: /runs no more lines at a time than its limit/, reason: sameProcess },
  { title: /recorded calls of a step that is open need a choice/, reason: sameProcess },
  { title: /a thread whose next node is gone is blocked, names node and version/, reason: sameProcess },
  { title: /one that waits does not end the run while the other is in a call/, reason: sameProcess },
  {
    title: /an attempt whose intent is on record, and was not acknowledged, counts for a step that runs again at once/,
    reason: sameProcess,
  },
  {
    title: /an entry that was written while all answers of the store were lost is known to the step beside it/,
    reason: sameProcess,
  },
  { title: /an edit or a fork between retry . and the calls of its step/, reason: sameProcess },
  { title: /a run that is blocked beside a step stops the step that is under way/, reason: sameProcess },
  { title: /closes the wait: a later answer is refused, and nothing is called/, reason: sameProcess },
  { title: /drops the inputs that were queued before it by name/, reason: counted },
  { title: /control is the same: retries by node, branches taken/, reason: counted },
  { title: /resumes are counted with the commit that follows them/, reason: counted },
  { title: /the lease that an older one gives back does not touch the newer one/, reason: counted },
  { title: /says in order who did what and how it ended/, reason: counted },
  { title: /names input and output by where they are, and holds no copy/, reason: counted },
  { title: /each event is a line with the data it refers to/, reason: counted },
  { title: /data that cannot be read is an error in its line, and the others come/, reason: counted },
  { title: /a checkpoint shows its place, its state and its events/, reason: counted },
  { title: /is made again by rehydrate on each start, from the state as it is then/, reason: counted },
  { title: /reads do not grow with the thread either/, reason: counted },
  { title: /restoring reads the newest snapshot and the deltas after it, nothing older/, reason: counted },
  { title: /is not moved by a clock that is put back, or forward, while the thread is open/, reason: jump },
  { title: /a clock that jumps ahead while the thread is open does not end it/, reason: jump },
];

beforeEach((context) => {
  const exempt = reloads ? exemptions.find(({ title }) => title.test(context.task.name)) : undefined;
  if (exempt !== undefined) context.skip(`reload: ${exempt.reason}`);
});
