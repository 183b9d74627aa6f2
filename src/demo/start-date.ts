import type { LabelledText } from './labelled-text.ts';
import { SMALL_NUMBER, smallNumber } from './numbers.ts';

const LABELS = [
  'earliest start',
  'earliest start date',
  'start',
  'start date',
  'availability',
  'available',
  'available from',
  'frühester eintritt',
  'eintritt',
  'verfügbar',
  'verfügbar ab',
  'disponible',
  'disponibilité',
];

/** The first letters of each month in English, German and French, marks taken off. */
const MONTHS: readonly string[] = [
  'jan',
  'feb|fev',
  'mar|maer',
  'apr|avr',
  'may|mai',
  'jun|juin',
  'jul|juil',
  'aug|aou',
  'sep',
  'oct|okt',
  'nov',
  'dec|dez',
];

const AT_ONCE = /\b(?:immediately|at once|right away|straight away|as soon as possible|sofort|immediatement)\b/;
const NOTICE = new RegExp(
  `(${SMALL_NUMBER})[ -](months?|weeks?|monaten?|wochen?|mois|semaines?)['’]?(?: of)? (?:notice|kundigungsfrist|de preavis)|` +
    `(?:notice(?: period)?|kundigungsfrist|preavis)(?: period)?(?: is| of| von| de|:)? (${SMALL_NUMBER}) (months?|weeks?|monaten?|wochen?|mois|semaines?)`,
);
const STARTING = /(?:start|begin|join|available|anfangen|beginnen|eintreten|verfugbar|commencer|disponible)/;

/** When the applicant can begin: a date as `2027-03-01`, `immediately`, or a notice period as `3 months`. */
export function findStartDate(letter: LabelledText): string | null {
  const labelled = letter.line(LABELS);
  if (labelled !== undefined) {
    const found = startIn(plain(labelled));
    if (found !== undefined) return found;
  }
  const sentences = plain(letter.prose).split(/(?<=[a-z)]{2}[.!?])\s+/);
  for (const sentence of sentences) {
    const found = STARTING.test(sentence) || NOTICE.test(sentence) ? startIn(sentence) : undefined;
    if (found !== undefined) return found;
  }
  return null;
}

function startIn(text: string): string | undefined {
  return dateIn(text) ?? (AT_ONCE.test(text) ? 'immediately' : noticeIn(text));
}

function dateIn(text: string): string | undefined {
  const iso = /\b(\d{4})-(\d{2})-(\d{2})\b/.exec(text);
  if (iso) return isoDate(iso[1], iso[2], iso[3]);
  const dotted = /\b(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})\b/.exec(text);
  if (dotted) return isoDate(dotted[3], dotted[2], dotted[1]);
  for (const [index, month] of MONTHS.entries()) {
    const name = `(?:${month})[a-z]*\\.?`;
    const dayFirst = new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th|er|\\.)?(?: of)? ${name},? (\\d{4})\\b`).exec(text);
    if (dayFirst) return isoDate(dayFirst[2], index + 1, dayFirst[1]);
    const monthFirst = new RegExp(`\\b${name} (?:(\\d{1,2})(?:st|nd|rd|th)?,? )?(\\d{4})\\b`).exec(text);
    if (monthFirst) return isoDate(monthFirst[2], index + 1, monthFirst[1] ?? 1);
  }
  return undefined;
}

function noticeIn(text: string): string | undefined {
  const found = NOTICE.exec(text);
  if (!found) return undefined;
  const count = smallNumber(found[1] ?? found[3] ?? '');
  const unit = /^(?:w|s)/.test(found[2] ?? found[4] ?? '') ? 'week' : 'month';
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** `undefined` for a day that is in no calendar, such as 31.02. */
function isoDate(year: string | undefined, month: string | number | undefined, day: string | number | undefined) {
  const written = `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
  const date = new Date(`${written}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(written) ? written : undefined;
}

/** Small letters without marks: "März" and "août" are found by plain patterns. */
function plain(text: string): string {
  return text.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '');
}
