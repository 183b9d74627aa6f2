import type { FileRef } from 'holdfast';
import { DocumentError } from './document-error.ts';
import { readDocument, sizeFault } from './read-document.ts';
import type { Unreadable } from './screening-state.ts';

/** The text of a file of the state. One that is too large is not even loaded. @throws as `readDocument` does. */
export async function textOf(file: FileRef, signal: AbortSignal): Promise<string> {
  const fault = sizeFault(file);
  if (fault !== undefined) throw fault;
  return readDocument({ name: file.name, type: file.type, bytes: await file.bytes() }, signal);
}

/** The text of an application, or why there is none. @throws what may pass by itself: the PDF reader did not load. */
export async function readApplication(file: FileRef, signal: AbortSignal): Promise<string | Unreadable> {
  try {
    return await textOf(file, signal);
  } catch (error) {
    if (!(error instanceof DocumentError) || error.code === 'document_reader_missing') throw error;
    return { file: file.name, message: error.message };
  }
}
