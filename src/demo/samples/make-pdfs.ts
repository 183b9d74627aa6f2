/** Makes the sample PDFs again from their source texts: `npx tsx src/demo/samples/make-pdfs.ts`. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { pdfFrom } from './pdf-writer.ts';

const SOURCE = '.source.txt';

/** Cut in the middle on purpose, as by a download that stopped: it shows what the demo says of a broken file. */
const BROKEN = '09-grace-whitfield';

for (const file of await readdir(new URL('.', import.meta.url))) {
  if (!file.endsWith(SOURCE)) continue;
  const name = file.slice(0, -SOURCE.length);
  const whole = pdfFrom(await readFile(new URL(file, import.meta.url), 'utf8'));
  const bytes = name === BROKEN ? whole.subarray(0, Math.floor(whole.length / 2)) : whole;
  await writeFile(new URL(`${name}.pdf`, import.meta.url), bytes);
  console.log(`${name}.pdf: ${bytes.length} bytes`);
}
