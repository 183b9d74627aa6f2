import type { PDFDocumentProxy, PDFWorker } from 'pdfjs-dist';
import { DocumentError } from './document-error.ts';

type Pdfjs = typeof import('pdfjs-dist/legacy/build/pdf.mjs');
type TextContent = Awaited<ReturnType<Awaited<ReturnType<PDFDocumentProxy['getPage']>>['getTextContent']>>;

/** A gap between two base lines above this many heights of the letters begins a paragraph. */
const PARAGRAPH_GAP = 1.8;

/**
 * The text of a PDF, a line break where the page has one, an empty line between paragraphs and pages. Rejects with the
 * signal's reason when it aborts; a parser that was busy is then given up.
 *
 * @throws {DocumentError} `document_unreadable`; `document_reader_missing` if pdfjs could not be loaded.
 */
export async function readPdf(name: string, bytes: Uint8Array, signal?: AbortSignal): Promise<string> {
  const pdfjs = await loadPdfjs();
  signal?.throwIfAborted(); // from here on the listener hears of it
  parser ??= startParser(pdfjs);
  const { worker, failed, giveUp } = parser;
  signal?.addEventListener('abort', giveUp);
  try {
    const loading = pdfjs.getDocument({
      data: bytes.slice(), // pdfjs takes the buffer away from its owner
      isEvalSupported: false,
      useSystemFonts: true, // nothing is drawn: without it pdfjs asks for files of the standard fonts
      verbosity: pdfjs.VerbosityLevel.ERRORS,
      ...(worker === undefined ? {} : { worker }),
    });
    const text = loading.promise.then(textOfDocument).finally(() => loading.destroy());
    return await Promise.race([text, failed]);
  } catch (cause) {
    signal?.throwIfAborted();
    throw errorOf(name, cause);
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
}

/** The legacy build: the other one needs methods that browsers have had for months only, and does not load in Node. */
async function loadPdfjs(): Promise<Pdfjs> {
  try {
    return await import('pdfjs-dist/legacy/build/pdf.mjs');
  } catch (cause) {
    throw readerMissing(cause);
  }
}

interface Parser {
  /** `undefined` where there are no workers (Node): pdfjs then parses in this thread. */
  readonly worker: PDFWorker | undefined;
  /** Rejects if the worker cannot run, or was given up: pdfjs itself would wait for it for ever. */
  readonly failed: Promise<never>;
  readonly giveUp: () => void;
}

/** One for all documents, since to start it costs more than to read a letter; the next is started if it fails. */
let parser: Parser | undefined;

function startParser(pdfjs: Pdfjs): Parser {
  let reject: (error: DocumentError) => void = () => {};
  const failed = new Promise<never>((_, rejectFailed) => {
    reject = rejectFailed;
  });
  failed.catch(() => {}); // nobody may be waiting
  if (typeof Worker === 'undefined') return { worker: undefined, failed, giveUp: () => {} };
  const thread = new Worker(new URL('./pdf.worker.ts', import.meta.url), { type: 'module' });
  const worker = pdfjs.PDFWorker.create({ port: thread, verbosity: pdfjs.VerbosityLevel.ERRORS });
  const stop = (cause: unknown) => {
    worker.destroy();
    thread.terminate();
    if (parser === started) parser = undefined;
    reject(readerMissing(cause));
  };
  thread.addEventListener('error', (event) => stop(event.message), { once: true });
  const started: Parser = { worker, failed, giveUp: () => stop('given up') };
  return started;
}

async function textOfDocument(document: PDFDocumentProxy): Promise<string> {
  const pages: string[] = [];
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number);
    pages.push(textOfPage(await page.getTextContent()));
    page.cleanup();
  }
  return pages.join('\n\n').trim();
}

function textOfPage({ items }: TextContent): string {
  let text = '';
  let lastY: number | undefined;
  let height = 0;
  for (const item of items) {
    if (!('str' in item) || item.str === '') continue;
    const y = Number(item.transform[5]);
    if (lastY !== undefined) {
      const gap = Math.abs(lastY - y);
      height = Math.max(height, item.height);
      if (gap > height * PARAGRAPH_GAP) text += '\n\n';
      else if (gap > height / 2) text += '\n';
    }
    text += item.str;
    height = item.height || height;
    lastY = y;
  }
  return text;
}

function errorOf(name: string, cause: unknown): DocumentError {
  if (cause instanceof DocumentError) return cause;
  if (cause instanceof Error && cause.name === 'PasswordException') {
    const next = 'Save a copy without a password and add that.';
    return new DocumentError('document_unreadable', `"${name}" is protected by a password. ${next}`, cause);
  }
  const next = 'Open it in a PDF viewer and save it again, or ask for another copy.';
  return new DocumentError('document_unreadable', `"${name}" is damaged and cannot be read as PDF. ${next}`, cause);
}

function readerMissing(cause: unknown): DocumentError {
  const message = 'The PDF reader could not be loaded. Check the connection and try again; the files are kept.';
  return new DocumentError('document_reader_missing', message, cause);
}
