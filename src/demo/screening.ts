import { defineAgent, log, value } from 'holdfast';
import * as z from 'zod';
import { DocumentError } from './document-error.ts';
import { outcomeAfter } from './invitation-outcomes.ts';
import { inviteTool } from './invite.ts';
import { assessPrompt, choosePrompt, extractPrompt, jobPrompt, matchPrompt, reportPrompt } from './prompts.ts';
import { readApplication, textOf } from './read-application.ts';
import { rank } from './rules.ts';
import { File, Invitation, InvitationOutcome, Outcome, PlannedInvitation, Ranking, Work } from './screening-state.ts';
import { Applicant, Assessment, Job, SkillMatch } from './types.ts';

/** More files than this are refused by the page: the step limit is made for them. */
export const FILES_LIMIT = 200;

/** Of one application no more is read: a letter has a few thousand. */
const CHARACTERS_LIMIT = 100_000;
const CUT_CONCERN = 'The letter is very long; only its beginning was read.';

/** The model says which application it means; the tool does not need that. */
const InvitationOfModel = Invitation.extend({ file: z.string() });
const ASKED_AGAIN = 'The run was stopped while this was open. Look into the outbox first whether it went out already. ';
const INVITE_FOR_MODEL = { name: 'invite', description: 'Sends one applicant an invitation to an interview.' };

export interface ScreeningOptions {
  /** Where invitations go, without a slash at the end. */
  readonly outboxUrl: string;
}

/**
 * Screens applications for a job: reads, extracts, matches and assesses each file, ranks them, and invites whom a person
 * allows. Input is `files` and `jobFile`. A run that was stopped goes on with the first file that has no outcome; invitations
 * that were open then are asked for again, each by itself, since some may have gone out.
 */
export function screening({ outboxUrl }: ScreeningOptions) {
  return defineAgent({
    name: 'screening',
    version: 1,
    state: {
      jobFile: value(File.nullable(), null),
      files: value(z.array(File), []),
      job: value(Job.nullable(), null),
      work: value(Work.nullable(), null),
      outcomes: log(Outcome),
      ranking: value(Ranking.nullable(), null),
      planned: value(z.array(PlannedInvitation).nullable(), null),
      wasStopped: value(z.boolean(), false),
      invitations: log(InvitationOutcome),
      summary: value(z.string(), ''),
    },
    tools: {
      invite: inviteTool('invite', outboxUrl),
      invite_again: inviteTool('invite_again', outboxUrl, ASKED_AGAIN),
    },
    start: 'job',
    maxSteps: FILES_LIMIT * 4 + 10,
    nodes: {
      job: {
        retry: { attempts: 1 },
        async run({ jobFile, job, planned }, { model, goto, abortSignal }) {
          if (planned !== null) return goto('invite', { wasStopped: true });
          if (job !== null) return goto('read');
          if (jobFile === null) throw new DocumentError('document_empty', 'There is no job description. Add one.');
          const text = await textOf(jobFile, abortSignal);
          return goto('read', { job: await model.object(Job, jobPrompt(text), { name: 'job' }) });
        },
      },

      async read({ files, outcomes }, { goto, abortSignal }) {
        const file = files[outcomes.length];
        if (file === undefined) return goto('rank', { work: null });
        const read = await readApplication(file, abortSignal);
        if (typeof read !== 'string') {
          const next = outcomes.length + 1 < files.length ? 'read' : 'rank';
          return goto(next, { outcomes: [{ kind: 'unreadable', ...read }], work: null });
        }
        const text = read.slice(0, CHARACTERS_LIMIT);
        return goto('extract', { work: { text, isCut: text !== read, applicant: null, match: null } });
      },

      async extract({ work }, { model, goto }) {
        const { text, isCut } = given(work);
        const applicant = await model.object(Applicant, extractPrompt(text), { name: 'applicant' });
        return goto('match', { work: { text: '', isCut, applicant, match: null } });
      },

      async match({ work, job }, { model, goto }) {
        const { applicant, ...rest } = given(work);
        const match = await model.object(SkillMatch, matchPrompt(given(applicant), given(job)), { name: 'match' });
        return goto('assess', { work: { ...rest, applicant, match } });
      },

      async assess({ files, outcomes, work, job }, { model, goto }) {
        const { applicant, match, isCut } = given(work);
        const prompt = assessPrompt(given(applicant), given(job), given(match));
        const found = await model.object(Assessment, prompt, { name: 'assessment' });
        const assessment = isCut ? { ...found, concerns: [...found.concerns, CUT_CONCERN] } : found;
        const { name } = given(files[outcomes.length]);
        return goto(outcomes.length + 1 < files.length ? 'read' : 'rank', {
          outcomes: [{ kind: 'assessed', file: name, applicant: given(applicant), assessment }],
          work: null,
        });
      },

      rank: {
        critical: true,
        async run({ outcomes }, { goto }) {
          const all = await outcomes.slice(0);
          const candidates = rank(all.filter((one) => one.kind === 'assessed'));
          const unreadable = all.filter((one) => one.kind === 'unreadable');
          return goto(candidates.length > 0 ? 'choose' : 'report', { ranking: { candidates, unreadable } });
        },
      },

      async choose({ job, ranking }, { model, goto }) {
        const text = choosePrompt(given(job), given(ranking));
        const { toolCalls } = await model.answer({ messages: [{ role: 'user', text }], tools: [INVITE_FOR_MODEL] });
        const planned = toolCalls.map(({ callId, input }) => {
          const { file, ...invitation } = InvitationOfModel.parse(input);
          return { callId, file, invitation };
        });
        return goto(planned.length > 0 ? 'invite' : 'report', { planned });
      },

      async invite({ planned, wasStopped, invitations: known }, { all, goto }) {
        const settled = new Set((await known.slice(0)).map(({ callId }) => callId));
        const open = (planned ?? []).filter(({ callId }) => !settled.has(callId));
        const invitations = await all(open, async ({ callId, file, invitation }, { call }) => {
          const about = { callId, file, applicant: invitation.applicant };
          try {
            await call(wasStopped ? 'invite_again' : 'invite', invitation);
            return { ...about, status: 'sent' as const, note: '' };
          } catch (error) {
            return { ...about, ...outcomeAfter(error, wasStopped) };
          }
        });
        return goto('report', { invitations, wasStopped: false });
      },

      async report({ job, ranking, invitations }, { model, end }) {
        const results = (await invitations.slice(0)).map((result) => {
          return { role: 'tool', callId: result.callId, tool: 'invite', result } as const;
        });
        const prompt = reportPrompt(given(job), given(ranking));
        const { text } = await model.answer({ messages: [{ role: 'user', text: prompt }, ...results] });
        return end({ summary: text });
      },
    },
  });
}

/** For `connect<Screening>`. */
export type Screening = ReturnType<typeof screening>;

/** What an earlier node left. @throws if it did not: the order of the nodes is wrong. */
function given<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw new Error('A step came before the one that it builds on.');
  return value;
}
