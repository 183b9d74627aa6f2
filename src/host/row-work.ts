import type { ThreadRow } from '../model/records.ts';

/** Whether there is something to do for whoever gets the thread. A wait may be answered already. */
export function hasWork(row: ThreadRow): boolean {
  return row.status === 'running' || row.status === 'waiting' || hasInput(row);
}

/** Whether an input or a cancel was not taken yet. */
export function hasInput({ inbox, inboxTaken }: ThreadRow): boolean {
  return inbox > inboxTaken;
}
