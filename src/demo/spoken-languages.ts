import type { LabelledText } from './labelled-text.ts';
import type { SpokenLanguage } from './types.ts';

const LABELS = ['languages', 'language', 'spoken languages', 'sprachen', 'sprachkenntnisse', 'langues'];

/** Languages by their English name, with their German and French names (in small letters). */
const LANGUAGES: Readonly<Record<string, readonly string[]>> = {
  Arabic: ['arabisch', 'arabe'],
  Chinese: ['mandarin', 'chinesisch', 'chinois'],
  Czech: ['tschechisch', 'tchèque'],
  Danish: ['dänisch', 'danois'],
  Dutch: ['niederländisch', 'néerlandais'],
  English: ['englisch', 'anglais'],
  Finnish: ['finnisch', 'finnois'],
  French: ['französisch', 'français'],
  German: ['deutsch', 'allemand'],
  Greek: ['griechisch', 'grec'],
  Hindi: [],
  Igbo: [],
  Irish: ['irisch', 'irlandais'],
  Italian: ['italienisch', 'italien'],
  Japanese: ['japanisch', 'japonais'],
  Norwegian: ['norwegisch', 'norvégien'],
  Polish: ['polnisch', 'polonais'],
  Portuguese: ['portugiesisch', 'portugais'],
  Russian: ['russisch', 'russe'],
  Serbian: ['serbisch', 'serbe'],
  Spanish: ['spanisch', 'espagnol'],
  Swedish: ['schwedisch', 'suédois'],
  Tamil: [],
  Turkish: ['türkisch', 'turc'],
  Ukrainian: ['ukrainisch', 'ukrainien'],
  Welsh: ['walisisch', 'gallois'],
};

const BY_NAME: ReadonlyMap<string, string> = new Map(
  Object.entries(LANGUAGES).flatMap(([name, others]) => [name.toLowerCase(), ...others].map((other) => [other, name])),
);

const BASIC =
  /\b(?:a[12]|basic|basics|beginner|learning|notions|some|a little|order dinner)\b|grundkenntnisse|anfänger/i;
const NATIVE = /native|mother tongue|muttersprache|maternelle|\bc2\b/i;
const GOOD = /fluent|good|working|business|\b(?:b[12]|c1)\b|fließend|gut|verhandlungssicher|courant|bien/i;

const SPEAKING = /\b(?:speak|fluent|native|spreche|muttersprache|parle|bilingual)\b/i;

/** The languages of a labelled list or, where there is none, of the sentences that speak of speaking. */
export function findLanguages(letter: LabelledText): SpokenLanguage[] {
  const list = letter.block(LABELS);
  if (list !== undefined) return languagesIn(list.split(/[,;|]/));
  const sentences = letter.prose.split(/(?<=\p{L}{2}[.!?])\s+/u).filter((sentence) => SPEAKING.test(sentence));
  return languagesIn(sentences.flatMap((sentence) => sentence.split(/[,;]|\s(?:and|und|et|but)\s/)));
}

/** The languages that a job description asks for, by their English names. */
export function languageNames(text: string): string[] {
  return languagesIn(text.split(/[,;|]|\s(?:and|und|et)\s/)).map((language) => language.name);
}

function languagesIn(parts: readonly string[]): SpokenLanguage[] {
  const found = new Map<string, SpokenLanguage>();
  for (const part of parts) {
    for (const [word] of part.matchAll(/\p{L}+/gu)) {
      const name = BY_NAME.get(word.toLowerCase());
      if (name !== undefined && !found.has(name)) found.set(name, { name, level: levelIn(part) });
    }
  }
  return [...found.values()];
}

function levelIn(part: string): SpokenLanguage['level'] {
  if (BASIC.test(part)) return 'basic';
  if (NATIVE.test(part)) return 'native';
  return GOOD.test(part) ? 'good' : null;
}
