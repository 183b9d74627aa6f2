import type { LabelledText } from './labelled-text.ts';
import { SMALL_NUMBER, smallNumber } from './numbers.ts';
import { beginsWithSkill } from './skills.ts';

const LABELS = [
  'experience',
  'years of experience',
  'work experience',
  'professional experience',
  'berufserfahrung',
  'erfahrung',
  'expérience',
  'expérience professionnelle',
];

const YEARS = `(?<![\\p{L}\\d.,])(${SMALL_NUMBER})\\s?\\+?\\s(?:years?|jahr|jahren?|ans?|années)(?!\\p{L})`;
const OF_EXPERIENCE =
  /^['’]?\s(?:(?:of|d['’])\s?)?(?:[\p{L}-]+\s){0,3}?(?:experience|berufserfahrung|erfahrung|expérience)(?:\s(?:with|in|mit|en|avec)\s(.*))?/iu;
const AT_WORK =
  /^(?:,? (?:I|schreibe|je|as|in|building|writing|making|working|arbeite|entwickle|développe)(?!\p{L}))/iu;
const BEFORE_AT_WORK =
  /(?:building|writing|making|working|worked|developing|been|joined)(?:\s[\p{L}'’-]+){0,4}\s(?:for\s)?(?:about\s|almost\s|over\s)?$/iu;

/** Claims of a whole working life ("eight years of experience") and, weaker, years that are spoken of at all. */
export interface YearsClaimed {
  readonly years: number | null;
  /** Set if the letter claims more than one number. */
  readonly contradiction: string | undefined;
}

/** Two numbers for the same thing are no reason to choose the better one: the lower counts, and a person is told. */
export function findYears(letter: LabelledText): YearsClaimed {
  const { claimed, spoken } = yearsOfProse(letter.prose);
  const labelled = yearsIn(letter.line(LABELS) ?? '');
  const claims = [...new Set(labelled === undefined ? claimed : [labelled, ...claimed])].sort((a, b) => a - b);
  if (claims.length > 1) {
    const contradiction = `The letter says both ${claims.join(' and ')} years of experience.`;
    return { years: claims[0] ?? null, contradiction };
  }
  return { years: claims[0] ?? (spoken.length > 0 ? Math.max(...spoken) : null), contradiction: undefined };
}

/** The first number of years in the text, as in "at least 4 years" or a bare "4". */
export function yearsIn(text: string): number | undefined {
  const found = new RegExp(YEARS, 'iu').exec(text) ?? /^\s*(\d{1,2})\+?\s*$/.exec(text);
  return found?.[1] === undefined ? undefined : smallNumber(found[1]);
}

function yearsOfProse(prose: string): { claimed: number[]; spoken: number[] } {
  const claimed: number[] = [];
  const spoken: number[] = [];
  for (const found of prose.matchAll(new RegExp(YEARS, 'giu'))) {
    const years = smallNumber(found[1] ?? '');
    const after = prose.slice(found.index + found[0].length, found.index + found[0].length + 80);
    const before = prose.slice(Math.max(0, found.index - 60), found.index);
    const ofExperience = OF_EXPERIENCE.exec(after);
    if (ofExperience && !beginsWithSkill(ofExperience[1] ?? '')) claimed.push(years);
    else if (ofExperience || AT_WORK.test(after) || BEFORE_AT_WORK.test(before)) spoken.push(years);
  }
  return { claimed, spoken };
}
