const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** Whether UTF-8 would change this text: half of a surrogate pair stands alone in it. */
export function hasLoneSurrogate(text: string): boolean {
  return loneSurrogate.test(text);
}

/** Whether a decoder of UTF-8 may take the first character of this text for a byte order mark, and leave it out. */
export function beginsWithByteOrderMark(text: string): boolean {
  return text.startsWith('\ufeff');
}

/** Why records cannot hold this text as it is, or keys be told apart by it; `undefined` if they can. */
export function textProblem(text: string): string | undefined {
  if (beginsWithByteOrderMark(text)) return 'it begins with a byte order mark';
  return hasLoneSurrogate(text) ? 'half of a surrogate pair stands alone in it' : undefined;
}

/** A value as a message shows it: a text in quotes, so that "5" is not taken for 5. */
export function shown(given: unknown): string {
  if (typeof given === 'number') return String(given);
  try {
    return JSON.stringify(given) ?? String(given);
  } catch {
    return textOf(given);
  }
}

/** The text with a stop at its end, so that another sentence can follow. */
export function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** Of anything that is thrown or handed in, also what has no text. */
export function textOf(given: unknown): string {
  try {
    return String(given);
  } catch {
    return 'something without a text';
  }
}
