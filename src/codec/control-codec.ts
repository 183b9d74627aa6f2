/**
 * The sealed part of a thread row: what must be known, and trusted, before any checkpoint is opened. Head, its tag, and counter and
 * digest of the ledger are in what it authenticates, so that none of them can be put back alone; epoch and time to wake are
 * not: a server without keys must change them (PROTOCOL 3 and 7).
 */
import type { CheckpointId, ThreadId } from '../model/ids.ts';
import type { PlainFields, ThreadRow } from '../model/records.ts';
import { BodyReader } from './body.ts';
import { codecErrors } from './errors.ts';
import { packBody } from './packer.ts';
import { checkFormat, type ThreadCodec } from './thread-codec.ts';

export interface RowControl {
  readonly threadId: ThreadId;
  /** The newest snapshot in the head's lineage: where restoring begins. */
  readonly base: CheckpointId | null;
  /** The head's authentication tag; empty before the first checkpoint. */
  readonly headTag: Uint8Array;
  /** Running digest over the ledger's intents. */
  readonly ledgerDigest: Uint8Array;
  readonly travel: Travel | null;
}

/** That a person went back or edited. The ids of the steps since then lead on from a salt which that checkpoint alone has (PROTOCOL 4). */
export interface Travel {
  /** Sequence number of the checkpoint that was made so; of several, the newest. */
  readonly sequence: number;
  /** Whether a repair fell back to before it: under which ids calls were made since is not known then. */
  readonly isLost: boolean;
}

/** The plain fields of a row that its sealed part authenticates. */
export type BoundRowFields = Pick<ThreadRow, 'namespace' | 'owner' | 'agent' | 'head' | 'ledger' | 'sequence'>;

export async function sealRowControl(
  codec: ThreadCodec,
  control: RowControl,
  row: BoundRowFields,
): Promise<Uint8Array> {
  const { threadId, base, headTag, ledgerDigest, travel } = control;
  const body = packBody([threadId, base, headTag, ledgerDigest, ...(travel ? [travel.sequence, travel.isLost] : [])]);
  return codec.sealer.seal(codec.place('threads', 'control', boundFields(row)), body);
}

/** @throws `record_damaged`, `format_unknown` */
export async function openRowControl(codec: ThreadCodec, row: ThreadRow): Promise<RowControl> {
  const where = { table: 'threads', key: 'control' };
  checkFormat(where, row.format);
  const { namespace, owner, agent, head, ledger, sequence } = row;
  const areTexts = [namespace, owner, agent, head ?? ''].every((field) => typeof field === 'string');
  if (!areTexts || typeof ledger !== 'number' || typeof sequence !== 'number') {
    throw codecErrors.make('record_damaged', { ...where, reason: 'a plain field of the row has another type' });
  }
  const place = codec.place(where.table, where.key, boundFields(row), row.format);
  const reader = BodyReader.of((await codec.sealer.open(place, row.control)).plaintext, where);
  return {
    threadId: reader.text() as ThreadId,
    base: reader.textOrNull() as CheckpointId | null,
    headTag: reader.bytes(),
    ledgerDigest: reader.bytes(),
    travel: reader.hasMore ? { sequence: reader.count(), isLost: reader.flag() } : null,
  };
}

function boundFields({ namespace, owner, agent, head, ledger, sequence }: BoundRowFields): PlainFields {
  return { namespace, owner, agent, head, ledger, sequence };
}
