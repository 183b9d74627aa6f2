/** Shorter texts are in too many others to be taken for a secret inside of them. */
const leastFound = 4;
/** A value that holds one of these is refused. Longer, since an accident here costs a step and not a word in a message. */
const leastRefused = 8;
const mask = '[secret]';

/** The secret values that are known in memory: taken out of every error that leaves, and refused in what is stored. */
export class Secrets {
  readonly #texts = new Set<string>();
  /** The secrets and the forms in which messages show them, longest first. */
  #forms: readonly string[] = [];

  /** Remembers every text in a secret value: the value itself, or what its properties hold. */
  add(value: unknown): void {
    const before = this.#texts.size;
    for (const text of textsIn(value)) if (text.length >= leastFound) this.#texts.add(text);
    if (this.#texts.size === before) return;
    const forms = [...this.#texts].flatMap((text) => [text, encoded(text), JSON.stringify(text).slice(1, -1)]);
    this.#forms = [...new Set(forms)].sort((a, b) => b.length - a.length);
  }

  /** The same plain data, maps and sets included, with a mask in the place of each secret. Data without any comes back as it is. */
  masked<Data>(data: Data): Data {
    return this.#forms.length === 0 ? data : (this.#mask(data, new Map()) as Data);
  }

  /** Whether a value that is to be stored holds a secret. */
  isIn(value: unknown): boolean {
    const long = [...this.#texts].filter((text) => text.length >= leastRefused);
    if (long.length === 0) return false;
    for (const text of textsIn(value)) if (long.some((secret) => text.includes(secret))) return true;
    return false;
  }

  #mask(data: unknown, made: Map<object, unknown>): unknown {
    if (typeof data === 'string') return this.#forms.reduce((text, form) => text.replaceAll(form, mask), data);
    if (typeof data !== 'object' || data === null) return data;
    const known = made.get(data);
    if (known !== undefined) return known;
    if (data instanceof Map || data instanceof Set) return this.#maskEntries(data, made);
    if (!Array.isArray(data) && Object.getPrototypeOf(data) !== Object.prototype) return data;
    const copy: unknown[] | Record<string, unknown> = Array.isArray(data) ? [] : {};
    made.set(data, copy);
    for (const [key, item] of Object.entries(data)) {
      (copy as Record<string, unknown>)[String(this.#mask(key, made))] = this.#mask(item, made);
    }
    return copy;
  }

  #maskEntries(data: Map<unknown, unknown> | Set<unknown>, made: Map<object, unknown>): unknown {
    const copy = data instanceof Map ? new Map<unknown, unknown>() : new Set<unknown>();
    made.set(data, copy);
    for (const [key, item] of data.entries()) {
      if (copy instanceof Map) copy.set(this.#mask(key, made), this.#mask(item, made));
      else copy.add(this.#mask(item, made));
    }
    return copy;
  }
}

/** Every text in plain data, maps and sets; property names as well. */
function* textsIn(value: unknown, seen = new Set<unknown>()): Generator<string, void, undefined> {
  if (typeof value === 'string') yield value;
  if (typeof value !== 'object' || value === null || seen.has(value) || ArrayBuffer.isView(value)) return;
  seen.add(value);
  if (value instanceof Map || value instanceof Set) {
    for (const entry of value.entries()) yield* textsIn(entry, seen);
    return;
  }
  if (value instanceof Error) yield* textsIn([value.message, value.cause], seen);
  for (const [key, item] of Object.entries(value)) {
    if (!Array.isArray(value)) yield key;
    yield* textsIn(item, seen);
  }
}

/** A lone surrogate cannot be encoded. */
function encoded(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text;
  }
}
