/**
 * Bodies that are sealed as they must be, and say something that no encoder writes: what a fault of another version, or somebody
 * with the key, would leave. Refused, or read as a value that means the same once it is written again.
 */

import { codecErrors } from '../../src/codec/errors.ts';
import { packBody, unpackBody } from '../../src/codec/packer.ts';
import type { StoredRecord } from '../../src/model/records.ts';
import type { Exhibit } from './corpus.ts';
import type { Dice } from './dice.ts';
import { hostileMessage, mutated } from './hostile-bytes.ts';
import { mutatedTree } from './hostile-values.ts';
import type { OverlayStore } from './overlay.ts';
import { isSame } from './same.ts';
import type { Specimen } from './specimen.ts';
import { keyOf } from './tampered.ts';

export async function forgedBody(
  dice: Dice,
  thread: Exhibit,
  specimen: Specimen,
  record: StoredRecord,
  other: Uint8Array,
): Promise<StoredRecord> {
  const { codec } = thread;
  const key = keyOf(specimen, record);
  const opened = await codec.openRecord(specimen.table, { ...record, key });
  const plaintext = hostilePlaintext(dice, opened.plaintext, other, specimen.isPacked);
  const body = await codec.sealer.seal(codec.place(specimen.table, key, record.plain), plaintext, opened.parentTag);
  return { ...record, body };
}

function hostilePlaintext(dice: Dice, plaintext: Uint8Array, other: Uint8Array, isPacked: boolean): Uint8Array {
  if (!isPacked || dice.chance(0.25)) return mutated(dice, plaintext, other);
  if (dice.chance(0.15)) return hostileMessage(dice);
  const tree = mutatedTree(dice, unpackBody(plaintext));
  try {
    return packBody(tree as readonly unknown[]);
  } catch {
    return mutated(dice, plaintext, other); // what was made cannot be packed either
  }
}

/** Reads, writes and reads once more: the reason why that is no proof, or nothing. */
export async function meansTheSame(
  store: OverlayStore,
  thread: Exhibit,
  specimen: Specimen,
  record: StoredRecord,
  opened: unknown,
): Promise<string | undefined> {
  const { codec, hash } = thread;
  if (specimen.isTagged) return undefined; // the record with another tag is refused, rightly
  let again: Awaited<ReturnType<Specimen['write']>>;
  try {
    again = await specimen.write(codec, opened);
  } catch (error) {
    // Read as something that this version would not store: it says so itself.
    if (codecErrors.is(error, 'value_not_storable')) return undefined;
    throw error;
  }
  if (again === undefined) return undefined;
  const { key, format, plain, body } = again;
  store.put(specimen.table, hash, record.key, { commit: record.commit, key, format, plain, body });
  const second = await specimen.open(codec);
  return isSame(withoutTags(second), withoutTags(opened)) ? undefined : 'written again, it says something else';
}

function withoutTags(opened: unknown): unknown {
  if (typeof opened !== 'object' || opened === null || !('own' in opened)) return opened;
  return { ...opened, own: { ...(opened.own as object), tag: null, parentTag: null } };
}
