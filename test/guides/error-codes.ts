/** All codes that errors of the library have, as their families declare them. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { top } from './examples.ts';

export async function errorCodes(): Promise<ReadonlySet<string>> {
  const files = (await readdir(join(top, 'src'), { recursive: true })).filter((name) => name.endsWith('errors.ts'));
  const texts = await Promise.all(files.map((name) => readFile(join(top, 'src', name), 'utf8')));
  const codes = texts.flatMap((text) => [...text.matchAll(/^ {2}([a-z_]+): \{/gm)].map(([, code = '']) => code));
  return new Set([...codes, 'refused']);
}
