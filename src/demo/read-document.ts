import { DocumentError } from './document-error.ts';
import { readPdf } from './read-pdf.ts';

/** Larger files are refused before anything of them is read: 20 MB. */
export const DOCUMENT_LIMIT_BYTES = 20 * 1024 * 1024;

export interface DocumentFile {
  readonly name: string;
  /** MIME type; may be empty, then the name's ending and the first bytes decide. */
  readonly type: string;
  readonly bytes: Uint8Array;
}

/**
 * The text of a file that a person gave: plain text, Markdown or PDF. `bytes` stay as they are. A PDF that takes
 * too long is given up when `signal` aborts; the promise then rejects with its reason.
 *
 * @throws {DocumentError} `document_empty`, `document_too_large`, `document_unreadable`, `document_type_unknown`, or
 * `document_reader_missing` (the PDF reader did not load: try again).
 */
export async function readDocument({ name, type, bytes }: DocumentFile, signal?: AbortSignal): Promise<string> {
  const fault = sizeFault({ name, sizeBytes: bytes.length });
  if (fault !== undefined) throw fault;
  if (bytes.length === 0) throw empty(name);
  switch (kindOf(name, type, bytes)) {
    case 'pdf': {
      const text = await readPdf(name, bytes, signal);
      if (text === '') throw withoutText(name);
      return text;
    }
    case 'text': {
      const text = decodeText(name, bytes);
      if (text.trim() === '') throw empty(name);
      return text;
    }
    default:
      throw typeUnknown(name);
  }
}

/** What is wrong with the size of a file; `undefined` if it can be read. */
export function sizeFault(file: { readonly name: string; readonly sizeBytes: number }): DocumentError | undefined {
  if (file.sizeBytes <= DOCUMENT_LIMIT_BYTES) return undefined;
  const megabytes = (file.sizeBytes / 1024 / 1024).toFixed(1);
  const limit = DOCUMENT_LIMIT_BYTES / 1024 / 1024;
  return new DocumentError(
    'document_too_large',
    `"${file.name}" has ${megabytes} MB, the limit is ${limit} MB. Add a smaller copy, for example without pictures.`,
  );
}

function kindOf(name: string, type: string, bytes: Uint8Array): 'pdf' | 'text' | undefined {
  if (startsWith(bytes, [0x25, 0x50, 0x44, 0x46, 0x2d])) return 'pdf'; // "%PDF-"
  const ending = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase();
  if (ending === 'pdf' || (ending === undefined && type === 'application/pdf')) return 'pdf';
  if (ending === 'txt' || ending === 'md' || ending === 'markdown') return 'text';
  return ending === undefined && /^text\/(plain|markdown)\b/.test(type) ? 'text' : undefined;
}

/** By the byte order mark if there is one; else UTF-8 if the bytes are valid, else what old Windows programs write. */
function decodeText(name: string, bytes: Uint8Array): string {
  const text = withLineFeeds(decode(bytes));
  if (text.includes('\0')) throw notText(name);
  return text;
}

function decode(bytes: Uint8Array): string {
  if (startsWith(bytes, [0xff, 0xfe])) return new TextDecoder('utf-16le').decode(bytes);
  if (startsWith(bytes, [0xfe, 0xff])) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

function withLineFeeds(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

function startsWith(bytes: Uint8Array, prefix: readonly number[]): boolean {
  return prefix.every((byte, index) => bytes[index] === byte);
}

function empty(name: string): DocumentError {
  return new DocumentError('document_empty', `"${name}" is empty. Check the file, or ask for another copy.`);
}

function withoutText(name: string): DocumentError {
  const next = 'Probably it is a scan: run text recognition on it, or ask for the text.';
  return new DocumentError('document_unreadable', `"${name}" holds no text. ${next}`);
}

function notText(name: string): DocumentError {
  const next = 'Save it as plain text in UTF-8 and add that.';
  return new DocumentError('document_unreadable', `"${name}" is not a text file, though its name says so. ${next}`);
}

function typeUnknown(name: string): DocumentError {
  const next = 'Add plain text (.txt), Markdown (.md) or PDF (.pdf).';
  return new DocumentError('document_type_unknown', `"${name}" is of a type that cannot be read here. ${next}`);
}
