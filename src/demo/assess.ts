import { nearness } from './places.ts';
import type { Applicant, Assessment, Job, Salary, SkillMatch } from './types.ts';

/** What each part of an application is worth at most; together 100. */
const WEIGHTS = { required: 50, niceToHave: 15, years: 20, languages: 10, place: 5 } as const;

/** What is taken off for a letter that contradicts itself, and for a wish above what the job pays. */
const PENALTY = 5;

const INVITE_FROM = 70;
const CONSIDER_FROM = 50;

/** One part of the assessment: points, and what to say of it. */
interface Verdict {
  readonly points: number;
  readonly reason?: string;
  readonly concern?: string;
}

/** How well an applicant fits, in points and in plain words. Missing facts cost points, and are named as concerns. */
export function assess(applicant: Applicant, job: Job, match: SkillMatch): Assessment {
  const verdicts = [
    ofRequired(match, job),
    ofNiceToHave(match, job),
    ofYears(applicant, job),
    ...ofLanguages(applicant, job),
    ofPlace(applicant, job),
    ofSalary(applicant, job),
    ...applicant.contradictions.map((concern): Verdict => ({ points: -PENALTY, concern })),
    ofEmail(applicant),
  ];
  const points = verdicts.reduce((sum, verdict) => sum + verdict.points, 0);
  const score = Math.min(100, Math.max(0, Math.round(points)));
  return {
    score,
    recommendation: recommendationFor(score, applicant.email !== null),
    reasons: verdicts.flatMap(({ reason }) => reason ?? []),
    concerns: verdicts.flatMap(({ concern }) => concern ?? []),
  };
}

/** Nobody can be invited without an address: a person has to find it first. */
function recommendationFor(score: number, canBeReached: boolean): Assessment['recommendation'] {
  if (score >= INVITE_FROM && canBeReached) return 'invite';
  return score >= CONSIDER_FROM ? 'consider' : 'decline';
}

function ofRequired(match: SkillMatch, job: Job): Verdict {
  const count = job.requiredSkills.length;
  if (count === 0) return { points: WEIGHTS.required };
  return {
    points: (WEIGHTS.required * match.required.length) / count,
    ...(match.required.length > 0 && {
      reason: `Has ${match.required.length} of ${count} required skills: ${match.required.join(', ')}.`,
    }),
    ...(match.missing.length > 0 && { concern: `Does not show ${match.missing.join(', ')}.` }),
  };
}

function ofNiceToHave(match: SkillMatch, job: Job): Verdict {
  const count = job.niceToHaveSkills.length;
  if (count === 0) return { points: WEIGHTS.niceToHave };
  return {
    points: (WEIGHTS.niceToHave * match.niceToHave.length) / count,
    ...(match.niceToHave.length > 0 && { reason: `Brings ${match.niceToHave.join(', ')} as well.` }),
  };
}

function ofYears({ yearsOfExperience: years }: Applicant, { minimumYears: minimum }: Job): Verdict {
  if (minimum === null || minimum === 0) return { points: WEIGHTS.years };
  if (years === null) return { points: 0, concern: 'Does not say how many years of experience there are.' };
  const points = WEIGHTS.years * Math.min(1, years / minimum);
  const said = `${years} ${years === 1 ? 'year' : 'years'} of experience`;
  return years >= minimum
    ? { points, reason: `${said}; ${minimum} are asked for.` }
    : { points, concern: `Only ${said}; ${minimum} are asked for.` };
}

function ofLanguages(applicant: Applicant, job: Job): Verdict[] {
  if (job.languages.length === 0) return [{ points: WEIGHTS.languages }];
  const share = WEIGHTS.languages / job.languages.length;
  return job.languages.map((language) => {
    const spoken = applicant.languages.find(({ name }) => name === language);
    if (spoken === undefined) return { points: 0, concern: `Does not say whether ${language} is spoken.` };
    if (spoken.level === 'basic') return { points: share / 2, concern: `Knows only a little ${language}.` };
    return { points: share, reason: `Speaks ${language}.` };
  });
}

function ofPlace({ location }: Applicant, job: Job): Verdict {
  switch (nearness(location, job.location)) {
    case 'same_city':
      return { points: WEIGHTS.place, reason: `Lives where the job is: ${location}.` };
    case 'europe':
      return job.remote
        ? { points: WEIGHTS.place, reason: `Can work remotely from ${location}.` }
        : { points: WEIGHTS.place / 2, concern: `Would have to move from ${location}.` };
    case 'elsewhere':
      return { points: 0, concern: `Lives in ${location}, outside Europe: ask about a permit and the hours.` };
    case 'unknown':
      return { points: WEIGHTS.place / 2, concern: 'Does not say clearly where they live.' };
  }
}

function ofSalary({ salaryWish: wish }: Applicant, { salaryLimit: limit }: Job): Verdict {
  if (limit === null) return { points: 0 };
  if (wish === null) return { points: 0, concern: 'Does not name a salary.' };
  if (wish.currency !== limit.currency) {
    return { points: 0, concern: `Names the salary in another currency: ${money(wish)}.` };
  }
  if (wish.amount <= limit.amount) return { points: 0, reason: `Asks for ${money(wish)}, within the limit.` };
  return { points: -PENALTY, concern: `Asks for ${money(wish)}; the limit is ${money(limit)}.` };
}

function ofEmail({ email }: Applicant): Verdict {
  return email === null ? { points: 0, concern: 'Has no e-mail address: find one before inviting.' } : { points: 0 };
}

/** As in "EUR 72,000": the same for every reader, whatever their browser is set to. */
function money({ amount, currency }: Salary): string {
  return `${currency} ${String(amount).replace(/\B(?=(\d{3})+$)/g, ',')}`;
}
