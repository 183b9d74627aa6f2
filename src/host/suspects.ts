/**
 * Threads that were cut off so often that one of them may be what stops the worker (PROTOCOL 5). They are opened one after the
 * other, so that whichever it is charges none of the others: each has a committed step, or rests, before the next one begins.
 */
import type { ThreadRow } from '../model/records.ts';

/** How many leases in a row without a committed step make a suspect: half of those that make a thread fail. */
export function isSuspect({ resumes }: ThreadRow, maxResumes: number): boolean {
  return resumes >= Math.ceil(maxResumes / 2);
}

export interface Suspect {
  /** Runs it, and resolves once it has committed a step, rests, or turns out to run in another worker. */
  proveItself(): Promise<void>;
}

export async function openOneByOne(suspects: readonly Suspect[], isClosing: () => boolean): Promise<void> {
  for (const suspect of suspects) {
    if (isClosing()) return;
    await suspect.proveItself();
  }
}
