/** The examples of the guides: code blocks that begin with a file's name, each followed by what it prints. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const top = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(top, 'docs/guides');

export interface Example {
  /** The page, without its ending. */
  readonly guide: string;
  readonly file: string;
  readonly code: string;
  /** The lines that the page says it prints. */
  readonly prints: readonly string[];
}

export interface Guide {
  readonly name: string;
  readonly text: string;
  readonly examples: readonly Example[];
  /** Code blocks that no test runs: there must be none. */
  readonly loose: readonly string[];
}

const example = /```ts\n\/\/ ([\w-]+\.ts)\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/g;

export async function readGuides(): Promise<readonly Guide[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.md')).sort();
  return Promise.all(names.map((name) => readGuide(name.slice(0, -3))));
}

async function readGuide(name: string): Promise<Guide> {
  const text = await readFile(join(folder, `${name}.md`), 'utf8');
  const examples = [...text.matchAll(example)].map(([, file = '', code = '', prints = '']) => {
    return { guide: name, file, code, prints: prints.trimEnd().split('\n') };
  });
  const loose = [...text.replaceAll(example, '').matchAll(/```(?:ts|js|tsx)\n[\s\S]*?```/g)].map(([block]) => block);
  return { name, text, examples, loose };
}
