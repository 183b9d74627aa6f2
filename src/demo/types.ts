import * as z from 'zod';

/** A yearly salary before tax. */
export const Salary = z.object({ amount: z.number(), currency: z.string() });
export type Salary = z.infer<typeof Salary>;

/** `name` in English; `level` as far as the letter says. */
export const SpokenLanguage = z.object({ name: z.string(), level: z.enum(['basic', 'good', 'native']).nullable() });
export type SpokenLanguage = z.infer<typeof SpokenLanguage>;

/** What one application says of its sender; `null` where it says nothing. */
export const Applicant = z.object({
  name: z.string().nullable(),
  email: z.string().nullable(),
  /** Where the letter gives two numbers, the lower; see `contradictions`. */
  yearsOfExperience: z.number().nullable(),
  skills: z.array(z.string()),
  languages: z.array(SpokenLanguage),
  location: z.string().nullable(),
  /** A date as `2027-03-01`, or `immediately`, or a notice period as `3 months`. */
  startDate: z.string().nullable(),
  salaryWish: Salary.nullable(),
  /** In plain words, what in the letter does not fit together. */
  contradictions: z.array(z.string()),
});
export type Applicant = z.infer<typeof Applicant>;

/** What the job description asks for. */
export const Job = z.object({
  title: z.string(),
  company: z.string().nullable(),
  requiredSkills: z.array(z.string()),
  niceToHaveSkills: z.array(z.string()),
  minimumYears: z.number().nullable(),
  languages: z.array(z.string()),
  location: z.string().nullable(),
  remote: z.boolean(),
  salaryLimit: Salary.nullable(),
  contact: z.string().nullable(),
});
export type Job = z.infer<typeof Job>;

export const SkillMatch = z.object({
  required: z.array(z.string()),
  missing: z.array(z.string()),
  niceToHave: z.array(z.string()),
});
export type SkillMatch = z.infer<typeof SkillMatch>;

export const Assessment = z.object({
  /** 0 to 100. */
  score: z.number().int().min(0).max(100),
  recommendation: z.enum(['invite', 'consider', 'decline']),
  reasons: z.array(z.string()),
  concerns: z.array(z.string()),
});
export type Assessment = z.infer<typeof Assessment>;

/** One application that was read and assessed. */
export const Candidate = z.object({ file: z.string(), applicant: Applicant, assessment: Assessment });
export type Candidate = z.infer<typeof Candidate>;

/** `place` begins at 1; equal scores share a place. */
export const RankedCandidate = Candidate.extend({ place: z.number().int().min(1) });
export type RankedCandidate = z.infer<typeof RankedCandidate>;

export const Letter = z.object({ to: z.string(), subject: z.string(), body: z.string() });
export type Letter = z.infer<typeof Letter>;
