import { sizeFault } from '../read-document.ts';
import { FILES_LIMIT } from '../screening.ts';
import { counted } from './words.ts';

export interface CheckedFiles {
  readonly files: readonly File[];
  /** Why files were left out, one sentence each. */
  readonly problems: readonly string[];
}

/** The files so far with those that were added: none twice, none too large, and not too many. */
export function checkedFiles(known: readonly File[], added: readonly File[]): CheckedFiles {
  const files = [...known];
  const problems: string[] = [];
  for (const file of added) {
    const fault = sizeFault({ name: file.name, sizeBytes: file.size });
    if (fault !== undefined) problems.push(fault.message);
    else if (!files.some((other) => isSame(other, file))) files.push(file);
  }
  if (files.length > FILES_LIMIT) {
    const left = counted(files.length - FILES_LIMIT, 'file');
    problems.push(`${left} left out: one screening takes ${FILES_LIMIT}. Start another one for the rest.`);
  }
  return { files: files.slice(0, FILES_LIMIT), problems };
}

function isSame(a: File, b: File): boolean {
  return a.name === b.name && a.size === b.size && a.lastModified === b.lastModified;
}
