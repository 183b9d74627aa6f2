/** A letter taken apart: its labelled lines ("Location: Kiel") and the prose between them. */
export interface LabelledText {
  /** The value of the first label of these (in small letters) that the text has; without its continuation lines. */
  line(labels: readonly string[]): string | undefined;
  /** The same with the lines that belong to it: a wrapped list, or the items below a heading. */
  block(labels: readonly string[]): string | undefined;
  /** The headings, as they stand. */
  readonly headings: readonly string[];
  /** All lines in one, blanks made single: a sentence may be wrapped anywhere. */
  readonly prose: string;
}

interface Part {
  readonly label: string;
  readonly first: string;
  readonly more: string[];
}

const LABEL = /^([\p{L}][\p{L}' -]{1,40}?)\s*:\s*(.*)$/u;
const TABLE_ROW = /^\|\s*([^|]+?)\s*\|\s*([^|]*?)\s*\|$/;
const HEADING = /^#{1,6}\s+(.+?)\s*#*$/;
const ITEM = /^[-*•]\s+/;

export function takeApart(text: string): LabelledText {
  const parts: Part[] = [];
  const headings: string[] = [];
  const prose: string[] = [];
  let open: Part | undefined;
  let underHeading = false;
  for (const raw of text.split('\n')) {
    const isItem = ITEM.test(raw.trim());
    const line = raw.trim().replace(ITEM, '').replaceAll('**', '');
    const heading = HEADING.exec(line)?.[1];
    const pair = heading === undefined ? (LABEL.exec(line) ?? TABLE_ROW.exec(line)) : null;
    if (heading !== undefined) {
      headings.push(heading);
      open = { label: heading.toLowerCase(), first: '', more: [] };
      parts.push(open);
      underHeading = true;
    } else if (pair) {
      open = { label: (pair[1] ?? '').toLowerCase(), first: pair[2] ?? '', more: [] };
      parts.push(open);
      underHeading = false;
    } else if (line === '') {
      // Below a heading an empty line separates nothing yet; after a labelled line it ends the value.
      if (!underHeading || (open && open.more.length > 0)) open = undefined;
    } else if (open) {
      const separator = isItem && open.more.length > 0 ? ', ' : '';
      open.more.push(separator + line);
    }
    prose.push(heading === undefined ? line : `${line.replace(/^#+\s+/, '')}.`);
  }
  const find = (labels: readonly string[]) =>
    labels.flatMap((label) => parts.find((part) => part.label === label && hasText(part)) ?? [])[0];
  return {
    line: (labels) => {
      const part = find(labels);
      return part && (part.first || part.more[0]?.trim());
    },
    block: (labels) => {
      const part = find(labels);
      return part && [part.first, ...part.more].join(' ').replace(/\s+,/g, ',').trim();
    },
    headings,
    prose: prose.join(' ').replace(/\s+/g, ' ').trim(),
  };
}

function hasText({ first, more }: Part): boolean {
  return first !== '' || more.length > 0;
}
