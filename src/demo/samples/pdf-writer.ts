/** A line of text with its place on an A4 page, in points from the lower left corner. */
interface PlacedLine {
  readonly text: string;
  readonly bold: boolean;
  readonly sizePt: number;
  readonly yPt: number;
}

const PAGE_WIDTH_PT = 595;
const PAGE_HEIGHT_PT = 842;
const MARGIN_PT = 72;
const BODY_PT = 11;
const LEADING = 1.45;

/** Widths of Helvetica for the characters 32 to 126, in thousandths of the size (Adobe's font metrics). */
const WIDTHS = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
  556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
  722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
  556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
  260, 334, 584,
];

/** Where WinAnsi differs from Latin-1: the characters that these texts can need. */
const WIN_ANSI: ReadonlyMap<string, number> = new Map([
  ['€', 0x80],
  ['…', 0x85],
  ['‘', 0x91],
  ['’', 0x92],
  ['“', 0x93],
  ['”', 0x94],
  ['•', 0x95],
  ['–', 0x96],
  ['—', 0x97],
]);

/**
 * A PDF 1.4 file with the text set in Helvetica on A4. Lines that begin with `#` are headings, an empty line ends a
 * paragraph, a line `---` begins a page. The page tree stands at the end, so that a file cut in the middle has none.
 *
 * @throws {Error} if the text holds a character that WinAnsi does not have.
 */
export function pdfFrom(text: string): Uint8Array {
  const pages = placeLines(text);
  const pageTree = 3 + pages.length * 2;
  const bodies = [fontBody('Helvetica'), fontBody('Helvetica-Bold')];
  for (const lines of pages) bodies.push(streamBody(contentOf(lines)));
  for (let page = 0; page < pages.length; page++) bodies.push(pageBody(pageTree, 3 + page));
  const kids = pages.map((_, page) => `${3 + pages.length + page} 0 R`).join(' ');
  bodies.push(`<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`);
  bodies.push(`<< /Type /Catalog /Pages ${pageTree} 0 R >>`);
  return fileFrom(bodies);
}

/** The file around the objects. Strings hold one byte a character, so that their length is their size. */
function fileFrom(bodies: readonly string[]): Uint8Array {
  let file = '%PDF-1.4\n%\xe2\xe3\xcf\xd3\n';
  const offsets: number[] = [];
  bodies.forEach((body, index) => {
    offsets.push(file.length);
    file += `${index + 1} 0 obj\n${body}\nendobj\n`;
  });
  const xrefOffset = file.length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  file += `xref\n0 ${bodies.length + 1}\n0000000000 65535 f \n${rows}`;
  file += `trailer\n<< /Size ${bodies.length + 1} /Root ${bodies.length} 0 R >>\nstartxref\n${xrefOffset}\n%%EOF\n`;
  return Uint8Array.from(file, (character) => character.charCodeAt(0));
}

function fontBody(name: string): string {
  return `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`;
}

function streamBody(content: string): string {
  return `<< /Length ${content.length} >>\nstream\n${content}\nendstream`;
}

function pageBody(pageTree: number, content: number): string {
  return (
    `<< /Type /Page /Parent ${pageTree} 0 R /MediaBox [0 0 ${PAGE_WIDTH_PT} ${PAGE_HEIGHT_PT}] ` +
    `/Resources << /Font << /F1 1 0 R /F2 2 0 R >> >> /Contents ${content} 0 R >>`
  );
}

function contentOf(lines: readonly PlacedLine[]): string {
  const shown = lines.map(
    ({ text, bold, sizePt, yPt }) =>
      `BT /${bold ? 'F2' : 'F1'} ${sizePt} Tf 1 0 0 1 ${MARGIN_PT} ${yPt.toFixed(1)} Tm (${winAnsi(text)}) Tj ET`,
  );
  return shown.join('\n');
}

function placeLines(text: string): PlacedLine[][] {
  const top = PAGE_HEIGHT_PT - MARGIN_PT;
  const pages: PlacedLine[][] = [[]];
  let yPt = top;
  const newPage = () => {
    pages.push([]);
    yPt = top;
  };
  for (const source of text.trim().split(/\r?\n/)) {
    if (source === '---') {
      newPage();
      continue;
    }
    const level = /^#+(?= )/.exec(source)?.[0].length ?? 0;
    const sizePt = level === 1 ? 18 : level > 1 ? 13 : BODY_PT;
    for (const line of wrap(source.slice(level).trim(), sizePt)) {
      if (yPt < MARGIN_PT) newPage();
      if (line) pages.at(-1)?.push({ text: line, bold: level > 0, sizePt, yPt });
      yPt -= sizePt * LEADING;
    }
  }
  return pages;
}

function wrap(text: string, sizePt: number): string[] {
  const widthLimit = ((PAGE_WIDTH_PT - 2 * MARGIN_PT) * 1000) / sizePt;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line ? `${line} ${word}` : word;
    if (line && widthOf(longer) > widthLimit) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/** Letters with marks are as wide as the letter without. */
function widthOf(text: string): number {
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '');
  return Array.from(plain, (letter) => WIDTHS[letter.charCodeAt(0) - 32] ?? 556).reduce((sum, width) => sum + width, 0);
}

function winAnsi(text: string): string {
  return Array.from(text, (character) => {
    const code = WIN_ANSI.get(character) ?? character.charCodeAt(0);
    if (code > 255) throw new Error(`WinAnsi has no "${character}". Use another character in the source text.`);
    if (code > 126) return `\\${code.toString(8)}`;
    return '()\\'.includes(character) ? `\\${character}` : character;
  }).join('');
}
