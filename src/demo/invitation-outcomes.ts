import { HoldfastError } from 'holdfast';
import type { InvitationOutcome, PlannedInvitation } from './screening-state.ts';

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

/** For invitations that a stopped run had begun: they are not begun again, since they may have been sent. */
export function outcomeOfStopped({ callId, file, invitation }: PlannedInvitation): InvitationOutcome {
  const note = 'The run was stopped while invitations went out. Look into the outbox.';
  return { callId, file, applicant: invitation.applicant, status: 'not_known', note };
}

function reasonOf(details: unknown): string {
  if (typeof details !== 'object' || details === null || !('reason' in details)) return '';
  return String(details.reason);
}
