import { findYears, yearsIn } from './experience.ts';
import { takeApart } from './labelled-text.ts';
import { findEmail, findLocation, findName } from './person.ts';
import { findSalary, salaryIn } from './salary.ts';
import { skillsOfList, skillsOfProse } from './skills.ts';
import { findLanguages, languageNames } from './spoken-languages.ts';
import { findStartDate } from './start-date.ts';
import type { Applicant, Candidate, Job, Letter, RankedCandidate, SkillMatch } from './types.ts';

const SKILL_LABELS = ['skills', 'technical skills', 'kenntnisse', 'fähigkeiten', 'compétences'];

/** What an application says of its sender, in English, German or French, labelled or in prose. */
export function extractFields(text: string): Applicant {
  const letter = takeApart(text);
  const { years, contradiction } = findYears(letter);
  const listed = skillsOfList(letter.block(SKILL_LABELS) ?? '');
  return {
    name: findName(letter, text),
    email: findEmail(letter, text),
    yearsOfExperience: years,
    skills: [...new Set([...listed, ...skillsOfProse(letter.prose)])],
    languages: findLanguages(letter),
    location: findLocation(letter),
    startDate: findStartDate(letter),
    salaryWish: findSalary(letter),
    contradictions: contradiction === undefined ? [] : [contradiction],
  };
}

/** What a job description asks for. Without a list of required skills, those that its prose names are required. */
export function readJob(text: string): Job {
  const job = takeApart(text);
  const required = skillsOfList(job.block(['required', 'required skills', 'requirements', 'must have']) ?? '');
  const niceToHave = skillsOfList(job.block(['nice to have', 'nice-to-have', 'optional', 'a plus']) ?? '');
  const named = skillsOfProse(job.prose).filter((skill) => !niceToHave.includes(skill));
  const location = job.line(['location', 'place', 'where']) ?? null;
  const firstLine = text
    .split('\n')
    .find((line) => line.trim() !== '')
    ?.trim();
  return {
    title: job.line(['title', 'position', 'job title']) ?? titleIn(firstLine, job.headings[0]),
    company: job.line(['company', 'employer']) ?? null,
    requiredSkills: required.length > 0 ? required : named,
    niceToHaveSkills: niceToHave,
    minimumYears: yearsIn(job.line(['experience', 'minimum experience', 'years of experience']) ?? job.prose) ?? null,
    languages: languageNames(job.line(['languages', 'language']) ?? ''),
    location,
    remote: /\bremote\b/i.test(location ?? ''),
    salaryLimit: salaryIn(job.line(['salary', 'salary range', 'pay']) ?? '') ?? null,
    contact: findEmail(job, job.line(['contact', 'e-mail', 'email', 'apply']) ?? ''),
  };
}

/** The first line if it can stand for a title: no label and no long sentence; else the first heading. */
function titleIn(firstLine: string | undefined, heading: string | undefined): string {
  const isTitle = firstLine !== undefined && firstLine.length <= 80 && !/^#|[:.]$|: /.test(firstLine);
  return (isTitle ? firstLine : heading) ?? firstLine ?? 'Position';
}

/** Which skills of the job the applicant has. A spoken language may stand among them. */
export function matchSkills(applicant: Applicant, job: Job): SkillMatch {
  const spoken = applicant.languages.filter(({ level }) => level !== 'basic').map(({ name }) => name);
  const owned = new Set([...applicant.skills, ...spoken].map((skill) => skill.toLowerCase()));
  const has = (skill: string) => owned.has(skill.toLowerCase());
  return {
    required: job.requiredSkills.filter(has),
    missing: job.requiredSkills.filter((skill) => !has(skill)),
    niceToHave: job.niceToHaveSkills.filter(has),
  };
}

/** The best first. Equal scores share a place and stand in the order of their files. */
export function rank(candidates: readonly Candidate[]): RankedCandidate[] {
  const score = (candidate: Candidate) => candidate.assessment.score;
  const sorted = [...candidates].sort((a, b) => score(b) - score(a) || (a.file < b.file ? -1 : 1));
  return sorted.map((candidate) => ({
    ...candidate,
    place: 1 + sorted.findIndex((other) => score(other) === score(candidate)),
  }));
}

/** The invitation to an interview, or `null` if there is no address to send it to. */
export function invitationLetter(applicant: Applicant, job: Job): Letter | null {
  if (applicant.email === null) return null;
  const from = job.company ?? 'the hiring team';
  const shared = matchSkills(applicant, job).required.slice(0, 3);
  const lines = [
    `Dear ${applicant.name ?? 'applicant'},`,
    `thank you for your application for the position "${job.title}". We read it with pleasure and would like to meet you.`,
    shared.length > 0 ? `We would like to hear more about your work with ${inWords(shared)}.` : '',
    job.contact === null
      ? 'Please answer this message with two or three times that suit you in the next two weeks.'
      : `Please write to ${job.contact} with two or three times that suit you in the next two weeks.`,
    `Kind regards,\n${from}`,
  ];
  return {
    to: applicant.email,
    subject: `Invitation to an interview: ${job.title}`,
    body: lines.filter((line) => line !== '').join('\n\n'),
  };
}

/** "a", "a and b", "a, b and c". */
export function inWords(items: readonly string[]): string {
  const last = items.at(-1) ?? '';
  return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} and ${last}`;
}
