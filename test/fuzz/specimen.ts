import type { ThreadCodec } from '../../src/codec/thread-codec.ts';
import type { RecordWrite } from '../../src/model/commit.ts';
import type { Table } from '../../src/model/records.ts';

/** One record, the decoder that reads it, and what writes the decoded value once more. */
export interface Specimen {
  readonly decoder: string;
  readonly table: Table;
  readonly key: string;
  /** Reads it through the store, with all that it refers to. */
  open(codec: ThreadCodec): Promise<unknown>;
  /** What was opened, written again for the same place; `undefined` where the decoder only checks. */
  write(codec: ThreadCodec, opened: unknown): Promise<RecordWrite | undefined>;
  /**
   * Whether a record that was sealed again, with the right key and the same content, must be refused too: something else
   * holds its tag.
   */
  readonly isTagged: boolean;
  /** Whether the body is MessagePack. */
  readonly isPacked: boolean;
}

interface Parts<Opened> {
  readonly decoder: string;
  readonly table: Table;
  readonly key: string;
  readonly open: (codec: ThreadCodec) => Promise<Opened>;
  readonly write?: (codec: ThreadCodec, opened: Opened) => Promise<RecordWrite | undefined>;
  readonly isTagged?: boolean;
  readonly isPacked?: boolean;
}

export function specimen<Opened>({ write, isTagged = false, isPacked = true, ...parts }: Parts<Opened>): Specimen {
  return {
    ...parts,
    isTagged,
    isPacked,
    write: async (codec, opened) => write?.(codec, opened as Opened),
  };
}
