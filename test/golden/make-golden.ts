/**
 * Writes the golden file of today's format: `npx tsx test/golden/make-golden.ts format-1`. Run once for each format that is
 * released; a file that was released is never written again.
 */
import { writeFile } from 'node:fs/promises';
import { makeGolden } from './golden.ts';

const [name] = process.argv.slice(2);
if (name === undefined || !/^format-\d+$/.test(name)) throw new Error('Name the file, like format-1.');
const golden = await makeGolden();
await writeFile(new URL(`${name}.json`, import.meta.url), `${JSON.stringify(golden, null, 1)}\n`, { flag: 'wx' });
