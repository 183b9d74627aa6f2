import { HoldfastError } from 'holdfast';
import type { InvitationOutcome } from './screening-state.ts';

/**
 * How an invitation ended that was not sent. One that was asked for again after a stop may have gone out before.
 *
 * @throws any error that says nothing about the invitation itself.
 */
export function outcomeAfter(error: unknown, isAskedAgain: boolean): Pick<InvitationOutcome, 'status' | 'note'> {
  if (!(error instanceof HoldfastError)) throw error;
  switch (error.code) {
    case 'tool_denied':
      return isAskedAgain
        ? { status: 'not_known', note: 'Not sent again. Whether it went out before the stop stands in the outbox.' }
        : { status: 'denied', note: reasonOf(error.details) };
    case 'effect_failed':
      return { status: 'refused', note: reasonOf(error.details) };
    case 'effect_given_up':
      return { status: 'not_known', note: 'Whether it was sent could not be found out. Look into the outbox.' };
    default:
      throw error;
  }
}

function reasonOf(details: unknown): string {
  if (typeof details !== 'object' || details === null || !('reason' in details)) return '';
  return String(details.reason);
}
