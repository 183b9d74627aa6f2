/**
 * Who else may use a thread (A14): one sealed record for each, `share:<keyed hash of the owner>` among the wraps. Sealed under the
 * thread's own key and bound to its place, it can be neither forged nor carried over by whoever can only write to the store.
 */
import type { RecordWrite } from '../model/commit.ts';
import type { StoredRecord } from '../model/records.ts';
import { BodyReader } from './body.ts';
import { packBody } from './packer.ts';
import type { ThreadCodec } from './thread-codec.ts';

/** `read`: look; `write`: also send, cancel, answer and run; `none`: not any more. */
export type ShareRights = 'read' | 'write' | 'none';
/** `own`: only the owner. */
export type Need = 'read' | 'write' | 'own';

export interface Share {
  readonly owner: string;
  readonly rights: ShareRights;
  readonly atMs: number;
}

const prefix = 'share:';

export async function sealShare(codec: ThreadCodec, { owner, rights, atMs }: Share): Promise<RecordWrite> {
  const body = packBody([owner, rights, atMs]);
  return codec.sealRecord('wraps', await keyFor(codec, owner), body, { mode: 'replace' });
}

export async function readShares(codec: ThreadCodec): Promise<readonly Share[]> {
  const records = await codec.source.range('wraps', codec.thread, { from: prefix, to: 'share;' });
  return Promise.all(records.map((record) => openShare(codec, record)));
}

/** @throws `record_damaged`: a share that does not open is none. */
export async function isSharedWith(codec: ThreadCodec, owner: string, need: Need): Promise<boolean> {
  if (need === 'own') return false;
  const record = await codec.source.get('wraps', codec.thread, await keyFor(codec, owner));
  if (record === undefined) return false;
  const { rights, owner: named } = await openShare(codec, record);
  return named === owner && (rights === 'write' || rights === need);
}

async function keyFor(codec: ThreadCodec, owner: string): Promise<string> {
  return prefix + (await codec.sealer.hash('share', owner));
}

async function openShare(codec: ThreadCodec, record: StoredRecord): Promise<Share> {
  const { plaintext } = await codec.openRecord('wraps', record);
  const reader = BodyReader.of(plaintext, { table: 'wraps', key: record.key });
  return { owner: reader.text(), rights: reader.text() as ShareRights, atMs: reader.number() };
}
