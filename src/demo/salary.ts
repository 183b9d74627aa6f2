import type { LabelledText } from './labelled-text.ts';
import type { Salary } from './types.ts';

const LABELS = [
  'salary wish',
  'salary',
  'salary expectation',
  'salary expectations',
  'expected salary',
  'gehaltsvorstellung',
  'gehalt',
  'prétentions salariales',
  'salaire souhaité',
];

const CURRENCIES: ReadonlyMap<string, string> = new Map([
  ['€', 'EUR'],
  ['eur', 'EUR'],
  ['euro', 'EUR'],
  ['euros', 'EUR'],
  ['£', 'GBP'],
  ['gbp', 'GBP'],
  ['$', 'USD'],
  ['usd', 'USD'],
  ['chf', 'CHF'],
  ['sek', 'SEK'],
  ['pln', 'PLN'],
]);

const CURRENCY = '(€|£|\\$|\\b(?:EUR|euros?|GBP|USD|CHF|SEK|PLN)\\b)';
const AMOUNT = "(\\d{1,3}(?:[.,'’\\s]\\d{3})+(?:[.,]\\d{2})?|\\d+)\\s?(k\\b)?";
const RANGE = `${AMOUNT}(?:\\s?(?:-|–|to|bis|à)\\s?${AMOUNT})?`;
const MONEY = new RegExp(`${CURRENCY}\\s?${AMOUNT}|${RANGE}\\s?${CURRENCY}`, 'giu');
const MONTHLY = /^\s*(?:gross |brutto |brut )?(?:per month|a month|\/\s?month|monthly|im monat|monatlich|par mois)/i;
const ABOUT_PAY = /salary|pay|money|earn|gehalt|verdien|salaire|salarial/i;

/** Less than this is no yearly salary, and is left out: a price, a monthly sum that does not say so. */
const LOWEST_SALARY = 10_000;

/** The yearly salary that is asked for; of a range, the lower end. */
export function findSalary(letter: LabelledText): Salary | null {
  const labelled = letter.line(LABELS);
  if (labelled !== undefined) return salaryIn(labelled) ?? null;
  for (const sentence of letter.prose.split(/(?<=[\p{L})]{2}[.!?])\s+/u)) {
    const salary = ABOUT_PAY.test(sentence) ? salaryIn(sentence) : undefined;
    if (salary !== undefined) return salary;
  }
  return null;
}

/** The first sum in the text that can be a yearly salary. */
export function salaryIn(text: string): Salary | undefined {
  for (const found of text.matchAll(MONEY)) {
    const written = found[2] ?? found[4] ?? '';
    const currency = CURRENCIES.get((found[1] ?? found[8] ?? '').toLowerCase());
    const thousands = (found[3] ?? found[5] ?? found[7]) === undefined ? 1 : 1000;
    const months = MONTHLY.test(text.slice(found.index + found[0].length)) ? 12 : 1;
    const amount = Number(written.replace(/[.,]\d{2}$/, '').replace(/\D/g, '')) * thousands * months;
    if (currency !== undefined && amount >= LOWEST_SALARY) return { amount, currency };
  }
  return undefined;
}
