import type { LabelledText } from './labelled-text.ts';

const NAME_LABELS = ['name', 'full name', 'nom', 'applicant', 'bewerber', 'bewerberin'];
const EMAIL_LABELS = ['e-mail', 'email', 'mail', 'e-mail address', 'from', 'courriel'];
const LOCATION_LABELS = [
  'location',
  'based in',
  'city',
  'place',
  'address',
  'lives in',
  'wohnort',
  'adresse',
  'lieu',
  'ville',
];

const EMAIL = /[\p{L}\d._%+-]+@[\p{L}\d-]+(?:\.[\p{L}\d-]+)+/u;
const ADDRESSEE_LINE = /^\s*(?:to|an|à|cc|contact)\s*:/i;
const CLOSING =
  /^(?:(?:with |very )?(?:kind|best|warm) (?:regards|wishes)|sincerely|yours (?:sincerely|faithfully|truly)|regards|all the best|cheers|mit (?:freundlichen|besten|vielen) grüßen|(?:viele|beste|liebe) grüße|(?:bien )?cordialement|bien à vous)\s*[,.!]?$/i;

/** Two to four words with capitals, such as "Sam O'Neill" or "Ana María de la Cruz". */
const FULL_NAME = "\\p{Lu}[\\p{L}'’.-]+(?:\\s(?:(?:de|del|la|van|von|der|den|al|bin)\\s)*\\p{Lu}[\\p{L}'’-]+){1,3}";
const ONLY_A_NAME = new RegExp(`^${FULL_NAME}$`, 'u');
const INTRODUCED = new RegExp(
  `\\b(?:my name is|I am called|ich heiße|mein Name ist|je m['’]appelle)\\s(${FULL_NAME})`,
  'iu',
);
const PLACE = "\\p{Lu}[\\p{L}'’-]+(?:\\s\\p{Lu}[\\p{L}'’-]+)*";
const LIVING = new RegExp(
  `\\b(?:live|living|lives|based|reside|wohne|lebe|habite|vis)\\s(?:in|near|at|à)\\s(${PLACE}(?:,\\s${PLACE})?)`,
  'u',
);

/** From a label, an introduction, the signature, a heading that is a name, or the first line, in this order. */
export function findName(letter: LabelledText, text: string): string | null {
  const labelled = letter.line(NAME_LABELS);
  if (labelled !== undefined) return labelled;
  const introduced = introducedName(letter.prose);
  if (introduced !== undefined) return introduced;
  const lines = text.split('\n').map((line) => line.trim());
  const signed = signature(lines);
  if (signed !== undefined && ONLY_A_NAME.test(signed)) return signed;
  const first = lines.find((line) => line !== '')?.replace(/^#+\s+/, '');
  const titled = [...letter.headings, ...(first === undefined ? [] : [first])].find((line) => ONLY_A_NAME.test(line));
  const sender = /^(.+?)\s*</.exec(letter.line(['from']) ?? '')?.[1];
  return titled ?? sender ?? signed ?? null;
}

/** Of the sender: an address behind "To:" is the receiver's. */
export function findEmail(letter: LabelledText, text: string): string | null {
  const labelled = EMAIL.exec(letter.line(EMAIL_LABELS) ?? '')?.[0];
  if (labelled !== undefined) return labelled;
  const lines = text.split('\n').filter((line) => !ADDRESSEE_LINE.test(line));
  return EMAIL.exec(lines.join('\n'))?.[0] ?? null;
}

export function findLocation(letter: LabelledText): string | null {
  return letter.line(LOCATION_LABELS) ?? LIVING.exec(letter.prose)?.[1] ?? null;
}

function introducedName(prose: string): string | undefined {
  const name = INTRODUCED.exec(prose)?.[1];
  // The search ignores case, so the name may have run on into the sentence: keep the words with capitals.
  return name === undefined ? undefined : new RegExp(`^${FULL_NAME}`, 'u').exec(name)?.[0];
}

function signature(lines: readonly string[]): string | undefined {
  const closing = lines.findLastIndex((line) => CLOSING.test(line));
  if (closing < 0) return undefined;
  return lines.slice(closing + 1).find((line) => line !== '');
}
