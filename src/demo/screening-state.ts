import { FileRef } from 'holdfast';
import * as z from 'zod';
import { Applicant, Candidate, RankedCandidate, SkillMatch } from './types.ts';

/** A file in the state: its bytes are kept apart and read when asked for. */
export const File = z.custom<FileRef>((given) => given instanceof FileRef, 'must be a file');

/** A file that could not be read; `message` says why and what to do. */
export const Unreadable = z.object({ file: z.string(), message: z.string() });
export type Unreadable = z.infer<typeof Unreadable>;

/** What became of one file. */
export const Outcome = z.discriminatedUnion('kind', [
  Candidate.extend({ kind: z.literal('assessed') }),
  Unreadable.extend({ kind: z.literal('unreadable') }),
]);
export type Outcome = z.infer<typeof Outcome>;

/** The file in hand, as far as it was taken. */
export const Work = z.object({
  text: z.string(),
  /** Whether the text was longer than what is read of one application. */
  isCut: z.boolean(),
  applicant: Applicant.nullable(),
  match: SkillMatch.nullable(),
});
export type Work = z.infer<typeof Work>;

export const Ranking = z.object({ candidates: z.array(RankedCandidate), unreadable: z.array(Unreadable) });
export type Ranking = z.infer<typeof Ranking>;

/** What the tool `invite` is called with; the first two are for the person who allows it. */
export const Invitation = z.object({
  applicant: z.string(),
  why: z.string(),
  to: z.string().regex(/^[^\s@]+@[^\s@]+$/, 'must be one e-mail address'),
  subject: z.string(),
  body: z.string(),
});
export type Invitation = z.infer<typeof Invitation>;

/** The model's wish to invite somebody. */
export const PlannedInvitation = z.object({ callId: z.string(), file: z.string(), invitation: Invitation });
export type PlannedInvitation = z.infer<typeof PlannedInvitation>;

/** What became of an invitation; `note` in words for people, empty where there is nothing to say. */
export const InvitationOutcome = z.object({
  callId: z.string(),
  file: z.string(),
  applicant: z.string(),
  status: z.enum(['sent', 'denied', 'refused', 'not_known']),
  note: z.string(),
});
export type InvitationOutcome = z.infer<typeof InvitationOutcome>;
