import { checkKept } from '../program/arguments.ts';
import { programErrors } from '../program/errors.ts';

/**
 * Where a node's calls happen: the node itself, or one item of an `all`. Calls in one scope are told apart by their order,
 * so those without a key of their own must follow one another: side by side, their order could differ on the next run, and
 * with it their keys (PROTOCOL 1).
 */
export class Scope {
  readonly path: string;
  readonly #keys = new Set<string>();
  #next = 0;
  #reads = 0;
  #running: string | undefined;
  #open = 0;

  constructor(path = '') {
    this.path = path;
  }

  /** The place of the next call. @throws `calls_overlap` */
  enter(name: string, key?: string): Place {
    if (key !== undefined) {
      checkKept(name, 'its key', key);
      if (this.#keys.has(key)) throw programErrors.make('calls_overlap', { first: `key "${key}"`, second: name });
      this.#keys.add(key);
      return this.#entered(`${this.path}k:${escaped(key)}`, () => undefined);
    }
    if (this.#running !== undefined) {
      throw programErrors.make('calls_overlap', { first: this.#running, second: name });
    }
    this.#running = name;
    const path = `${this.path}${this.#next}`;
    this.#next += 1;
    return this.#entered(path, () => {
      this.#running = undefined;
    });
  }

  /** Calls that were begun here and have not ended. */
  get open(): number {
    return this.#open;
  }

  #entered(path: string, end: () => void): Place {
    this.#open += 1;
    return {
      path,
      leave: () => {
        this.#open -= 1;
        end();
      },
    };
  }

  /** The place of the next value of clock or chance. */
  nextRead(): string {
    this.#reads += 1;
    return `${this.path}r${this.#reads}`;
  }
}

/** A key is one part of a path: what is made of the place, such as that of a call in place of this one, is none that a key can name. */
function escaped(key: string): string {
  return key.replaceAll('%', '%25').replaceAll('/', '%2F');
}

export interface Place {
  readonly path: string;
  leave(): void;
}
