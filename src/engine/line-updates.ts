import type { ThreadCodec } from '../codec/thread-codec.ts';
import type { ThreadImage } from '../codec/thread-image.ts';
import { hiddenFields, parentOf } from '../model/lines.ts';
import { type LineDraft, readField } from './line-draft.ts';

/** The updates that lines have made, as the state keeps them. */
export class LineUpdates {
  readonly #codec: ThreadCodec;
  readonly #image: () => Pick<ThreadImage, 'state'>;

  constructor(codec: ThreadCodec, image: () => Pick<ThreadImage, 'state'>) {
    this.#codec = codec;
    this.#image = image;
  }

  /** Those of one line, oldest first; the draft's own included. */
  async of(path: string, draft: LineDraft): Promise<readonly object[]> {
    return Promise.all(
      Array.from({ length: draft.lines.lines.get(path)?.updates ?? 0 }, async (_, index) => {
        const name = hiddenFields.update(path, index);
        return (draft.set.get(name) ?? (await this.#read(name))) as object;
      }),
    );
  }

  /** All that a line sees beside the state: its own updates, and before them those of the lines that it comes from. */
  async seenBy(path: string, draft: LineDraft): Promise<readonly object[]> {
    if (path === '') return [];
    return [...(await this.seenBy(parentOf(path).path, draft)), ...(await this.of(path, draft))];
  }

  /** Those of all lines, in the order in which they would be joined. */
  async all(draft: LineDraft, path = ''): Promise<readonly object[]> {
    const own = path === '' ? [] : await this.of(path, draft);
    const count = draft.lines.forks.get(path)?.count ?? 0;
    const inner = Array.from({ length: count }, (_, index) =>
      this.all(draft, path === '' ? String(index) : `${path}/${index}`),
    );
    return [...own, ...(await Promise.all(inner)).flat()];
  }

  #read(name: string): Promise<unknown> {
    return readField(this.#codec, this.#image().state?.fields ?? new Map(), name);
  }
}
