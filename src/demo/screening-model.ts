import type { LanguageModel, ModelRequest } from 'holdfast';
import { deterministicModel, type ModelRule, type RuleAnswer } from 'holdfast/models';
import * as z from 'zod';
import { assess } from './assess.ts';
import { partOf } from './prompts.ts';
import { extractFields, invitationLetter, inWords, matchSkills, readJob } from './rules.ts';
import { type Invitation, InvitationOutcome, Ranking } from './screening-state.ts';
import { Applicant, Job, RankedCandidate, SkillMatch } from './types.ts';

/** What the model answers with JSON, by the name of the output that is asked for. */
const outputs: Readonly<Record<string, (request: ModelRequest) => unknown>> = {
  job: (request) => readJob(partOf(request, 'description')),
  applicant: (request) => extractFields(partOf(request, 'application')),
  match: (request) => matchSkills(read(Applicant, request, 'applicant'), read(Job, request, 'job')),
  assessment: (request) =>
    assess(read(Applicant, request, 'applicant'), read(Job, request, 'job'), read(SkillMatch, request, 'match')),
};

const answersOutputs: ModelRule = (request) => {
  const output = outputs[request.output?.name ?? ''];
  return output && { value: output(request) };
};

/** With the tool `invite` at hand, the model calls it once for each applicant who is worth meeting. */
const choosesWhomToInvite: ModelRule = (request) => {
  if (!request.tools?.some(({ name }) => name === 'invite')) return undefined;
  const job = read(Job, request, 'job');
  const toolCalls = read(z.array(RankedCandidate), request, 'candidates').flatMap((candidate) => {
    const invitation = invitationTo(candidate, job);
    return invitation === undefined
      ? []
      : [{ callId: `invite-${candidate.file}`, tool: 'invite', input: { file: candidate.file, ...invitation } }];
  });
  const names = toolCalls.map(({ input }) => input.applicant);
  const text =
    names.length === 0
      ? 'Nobody fits well enough to be invited without a closer look by a person.'
      : `I would like to meet ${inWords(names)}, and have written a letter to each.`;
  return { text, toolCalls };
};

const sumsUp: ModelRule = (request) => {
  const job = read(Job, request, 'job');
  const { candidates, unreadable } = read(Ranking, request, 'ranking');
  const outcomes = request.messages.flatMap((message) =>
    message.role === 'tool' ? [InvitationOutcome.parse(message.result)] : [],
  );
  const [best] = candidates;
  const namesOf = (...wanted: readonly InvitationOutcome['status'][]) =>
    outcomes.filter(({ status }) => wanted.includes(status)).map(({ applicant }) => applicant);
  const [sent, notSent, notKnown] = [namesOf('sent'), namesOf('denied', 'refused'), namesOf('not_known')];
  return textOf(
    `${counted(candidates.length, 'application')} for "${job.title}" ${candidates.length === 1 ? 'was' : 'were'} assessed.`,
    best && `${nameOf(best)} fits best, with ${best.assessment.score} of 100 points.`,
    sent.length > 0 && `Invited: ${inWords(sent)}.`,
    sent.length + notKnown.length === 0 && 'Nobody was invited.',
    notSent.length > 0 && `Not invited after all: ${inWords(notSent)}.`,
    notKnown.length > 0 && `Whether the invitation went out is not known: ${inWords(notKnown)}.`,
    unreadable.length > 0 && `${counted(unreadable.length, 'file')} could not be read and should be asked for again.`,
  );
};

/**
 * The demo's language model: no network, and the same answers every time. Its rules read the texts of the prompt. A call
 * takes about `latencyMs`, the first piece coming after two fifths of it.
 */
export function screeningModel({ latencyMs }: { readonly latencyMs: number }): LanguageModel {
  return deterministicModel({
    name: 'rules',
    rules: [answersOutputs, choosesWhomToInvite, sumsUp],
    firstPieceMs: latencyMs * 0.4,
    betweenPiecesMs: latencyMs / 40,
  });
}

function invitationTo(candidate: RankedCandidate, job: Job): Invitation | undefined {
  const { applicant, assessment, place } = candidate;
  if (assessment.recommendation !== 'invite') return undefined;
  const letter = invitationLetter(applicant, job);
  if (letter === null) return undefined;
  const { score, reasons, concerns } = assessment;
  const but = concerns.length > 0 ? ['But:', ...concerns] : [];
  const why = [`Place ${place} with ${score} of 100 points.`, ...reasons, ...but].join(' ');
  return { applicant: nameOf(candidate), why, ...letter };
}

function read<Value>(schema: z.ZodType<Value>, request: ModelRequest, name: string): Value {
  return schema.parse(JSON.parse(partOf(request, name)));
}

function nameOf({ applicant, file }: RankedCandidate): string {
  return applicant.name ?? file;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function textOf(...sentences: (string | false | undefined)[]): RuleAnswer {
  return { text: sentences.filter((sentence) => sentence !== false && sentence !== undefined).join(' ') };
}
