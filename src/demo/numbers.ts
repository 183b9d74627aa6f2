const WORDS: readonly (readonly string[])[] = [
  ['one', 'ein', 'eine', 'einem', 'einen', 'un', 'une'],
  ['two', 'zwei', 'deux'],
  ['three', 'drei', 'trois'],
  ['four', 'vier', 'quatre'],
  ['five', 'fünf', 'cinq'],
  ['six', 'sechs'],
  ['seven', 'sieben', 'sept'],
  ['eight', 'acht', 'huit'],
  ['nine', 'neun', 'neuf'],
  ['ten', 'zehn', 'dix'],
  ['eleven', 'elf', 'onze'],
  ['twelve', 'zwölf', 'douze'],
  ['thirteen', 'dreizehn', 'treize'],
  ['fourteen', 'vierzehn', 'quatorze'],
  ['fifteen', 'fünfzehn', 'quinze'],
  ['sixteen', 'sechzehn', 'seize'],
  ['seventeen', 'siebzehn'],
  ['eighteen', 'achtzehn'],
  ['nineteen', 'neunzehn'],
  ['twenty', 'zwanzig', 'vingt'],
];

const BY_WORD: ReadonlyMap<string, number> = new Map(
  WORDS.flatMap((words, index) => words.map((word) => [word, index + 1])),
);

/** The source of a pattern for a small number in digits or as an English, German or French word. */
export const SMALL_NUMBER = `(?:\\d{1,2}(?:[.,]\\d)?|${[...BY_WORD.keys()].sort((a, b) => b.length - a.length).join('|')})`;

/** What `SMALL_NUMBER` found, as a number. */
export function smallNumber(written: string): number {
  return BY_WORD.get(written.toLowerCase()) ?? Number(written.replace(',', '.'));
}
