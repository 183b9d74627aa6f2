import { base64url, equalBytes, framed } from '../base/bytes.ts';
import type { Random } from '../base/random.ts';
import type { Cipher, DataCipher } from './cipher.ts';
import {
  authenticatedData,
  nonceBytes,
  type Place,
  readEnvelope,
  sharedData,
  tagOf,
  writeEnvelope,
} from './envelope.ts';
import { codecErrors } from './errors.ts';

/** Seals plaintexts into envelopes that open only where they belong. */
export class Sealer<C extends Cipher = Cipher> {
  readonly keyId: Uint8Array;
  protected readonly cipher: C;
  readonly #random: Random;
  /** By table: of the thread that was sealed for, or opened, there last. */
  readonly #shared = new Map<string, { readonly place: Place; readonly data: Uint8Array }>();

  constructor(keyId: Uint8Array, cipher: C, random: Random) {
    this.keyId = keyId;
    this.cipher = cipher;
    this.#random = random;
  }

  async seal(place: Place, plaintext: Uint8Array, parentTag: Uint8Array | null = null): Promise<Uint8Array> {
    const nonce = this.#random.bytes(nonceBytes);
    const aad = authenticatedData(place, this.keyId, parentTag, this.#sharedData(place));
    const sealed = await this.cipher.encrypt(nonce, aad, plaintext);
    return writeEnvelope({ keyId: this.keyId, nonce, parentTag, sealed });
  }

  /** @throws `record_damaged`: the bytes are not what was sealed at this place. Nothing was parsed. */
  async open(place: Place, bytes: Uint8Array): Promise<Opened> {
    const damaged = (reason: string, cause?: unknown) =>
      codecErrors.make('record_damaged', { table: place.table, key: place.key, reason }, cause);
    const envelope = readEnvelope(bytes);
    if (typeof envelope === 'string') throw damaged(envelope);
    const { keyId, nonce, parentTag, sealed } = envelope;
    if (!equalBytes(keyId, this.keyId)) throw damaged('it was sealed with another key');
    try {
      const aad = authenticatedData(place, keyId, parentTag, this.#sharedData(place));
      return { plaintext: await this.cipher.decrypt(nonce, aad, sealed), parentTag, tag: tagOf(bytes) };
    } catch (cause) {
      throw damaged('its bytes are not what was sealed at this place', cause);
    }
  }

  #sharedData(place: Place): Uint8Array {
    const known = this.#shared.get(place.table);
    if (known !== undefined && isShared(known.place, place)) return known.data;
    const data = sharedData(place);
    this.#shared.set(place.table, { place, data });
    return data;
  }
}

function isShared(a: Place, b: Place): boolean {
  return a.thread === b.thread && a.incarnation === b.incarnation && a.database === b.database;
}

export interface Opened {
  readonly plaintext: Uint8Array;
  readonly parentTag: Uint8Array | null;
  readonly tag: Uint8Array;
}

/** A sealer with the keyed hash that identities are made of. */
export class DataSealer extends Sealer<DataCipher> {
  /** Keyed hash of the framed parts, first 16 bytes as 22 base64url characters. */
  async hash(...parts: readonly (string | number | Uint8Array | null)[]): Promise<string> {
    return base64url(await this.digest(...parts));
  }

  /** The same, as 16 bytes. */
  async digest(...parts: readonly (string | number | Uint8Array | null)[]): Promise<Uint8Array> {
    return (await this.cipher.hash(framed(parts))).slice(0, 16);
  }
}
