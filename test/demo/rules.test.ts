import { describe, expect, test } from 'vitest';
import { extractFields, readJob } from '../../src/demo/rules.ts';
import { sampleApplications } from '../../src/demo/samples/index.ts';
import { Applicant, type Job } from '../../src/demo/types.ts';
import { sampleText } from './samples.ts';

const BROKEN = '09-grace-whitfield.pdf';

const _sampleJobRead = async (): Promise<Job> => readJob(await sampleText('job.md'));
const sampleFields = async (name: string): Promise<Applicant> => extractFields(await sampleText(name));

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

describe('the fields of the samples', () => {
  test('from labels in a PDF', async () => {
    expect(await sampleFields('01-amara-okafor.pdf')).toEqual({
      name: 'Amara Okafor',
      email: 'amara.okafor@example.org',
      yearsOfExperience: 8,
      skills: [
        'TypeScript',
        'React',
        'IndexedDB',
        'Service workers',
        'Accessibility',
        'Automated testing',
        'Playwright',
        'CSS',
        'Node.js',
      ],
      languages: [
        { name: 'English', level: 'native' },
        { name: 'Igbo', level: 'native' },
        { name: 'German', level: 'good' },
      ],
      location: 'Dublin, Ireland',
      startDate: '2027-03-01',
      salaryWish: { amount: 72_000, currency: 'EUR' },
      contradictions: [],
    });
  });

  test('in German, with umlauts', async () => {
    const applicant = await sampleFields('02-jonas-brandstaetter.pdf');
    expect(applicant).toMatchObject({
      name: 'Jonas Brandstätter',
      yearsOfExperience: 7,
      location: 'Lüneburg, Deutschland',
      startDate: '2027-04-01',
      salaryWish: { amount: 69_500, currency: 'EUR' },
      languages: [
        { name: 'German', level: 'native' },
        { name: 'English', level: 'good' },
        { name: 'Danish', level: 'basic' },
      ],
    });
    expect(applicant.skills).toEqual(expect.arrayContaining(['Accessibility', 'Automated testing', 'C++']));
    expect(applicant.skills, 'used in own projects only').not.toContain('Service workers');
  });

  test('in a table and in lists below headings', async () => {
    expect(await sampleFields('03-priya-raman.md')).toMatchObject({
      name: 'Priya Raman',
      email: 'priya.raman@example.org',
      yearsOfExperience: 6,
      startDate: '2027-02-15',
      skills: expect.arrayContaining(['GraphQL', 'Playwright', 'Automated testing']),
      languages: [
        { name: 'English', level: 'good' },
        { name: 'Tamil', level: 'native' },
        { name: 'Portuguese', level: 'good' },
      ],
    });
  });

  test('of somebody who writes to an address: the sender counts, and what was only read about does not', async () => {
    const applicant = await sampleFields('04-tomasz-zielinski.txt');
    expect(applicant).toMatchObject({
      name: 'Tomasz Zieliński',
      email: 'tomasz.zielinski@example.org',
      yearsOfExperience: 9,
      startDate: '2027-05-01',
    });
    expect(applicant.skills).toContain('Angular');
    expect(applicant.skills).not.toContain('React');
    expect(applicant.skills).not.toContain('IndexedDB');
  });

  test('in two languages', async () => {
    const applicant = await sampleFields('05-camille-laurent.md');
    expect(applicant).toMatchObject({
      name: 'Camille Laurent',
      yearsOfExperience: 5,
      startDate: '2027-03-01',
      salaryWish: { amount: 61_000, currency: 'EUR' },
      contradictions: [],
    });
    expect(applicant.languages.map(({ name }) => name)).toEqual(['French', 'English', 'Spanish']);
    expect(applicant.skills).not.toContain('IndexedDB');
  });

  test('without an e-mail address', async () => {
    expect(await sampleFields('06-mateo-fuentes.pdf')).toMatchObject({
      name: 'Mateo Fuentes',
      email: null,
      startDate: 'immediately',
    });
  });

  test('with two numbers of years: the lower counts, and the contradiction is named', async () => {
    expect(await sampleFields('07-hana-sato.txt')).toMatchObject({
      yearsOfExperience: 5,
      contradictions: ['The letter says both 5 and 9 years of experience.'],
    });
  });

  test('with a salary by the month, and a skill denied', async () => {
    const applicant = await sampleFields('10-dmitri-volkov.txt');
    expect(applicant).toMatchObject({ email: 'dmitri.volkov@example.org', yearsOfExperience: 11 });
    expect(applicant.salaryWish).toEqual({ amount: 90_000, currency: 'EUR' });
    expect(applicant.skills).not.toContain('React');
    expect(applicant.skills).not.toContain('TypeScript');
  });

  test('from prose alone', async () => {
    const applicant = await sampleFields('12-sam-oneill.txt');
    expect(applicant).toMatchObject({
      name: "Sam O'Neill",
      email: 'sam.oneill@example.org',
      yearsOfExperience: 12,
      location: 'Galway, Ireland',
      startDate: '2027-03-01',
      salaryWish: { amount: 65_000, currency: 'EUR' },
      languages: [
        { name: 'English', level: null },
        { name: 'Irish', level: null },
        { name: 'German', level: 'basic' },
      ],
    });
    expect(applicant.skills).toEqual(expect.arrayContaining(['IndexedDB', 'Accessibility', 'Playwright']));
    expect(applicant.skills).not.toContain('WebGL');
  });

  test('fit the schema, each of them', async () => {
    for (const { name } of sampleApplications) {
      if (name !== BROKEN) expect(Applicant.safeParse(await sampleFields(name)).success, name).toBe(true);
    }
  });
});

