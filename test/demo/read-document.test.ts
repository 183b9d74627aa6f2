import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { DOCUMENT_LIMIT_BYTES, readDocument } from '../../src/demo/read-document.ts';
import { sampleApplications, sampleJob } from '../../src/demo/samples/index.ts';
import { pdfFrom } from '../../src/demo/samples/pdf-writer.ts';
import { sampleBytes, sampleText } from './samples.ts';

const BROKEN = '09-grace-whitfield.pdf';
const encoder = new TextEncoder();
const read = (name: string, bytes: Uint8Array, type = '') => readDocument({ name, type, bytes });
const codeOf = (reading: Promise<string>): Promise<unknown> =>
  reading.then(
    () => 'it was read',
    (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
  );

describe('the samples', () => {
  test('are twelve applications that stand in the folder, at least three of them readable PDF files', async () => {
    const files = await readdir(new URL('../../src/demo/samples/', import.meta.url));
    const names = sampleApplications.map((sample) => sample.name);

    expect(names).toHaveLength(12);
    for (const { name, url } of [...sampleApplications, sampleJob]) {
      expect(files).toContain(name);
      expect(url).toMatch(new RegExp(`${name}$`));
    }
    expect(names.filter((name) => name.endsWith('.pdf') && name !== BROKEN).length).toBeGreaterThanOrEqual(3);
  });

  test('can all be read but the broken one', async () => {
    for (const { name } of sampleApplications) {
      if (name === BROKEN) continue;
      expect((await sampleText(name)).length, name).toBeGreaterThan(800);
    }
  });

  test('as PDF hold every word of their source, umlauts and the euro sign too', async () => {
    for (const { name } of sampleApplications) {
      if (!name.endsWith('.pdf') || name === BROKEN) continue;
      const source = await readFile(
        new URL(`../../src/demo/samples/${name.replace('.pdf', '.source.txt')}`, import.meta.url),
        'utf8',
      );
      const words = source.replace(/^(#+ |---)/gm, '').split(/\s+/);
      expect((await sampleText(name)).split(/\s+/).join(' '), name).toBe(words.filter(Boolean).join(' '));
    }
  });

  test('as PDF are what the source texts give', async () => {
    const source = await readFile(
      new URL('../../src/demo/samples/02-jonas-brandstaetter.source.txt', import.meta.url),
      'utf8',
    );
    expect(pdfFrom(source)).toEqual(await sampleBytes('02-jonas-brandstaetter.pdf'));
  });
});

describe('PDF', () => {
  test('keeps lines as lines and paragraphs as paragraphs', async () => {
    const text = await sampleText('02-jonas-brandstaetter.pdf');
    expect(text).toContain('\nWohnort: Lüneburg, Deutschland\nBerufserfahrung: 7 Jahre\n');
    expect(text).toContain('\n\nSehr geehrte Damen und Herren,\n\nseit meiner Kindheit');
  });

  test('is read to its last page', async () => {
    const text = await sampleText('08-oskar-lindqvist.pdf');
    expect(text).toContain('Lantern & Söner, Malmö');
  });

  test('leaves the bytes as they are', async () => {
    const bytes = await sampleBytes('06-mateo-fuentes.pdf');
    const before = bytes.slice();
    await read('a.pdf', bytes);
    expect(bytes).toEqual(before);
  });

  test('is known by its first bytes, whatever the name', async () => {
    expect(await read('scan', pdfFrom('Hello'))).toBe('Hello');
  });

  test('that is cut in the middle is unreadable, and the message says what to do', async () => {
    const bytes = await sampleBytes(BROKEN);
    await expect(read(BROKEN, bytes)).rejects.toMatchObject({
      name: 'DocumentError',
      code: 'document_unreadable',
      message: `"${BROKEN}" is damaged and cannot be read as PDF. Open it in a PDF viewer and save it again, or ask for another copy.`,
    });
  });

  test('without text is unreadable', async () => {
    await expect(read('scan.pdf', pdfFrom(''))).rejects.toMatchObject({
      code: 'document_unreadable',
      message: expect.stringContaining('scan'),
    });
  });

  test('by name only is unreadable', async () => {
    expect(await codeOf(read('letter.pdf', encoder.encode('Dear team,')))).toBe('document_unreadable');
  });

  test('after a broken file the next one is read', async () => {
    expect(await codeOf(read(BROKEN, await sampleBytes(BROKEN)))).toBe('document_unreadable');
    expect(await sampleText('01-amara-okafor.pdf')).toContain('Amara Okafor');
  });
});

describe('text', () => {
  test('in UTF-8 is read with and without a byte order mark', async () => {
    const bytes = encoder.encode('Küste\n');
    expect(await read('a.txt', bytes)).toBe('Küste\n');
    expect(await read('a.txt', Uint8Array.of(0xef, 0xbb, 0xbf, ...bytes))).toBe('Küste\n');
  });

  test('of the job description is the same in windows-1252 and in UTF-16 of both byte orders', async () => {
    const job = await sampleText(sampleJob.name);
    expect(job).toContain('für Küsten');
    const units = Array.from(job, (letter) => letter.charCodeAt(0));

    const windows = Uint8Array.from(units);
    const little = Uint8Array.from([0xfeff, ...units].flatMap((unit) => [unit & 0xff, unit >> 8]));
    const big = Uint8Array.from([0xfeff, ...units].flatMap((unit) => [unit >> 8, unit & 0xff]));

    for (const bytes of [windows, little, big]) expect(await read('job.md', bytes)).toBe(job);
  });

  test('has line feeds only', async () => {
    expect(await read('a.txt', encoder.encode('a\r\nb\rc'))).toBe('a\nb\nc');
  });

  test('may come without an ending if the type says that it is text', async () => {
    expect(await read('notes', encoder.encode('Hi'), 'text/plain;charset=utf-8')).toBe('Hi');
  });

  test('that is binary is unreadable', async () => {
    expect(await codeOf(read('a.txt', Uint8Array.of(1, 0, 2, 0)))).toBe('document_unreadable');
  });
});

describe('refused', () => {
  test('is an empty file, and one of blanks', async () => {
    for (const bytes of [new Uint8Array(), encoder.encode(' \n\t')]) {
      expect(await codeOf(read('a.txt', bytes))).toBe('document_empty');
    }
  });

  test('is an empty file of any type', async () => {
    expect(await codeOf(read('a.pdf', new Uint8Array()))).toBe('document_empty');
  });

  test('is a file of 50 MB, with both sizes in the message', async () => {
    await expect(read('big.pdf', new Uint8Array(50 * 1024 * 1024))).rejects.toMatchObject({
      code: 'document_too_large',
      message: expect.stringMatching(/"big.pdf" has 50.0 MB, the limit is 20 MB/),
    });
  });

  test('is not a file of exactly the limit', async () => {
    const bytes = new Uint8Array(DOCUMENT_LIMIT_BYTES).fill(0x61);
    expect(await read('a.txt', bytes)).toHaveLength(DOCUMENT_LIMIT_BYTES);
  });

  test('is a type that cannot be read, whatever the page claims', async () => {
    expect(await codeOf(read('photo.png', Uint8Array.of(0x89, 0x50), 'image/png'))).toBe('document_type_unknown');
    expect(await codeOf(read('letter.docx', encoder.encode('PK'), 'text/plain'))).toBe('document_type_unknown');
    expect(await codeOf(read('noname', encoder.encode('Hi')))).toBe('document_type_unknown');
  });
});
