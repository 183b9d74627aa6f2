import { describe, expect, test } from 'vitest';
import { assess } from '../../src/demo/assess.ts';
import { extractFields, invitationLetter, matchSkills, rank, readJob } from '../../src/demo/rules.ts';
import { sampleApplications } from '../../src/demo/samples/index.ts';
import { type Applicant, Assessment, type Candidate, Job } from '../../src/demo/types.ts';
import { sampleText } from './samples.ts';

const BROKEN = '09-grace-whitfield.pdf';

const sampleJobRead = async (): Promise<Job> => readJob(await sampleText('job.md'));
const sampleFields = async (name: string): Promise<Applicant> => extractFields(await sampleText(name));

async function sampleRanking() {
  const job = await sampleJobRead();
  const candidates: Candidate[] = [];
  for (const { name: file } of sampleApplications) {
    if (file === BROKEN) continue;
    const applicant = await sampleFields(file);
    candidates.push({ file, applicant, assessment: assess(applicant, job, matchSkills(applicant, job)) });
  }
  return rank(candidates);
}

const nobody: Applicant = {
  name: null,
  email: null,
  yearsOfExperience: null,
  skills: [],
  languages: [],
  location: null,
  startDate: null,
  salaryWish: null,
  contradictions: [],
};

const plainJob: Job = {
  title: 'Baker',
  company: null,
  requiredSkills: ['Bread', 'Cake'],
  niceToHaveSkills: ['Sugar art'],
  minimumYears: 3,
  languages: ['English'],
  location: 'Cork, Ireland',
  remote: false,
  salaryLimit: { amount: 30_000, currency: 'EUR' },
  contact: null,
};

describe('the job', () => {
  test('of the samples is read whole', async () => {
    const job = await sampleJobRead();
    expect(job).toEqual({
      title: 'Frontend Engineer, Offline Maps',
      company: 'Nordlicht Kartenwerk für Küsten GmbH',
      requiredSkills: ['TypeScript', 'React', 'IndexedDB', 'Accessibility', 'Automated testing'],
      niceToHaveSkills: ['Service workers', 'WebAssembly', 'Playwright', 'WebGL', 'German'],
      minimumYears: 4,
      languages: ['English'],
      location: 'Hamburg, Germany, or remote within Europe',
      remote: true,
      salaryLimit: { amount: 76_000, currency: 'EUR' },
      contact: 'jobs@nordlicht-karten.example.org',
    });
    expect(Job.safeParse(job).success).toBe(true);
  });

  test('in plain words asks for the skills that it names', () => {
    const job = readJob('Backend developer\n\nWe look for someone with 3 years of experience in Java and SQL.');
    expect(job).toMatchObject({
      title: 'Backend developer',
      requiredSkills: ['Java', 'SQL'],
      minimumYears: 3,
      remote: false,
      salaryLimit: null,
    });
  });

  test('that is empty still is a job', () => {
    expect(readJob('')).toMatchObject({ title: 'Position', requiredSkills: [], minimumYears: null });
  });
});

describe('matching', () => {
  test('compares without regard to case, and counts a spoken language from "good" on', () => {
    const job = { ...plainJob, niceToHaveSkills: ['German', 'Danish'] };
    const applicant: Applicant = {
      ...nobody,
      skills: ['bread'],
      languages: [
        { name: 'German', level: 'good' },
        { name: 'Danish', level: 'basic' },
      ],
    };
    expect(matchSkills(applicant, job)).toEqual({ required: ['Bread'], missing: ['Cake'], niceToHave: ['German'] });
  });
});