describe('the title of a job', () => {
  test.each([
    ['Küstenwart (m/w/d)\n\nRequired:\n- boats', 'Küstenwart (m/w/d)'],
    ['# Baker\n\n## Required\n- bread', 'Baker'],
    ['Title: Baker\nRequired: bread', 'Baker'],
    ['We look for somebody who bakes bread, every morning, for many people, and likes it very much.\n# Baker', 'Baker'],
    ['Required: bread', 'Required: bread'],
    ['', 'Position'],
  ])('%j', (text, title) => {
    expect(readJob(text).title).toBe(title);
  });
});

describe('the fields of other texts', () => {
  test('that say nothing are null', () => {
    expect(extractFields('hello')).toEqual(nobody);
    expect(extractFields('')).toEqual(nobody);
  });

  test.each([
    ['I have three years of experience.', 3],
    ['Experience: 10+ years', 10],
    ["I bring 4 years' experience to the table.", 4],
    ['Ich habe zwölf Jahre Berufserfahrung.', 12],
    ["J'ai six ans d'expérience.", 6],
    ['I have 2 years of experience with Rust, and 7 years of experience overall.', 7],
    ['I have worked as a developer for 5 years.', 5],
    ['The company is 30 years old.', null],
    ['In the year 2020 I moved.', null],
  ])('years: %s', (text, years) => {
    expect(extractFields(text)).toMatchObject({ yearsOfExperience: years, contradictions: [] });
  });

  test.each([
    ['Start: 31.12.2027', '2027-12-31'],
    ['Start: 31.02.2027', null],
    ['I can start on March 15th, 2027.', '2027-03-15'],
    ['I could begin in August 2027.', '2027-08-01'],
    ['Disponible: 15 août 2027', '2027-08-15'],
    ['Ich kann am 3. März 2027 anfangen.', '2027-03-03'],
    ['Availability: as soon as possible', 'immediately'],
    ['My notice period is two months.', '2 months'],
    ["I have six weeks' notice.", '6 weeks'],
    ['I was born on 3 March 1990.', null],
  ])('start: %s', (text, startDate) => {
    expect(extractFields(text).startDate).toBe(startDate);
  });

  test.each([
    ['Salary: 55k EUR', 55_000, 'EUR'],
    ['Salary: £48,500', 48_500, 'GBP'],
    ['Gehaltsvorstellung: 4.500 € brutto im Monat', 54_000, 'EUR'],
    ['Salary wish: 60,000 to 66,000 EUR', 60_000, 'EUR'],
    ['Salary wish: EUR 60,000–66,000', 60_000, 'EUR'],
    ['Salary wish: 55-60k €', 55_000, 'EUR'],
    ["Salary: CHF 95'000", 95_000, 'CHF'],
    ['My salary should be about $ 90,000.00 a year.', 90_000, 'USD'],
  ])('salary: %s', (text, amount, currency) => {
    expect(extractFields(text).salaryWish).toEqual({ amount, currency });
  });

  test.each(['Salary: negotiable', 'We saved EUR 200,000 in that year.', 'Salary: EUR 12'])('no salary: %s', (text) => {
    expect(extractFields(text).salaryWish).toBeNull();
  });

  test.each([
    ['I write Rust, and I have never used React.', ['Rust']],
    ['We react to change, as the saying goes.', []],
    ['JavaScript is not Java.', []],
    ['I like Java but not Kotlin.', ['Java']],
    ['Skills: wasm, k8s, a11y; Playwright', ['WebAssembly', 'Kubernetes', 'Accessibility', 'Playwright']],
    ['Skills: React and bread baking', ['React', 'bread baking']],
    ['Skills: TypeScript,\nReact,\nCSS\n\nRegards', ['TypeScript', 'React', 'CSS']],
    ['I have no experience with WebGL. I wrote unit tests in Node.js.', ['Automated testing', 'Node.js']],
  ])('skills: %s', (text, skills) => {
    expect(extractFields(text).skills).toEqual(skills);
  });

  test.each([
    ['# María de la Cruz\n\nDear team', 'María de la Cruz'],
    ['Dear team,\n\nHire me.\n\nBest regards,\n\nTom Jones', 'Tom Jones'],
    ['Hello, my name is Ida Berg and I bake.', 'Ida Berg'],
    ['# My application\n\nDear team', null],
  ])('name: %s', (text, name) => {
    expect(extractFields(text).name).toBe(name);
  });

  test('the address behind "To:" is not the sender', () => {
    expect(extractFields('To: jobs@firm.example.org\n\nWrite to ida@example.org.').email).toBe('ida@example.org');
    expect(extractFields('To: jobs@firm.example.org\n\nHello').email).toBeNull();
  });
});
