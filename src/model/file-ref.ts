/**
 * A file inside the state: kept once, outside the snapshot, and read only when asked for. Made from bytes with
 * `FileRef.from`; one that comes back from a checkpoint loads its bytes on the first call.
 */
export class FileRef {
  readonly name: string;
  /** MIME type as given, or the empty text. */
  readonly type: string;
  readonly sizeBytes: number;
  readonly #load: () => Promise<Uint8Array>;

  /** For codecs: a file whose bytes are read by `load` when they are asked for. */
  constructor(file: { name: string; type: string; sizeBytes: number }, load: () => Promise<Uint8Array>) {
    this.name = file.name;
    this.type = file.type;
    this.sizeBytes = file.sizeBytes;
    this.#load = load;
    Object.freeze(this);
  }

  /** A text becomes its bytes in UTF-8. @throws TypeError for what is neither bytes nor a text */
  static from(file: { readonly name: string; readonly type?: string; readonly bytes: Uint8Array | string }): FileRef {
    const { name, type = '', bytes: given } = { ...file };
    if (typeof given !== 'string' && !(given instanceof Uint8Array))
      throw new TypeError(`The bytes of file "${name}" are no Uint8Array and no text.`);
    const bytes = typeof given === 'string' ? new TextEncoder().encode(given) : given.slice();
    return new FileRef({ name, type, sizeBytes: bytes.length }, () => Promise.resolve(bytes));
  }

  /** The content. @throws `record_missing`, `record_damaged` if the store lost it. */
  async bytes(): Promise<Uint8Array> {
    return (await this.#load()).slice();
  }

  /** The content as UTF-8 text; bytes that are not become U+FFFD. */
  async text(): Promise<string> {
    return new TextDecoder().decode(await this.#load());
  }
}
