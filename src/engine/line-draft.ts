/** Reads the lines of a run from the hidden fields of its state, and writes what a commit changes of them. */
import { type FieldImage, isLogImage } from '../codec/checkpoint-codec.ts';
import type { ThreadCodec } from '../codec/thread-codec.ts';
import { type Fork, hiddenFields, type Line, type LineFailure, type Lines, linesOf } from '../model/lines.ts';

type FieldImages = ReadonlyMap<string, FieldImage>;

const linePrefix = hiddenFields.line('');
const forkPrefix = hiddenFields.fork('');

/** @throws `record_damaged`, `record_missing` */
export async function readLines(codec: ThreadCodec, fields: FieldImages): Promise<Lines> {
  const lines = new Map<string, Line>();
  const forks = new Map<string, Fork>();
  for (const name of fields.keys()) {
    if (name.startsWith(linePrefix)) {
      const path = name.slice(linePrefix.length);
      lines.set(path, { ...((await readField(codec, fields, name)) as Omit<Line, 'path'>), path });
    }
    if (name.startsWith(forkPrefix)) {
      const path = name.slice(forkPrefix.length);
      forks.set(path, { ...((await readField(codec, fields, name)) as Omit<Fork, 'path'>), path });
    }
  }
  return { lines, forks };
}

export async function readField(codec: ThreadCodec, fields: FieldImages, name: string): Promise<unknown> {
  const stored = fields.get(name);
  return stored === undefined || isLogImage(stored) ? undefined : codec.decodeValue(stored);
}

/** The failures that the fork before this line's next step collected. */
export async function readFailures(
  codec: ThreadCodec,
  fields: FieldImages,
  path: string,
): Promise<readonly LineFailure[]> {
  return ((await readField(codec, fields, hiddenFields.failures(path))) ?? []) as readonly LineFailure[];
}

/** The lines as they are after one commit, and the hidden fields that the commit sets and removes for it. */
export class LineDraft {
  readonly set = new Map<string, unknown>();
  readonly #removed = new Set<string>();
  readonly #lines: Map<string, Line>;
  readonly #forks: Map<string, Fork>;

  constructor({ lines, forks }: Lines) {
    this.#lines = new Map(lines);
    this.#forks = new Map(forks);
  }

  get lines(): Lines {
    return { lines: this.#lines, forks: this.#forks };
  }

  get remove(): readonly string[] {
    return [...this.#removed];
  }

  putLine(line: Line): void {
    const { path, ...stored } = line;
    this.#lines.set(path, line);
    this.#put(hiddenFields.line(path), stored);
  }

  putFork(fork: Fork): void {
    const { path, ...stored } = fork;
    this.#forks.set(path, fork);
    this.#put(hiddenFields.fork(path), stored);
  }

  putItem(path: string, item: unknown): void {
    if (item !== undefined) this.#put(hiddenFields.item(path), item);
  }

  /** Adds an update to those that the line has made; one without any change is none. */
  addUpdate(path: string, update: object): void {
    const line = this.#lines.get(path);
    if (line === undefined || Object.keys(update).length === 0) return;
    this.#put(hiddenFields.update(path, line.updates), update);
    this.putLine({ ...line, updates: line.updates + 1 });
  }

  putFailures(path: string, failures: readonly LineFailure[]): void {
    if (failures.length > 0) this.#put(hiddenFields.failures(path), failures);
    else this.#drop(hiddenFields.failures(path));
  }

  /** Removes the lines that this one forked into, with all that they kept. */
  removeFork(path: string): void {
    for (const line of linesOf(this.lines, path)) {
      this.removeFork(line.path);
      this.#drop(hiddenFields.line(line.path));
      this.#drop(hiddenFields.item(line.path));
      this.#drop(hiddenFields.failures(line.path));
      for (let index = 0; index < line.updates; index += 1) this.#drop(hiddenFields.update(line.path, index));
      this.#lines.delete(line.path);
    }
    if (this.#forks.delete(path)) this.#drop(hiddenFields.fork(path));
  }

  #put(name: string, value: unknown): void {
    this.#removed.delete(name);
    this.set.set(name, value);
  }

  #drop(name: string): void {
    this.set.delete(name);
    this.#removed.add(name);
  }
}
