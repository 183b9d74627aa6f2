import { closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { OutboxError } from './outbox-error.ts';

/** Keeps entries in their order. */
export interface Journal<Entry> {
  /** What was kept before this process began. */
  readonly earlier: readonly Entry[];
  /** Returns when the entry is on the disk. If it throws, the entry is not kept. */
  append(entry: Entry): void;
  close(): void;
}

/** Forgets with the process. */
export function memoryJournal<Entry>(): Journal<Entry> {
  return { earlier: [], append: () => {}, close: () => {} };
}

/**
 * One JSON document a line, each flushed before `append` returns. A last line that a crash cut off was never
 * acknowledged, and is taken away.
 *
 * It works synchronously on purpose: to decide and to write is then one act that no other request can come between.
 *
 * @throws {OutboxError} `file_damaged` if a line before the last cannot be read.
 */
export function fileJournal<Entry>(path: string, parse: (value: unknown) => Entry | undefined): Journal<Entry> {
  const file = openSync(path, 'a+');
  try {
    const bytes = readFileSync(file);
    let size = bytes.lastIndexOf('\n') + 1;
    if (size < bytes.length) ftruncateSync(file, size);
    const lines = bytes.toString('utf8', 0, size).split('\n').slice(0, -1);
    const earlier = lines.map((line, index) => entryOf(line, parse) ?? refuse(path, index + 1));
    const append = (entry: Entry): void => {
      const line = Buffer.from(`${JSON.stringify(entry)}\n`);
      try {
        for (let written = 0; written < line.length; ) written += writeSync(file, line, written);
        fsyncSync(file);
      } catch (error) {
        ftruncateSync(file, size); // a piece of a line would spoil the one that comes next
        throw error;
      }
      size += line.length;
    };
    return { earlier, append, close: () => closeSync(file) };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

function entryOf<Entry>(line: string, parse: (value: unknown) => Entry | undefined): Entry | undefined {
  try {
    return parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function refuse(path: string, line: number): never {
  const next = 'Move the file away to begin with an empty outbox.';
  throw new OutboxError(500, 'file_damaged', `Line ${line} of ${path} cannot be read. ${next}`);
}