describe('assessing', () => {
  const assessed = (changes: Partial<Applicant>, job = plainJob) => {
    const applicant = { ...nobody, ...changes };
    return assess(applicant, job, matchSkills(applicant, job));
  };
  const perfect: Partial<Applicant> = {
    email: 'ida@example.org',
    yearsOfExperience: 3,
    skills: ['Bread', 'Cake', 'Sugar art'],
    languages: [{ name: 'English', level: 'native' }],
    location: 'Cork, Ireland',
    salaryWish: { amount: 30_000, currency: 'EUR' },
  };

  test('gives 100 to one who has all, and no concern', () => {
    expect(assessed(perfect)).toMatchObject({ score: 100, recommendation: 'invite', concerns: [] });
  });

  test('gives next to nothing for nothing, and says what is missing', () => {
    const { score, recommendation, concerns } = assessed({});
    expect(score).toBeLessThan(5);
    expect(recommendation).toBe('decline');
    expect(concerns).toEqual([
      'Does not show Bread, Cake.',
      'Does not say how many years of experience there are.',
      'Does not say whether English is spoken.',
      'Does not say clearly where they live.',
      'Does not name a salary.',
      'Has no e-mail address: find one before inviting.',
    ]);
  });

  test('never recommends to invite whom one cannot reach', () => {
    expect(assessed({ ...perfect, email: null })).toMatchObject({ score: 100, recommendation: 'consider' });
  });

  test('takes off for contradictions and for too high a wish, and more skills never harm', () => {
    expect(assessed({ ...perfect, contradictions: ['Odd.'] })).toMatchObject({ score: 95, concerns: ['Odd.'] });
    expect(assessed({ ...perfect, salaryWish: { amount: 31_000, currency: 'EUR' } })).toMatchObject({
      score: 95,
      concerns: ['Asks for EUR 31,000; the limit is EUR 30,000.'],
    });
    const scores = [[], ['Bread'], ['Bread', 'Cake']].map((skills) => assessed({ ...perfect, skills }).score);
    expect(scores).toEqual([...scores].sort((a, b) => a - b));
  });

  test('names a place outside Europe, and fewer years than asked for', () => {
    const { concerns } = assessed({ ...perfect, location: 'Lima, Peru', yearsOfExperience: 1 });
    expect(concerns).toEqual([
      'Only 1 year of experience; 3 are asked for.',
      'Lives in Lima, Peru, outside Europe: ask about a permit and the hours.',
    ]);
  });

  test('of a job that asks for nothing gives no one less', () => {
    const job = readJob('');
    expect(assessed({ email: 'a@example.org', location: 'Cork, Ireland' }, job).score).toBeGreaterThan(95);
  });
});

describe('ranking', () => {
  test('of the samples puts the strong ones first and the misplaced letter last', async () => {
    const ranking = await sampleRanking();
    for (const { assessment } of ranking) expect(Assessment.safeParse(assessment).success).toBe(true);
    const files = ranking.map(({ file }) => file);
    expect(files.slice(0, 3)).toEqual(['01-amara-okafor.pdf', '02-jonas-brandstaetter.pdf', '12-sam-oneill.txt']);
    expect(files.at(-1)).toBe('10-dmitri-volkov.txt');
    expect(ranking.find(({ file }) => file === '06-mateo-fuentes.pdf')?.assessment.recommendation).toBe('consider');
    expect(ranking.filter(({ assessment }) => assessment.recommendation === 'invite').length).toBeGreaterThan(3);
  });

  test('lets equal scores share a place, in the order of their files, and changes nothing that it was given', () => {
    const candidate = (file: string, score: number): Candidate => ({
      file,
      applicant: nobody,
      assessment: { score, recommendation: 'consider', reasons: [], concerns: [] },
    });
    const given = [candidate('c', 50), candidate('b', 80), candidate('a', 50), candidate('d', 10)];
    const before = structuredClone(given);

    const ranking = rank(given);

    expect(ranking.map(({ file, place }) => [file, place])).toEqual([
      ['b', 1],
      ['a', 2],
      ['c', 2],
      ['d', 4],
    ]);
    expect(given).toEqual(before);
    expect(rank([])).toEqual([]);
  });
});

describe('the invitation', () => {
  test('goes to the applicant and speaks of what they know', async () => {
    const letter = invitationLetter(await sampleFields('02-jonas-brandstaetter.pdf'), await sampleJobRead());
    expect(letter).toMatchObject({
      to: 'jonas.brandstaetter@example.org',
      subject: 'Invitation to an interview: Frontend Engineer, Offline Maps',
    });
    expect(letter?.body).toMatch(/^Dear Jonas Brandstätter,\n\n/);
    expect(letter?.body).toContain('your work with TypeScript, React and IndexedDB.');
    expect(letter?.body).toContain('jobs@nordlicht-karten.example.org');
  });

  test('without an address is none', () => {
    expect(invitationLetter(nobody, plainJob)).toBeNull();
  });

  test('to somebody without a name, for a job without a company, still reads well', () => {
    const letter = invitationLetter({ ...nobody, email: 'a@example.org' }, plainJob);
    expect(letter?.body).not.toMatch(/null|undefined|\n\n\n/);
  });
});
