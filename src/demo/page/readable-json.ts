/** JSON as it streams in, as words: no brackets and quotation marks, one field a line. Made for eyes, not for parsing. */
export function readableJson(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  let words = '';
  let isInText = false;
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? '';
    if (isInText) {
      if (character === '\\') words += escaped(text[++index]);
      else if (character === '"') isInText = false;
      else words += character;
      continue;
    }
    if (character === '"') isInText = true;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    else if (character === ':') words += ': ';
    else if (character === ',') words += depth <= 1 ? '\n' : ', ';
    else words += character;
  }
  return words
    .replaceAll('null', 'not said')
    .replace(/([a-z])([A-Z])(?=[A-Za-z]*: )/g, (_, a, b) => `${a} ${b.toLowerCase()}`);
}

function escaped(character: string | undefined): string {
  if (character === undefined) return '';
  return character === 'n' ? '\n' : character === 't' ? ' ' : character;
}
