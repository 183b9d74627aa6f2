import { HoldfastError } from 'holdfast';
import type { InvitationOutcome } from './screening-state.ts';

/** How an invitation ended that was not sent. @throws any error that says nothing about the invitation itself. */
export function outcomeAfter(error: unknown): Pick<InvitationOutcome, 'status' | 'note'> {
  if (!(error instanceof HoldfastError)) throw error;
  switch (error.code) {
    case 'tool_denied':
      return { status: 'denied', note: reasonOf(error.details) };
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
