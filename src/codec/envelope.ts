/**
 * The envelope of every sealed thing (docs/format.md):
 *
 * ```text
 * offset length
 *      0      2  magic "HF"
 *      2      1  envelope version, 1
 *      3      1  flags: bit 0 = a parent's tag follows the nonce
 *      4      8  key id
 *     12     12  nonce
 *     24     16  parent's tag (only with flag bit 0)
 *      …      n  ciphertext
 *   end-16   16  authentication tag
 * ```
 *
 * The authenticated data binds the place: bytes moved anywhere else do not open. It carries the parent's tag, so that opening a
 * record needs no other one; whether they form a chain is a check of its own (PROTOCOL 7).
 */
import { concatBytes, framed } from '../base/bytes.ts';
import type { Incarnation, ThreadHash } from '../model/ids.ts';
import type { PlainFields } from '../model/records.ts';

const envelopeVersion = 1;
const magic = [0x48, 0x46];
const fixedBytes = 24;
const tagBytes = 16;
export const keyIdBytes = 8;
export const nonceBytes = 12;

/** Where a record lies. Everything in here is authenticated with it. */
export interface Place {
  readonly database: string;
  readonly table: string;
  readonly thread: ThreadHash;
  readonly incarnation: Incarnation | '';
  readonly key: string;
  readonly format: number;
  readonly plain: PlainFields;
}

export interface Envelope {
  readonly keyId: Uint8Array;
  readonly nonce: Uint8Array;
  readonly parentTag: Uint8Array | null;
  readonly sealed: Uint8Array;
}

export function writeEnvelope({ keyId, nonce, parentTag, sealed }: Envelope): Uint8Array<ArrayBuffer> {
  const head = Uint8Array.from([...magic, envelopeVersion, parentTag === null ? 0 : 1]);
  return concatBytes(head, keyId, nonce, parentTag ?? new Uint8Array(0), sealed);
}

/** The parts of an envelope, or the reason why these bytes are none. */
export function readEnvelope(bytes: unknown): Envelope | string {
  if (!(bytes instanceof Uint8Array)) return `it is ${bytes === null ? 'null' : `of type ${typeof bytes}`}, not bytes`;
  if (bytes.length < fixedBytes + tagBytes) return `${bytes.length} bytes are too few for an envelope`;
  if (bytes[0] !== magic[0] || bytes[1] !== magic[1]) return 'it does not begin like an envelope';
  if (bytes[2] !== envelopeVersion) return `its envelope version is ${bytes[2]}, not ${envelopeVersion}`;
  const flags = bytes[3] ?? 0;
  if (flags > 1) return `its envelope flags are ${flags}`;
  const sealedAt = fixedBytes + (flags === 1 ? tagBytes : 0);
  if (bytes.length < sealedAt + tagBytes) return `${bytes.length} bytes are too few for an envelope with a parent`;
  return {
    keyId: bytes.subarray(4, 4 + keyIdBytes),
    nonce: bytes.subarray(12, 12 + nonceBytes),
    parentTag: flags === 1 ? bytes.subarray(fixedBytes, sealedAt) : null,
    sealed: bytes.subarray(sealedAt),
  };
}

/** An envelope's authentication tag: what its children carry as their parent's. */
export function tagOf(envelope: Uint8Array): Uint8Array {
  return envelope.slice(envelope.length - tagBytes);
}

/** What the authenticated data of all records of a thread in one table begins with. */
export function sharedData({ database, table, thread, incarnation }: Omit<Place, 'key' | 'format' | 'plain'>) {
  return framed(['holdfast/1', database, table, thread, incarnation]);
}

/**
 * @param shared what `sharedData` gives for this place.
 * @throws if a plain field, or the format, is of a type whose bytes could be taken for those of another.
 */
export function authenticatedData(
  place: Place,
  keyId: Uint8Array,
  parentTag: Uint8Array | null,
  shared: Uint8Array = sharedData(place),
): Uint8Array<ArrayBuffer> {
  const { key, format, plain } = place;
  if (!Number.isSafeInteger(format)) throw new TypeError('The format is no number.');
  const parts = [key, format, keyId, parentTag];
  const names = Object.keys(plain);
  for (const name of names.length > 1 ? names.sort() : names) parts.push(name, plainPart(name, plain[name]));
  return framed(parts, shared);
}

function plainPart(name: string, value: unknown): string | number | null {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  throw new TypeError(`The plain field "${name}" is of type ${typeof value}.`);
}
