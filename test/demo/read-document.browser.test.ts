import { afterEach, expect, test, vi } from 'vitest';
import type { DocumentFile } from '../../src/demo/read-document.ts';
import { sampleApplications } from '../../src/demo/samples/index.ts';
import type { ReadAnswer, ReadRequest } from './read-document.worker.ts';

/** Vite's development server takes seconds to hand out pdfjs for the first time. */
vi.setConfig({ testTimeout: 60_000 });

const BROKEN = '09-grace-whitfield.pdf';

let open: (() => void)[] = [];
afterEach(() => {
  for (const close of open) close();
  open = [];
});

/** A worker that reads documents, and everything that it says. */
function startReader() {
  const worker = new Worker(new URL('./read-document.worker.ts', import.meta.url), { type: 'module' });
  open.push(() => worker.terminate());
  const heard: unknown[] = [];
  worker.addEventListener('message', ({ data }) => heard.push(data));
  let lastId = 0;
  const read = (file: DocumentFile, options: Omit<ReadRequest, 'id' | 'file'> = {}) =>
    new Promise<ReadAnswer['outcome']>((resolve, reject) => {
      const id = ++lastId;
      worker.addEventListener('error', (event) => reject(new Error(event.message)));
      worker.addEventListener('message', ({ data }: MessageEvent<ReadAnswer>) => {
        if (data.id === id) resolve(data.outcome);
      });
      worker.postMessage({ id, file, ...options } satisfies ReadRequest);
    });
  return { read, heard };
}

async function fetchSample({ name, url }: { name: string; url: string }): Promise<DocumentFile> {
  const response = await fetch(url);
  return { name, type: '', bytes: new Uint8Array(await response.arrayBuffer()) };
}

test('every sample but the broken one is read inside a worker', async () => {
  const { read } = startReader();
  const outcomes = await Promise.all(sampleApplications.map(async (sample) => read(await fetchSample(sample))));

  sampleApplications.forEach(({ name }, index) => {
    const expected = name === BROKEN ? { code: 'document_unreadable' } : { text: expect.stringContaining('@') };
    if (name !== '06-mateo-fuentes.pdf') expect(outcomes[index], name).toEqual(expected);
    else expect(outcomes[index]).toEqual({ text: expect.stringContaining('Mateo Fuentes') });
  });
});

test('reading a PDF says nothing on the port that belongs to the page', async () => {
  const { read, heard } = startReader();
  const sample = sampleApplications.find(({ name }) => name === '02-jonas-brandstaetter.pdf');
  if (sample === undefined) throw new Error('the sample is gone');

  const outcome = await read(await fetchSample(sample));

  expect(outcome).toEqual({ text: expect.stringContaining('Küstenfunk Lübeck') });
  expect(heard).toHaveLength(1);
});

test('a reading that is given up rejects, and the next one is served by a new parser', async () => {
  const { read } = startReader();
  const sample = sampleApplications.find(({ name }) => name === '02-jonas-brandstaetter.pdf');
  if (sample === undefined) throw new Error('the sample is gone');
  const file = await fetchSample(sample);
  await read(file);

  const givenUp = read(file, { abortAtOnce: true });
  expect(await givenUp).toEqual({ code: 'AbortError' });
  expect(await read(file)).toEqual({ text: expect.stringContaining('Küstenfunk Lübeck') });
});

test('text in windows-1252 keeps the characters that Latin-1 does not have', async () => {
  // Not in Node: version 20 decodes windows-1252 as Latin-1.
  const { read } = startReader();
  const bytes = Uint8Array.of(0x80, 0x20, 0x93, 0xfc, 0x94);
  expect(await read({ name: 'a.txt', type: '', bytes })).toEqual({ text: '€ “ü”' });
});
