import { readFile } from 'node:fs/promises';
import { readDocument } from '../../src/demo/read-document.ts';

/** The bytes of a bundled sample file. */
export async function sampleBytes(name: string): Promise<Uint8Array> {
  const bytes = await readFile(new URL(`../../src/demo/samples/${name}`, import.meta.url));
  return new Uint8Array(bytes);
}

/** The text of a bundled sample file, as the demo reads it. */
export async function sampleText(name: string): Promise<string> {
  return readDocument({ name, type: '', bytes: await sampleBytes(name) });
}
