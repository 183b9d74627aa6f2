import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Place } from '../../src/codec/envelope.ts';
import { authenticatedData } from '../../src/codec/envelope.ts';
import { DataSealer } from '../../src/codec/sealer.ts';
import { webCryptography, webRandom } from '../../src/codec/webcrypto-cipher.ts';

interface Vectors {
  readonly secret: string;
  readonly keyId: string;
  readonly records: readonly {
    readonly place: Place;
    readonly parentTag: string | null;
    readonly plaintext: string;
    readonly authenticatedData: string;
    readonly envelope: string;
  }[];
  readonly hashes: readonly { readonly parts: readonly (string | number | null)[]; readonly hash: string }[];
}

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));
const hex = (value: Uint8Array) => Buffer.from(value).toString('hex');

function readVectors(): Vectors {
  const page = readFileSync(new URL('../../docs/format.md', import.meta.url), 'utf8');
  const [, json] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
  if (json === undefined) throw new Error('docs/format.md has no test vectors');
  return JSON.parse(json) as Vectors;
}

test('[D1b] the test vectors of the documentation open, and their identities are the same', async () => {
  const { secret, keyId, records, hashes } = readVectors();
  const sealer = new DataSealer(bytes(keyId), await webCryptography.dataCipher(bytes(secret)), webRandom);
  expect(records.length).toBeGreaterThanOrEqual(2);
  for (const { place, parentTag, plaintext, envelope, ...vector } of records) {
    const tag = parentTag === null ? null : bytes(parentTag);
    expect(hex(authenticatedData(place, bytes(keyId), tag))).toBe(vector.authenticatedData);
    const opened = await sealer.open(place, bytes(envelope));
    expect(hex(opened.plaintext)).toBe(plaintext);
    expect(opened.parentTag === null ? null : hex(opened.parentTag)).toBe(parentTag);
  }
  for (const { parts, hash } of hashes) expect(await sealer.hash(...parts)).toBe(hash);
});

test('[D1b] the documented layout is enough to open an envelope with WebCrypto alone', async () => {
  const { secret, records } = readVectors();
  const [record] = records;
  if (record === undefined) throw new Error('there are vectors');
  const envelope = bytes(record.envelope);
  const base = await crypto.subtle.importKey('raw', bytes(secret), 'HKDF', false, ['deriveKey']);
  const info = new TextEncoder().encode('holdfast/1 seal');
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info };
  const key = await crypto.subtle.deriveKey(hkdf, base, { name: 'AES-GCM', length: 256 }, false, ['decrypt']);
  expect(new TextDecoder().decode(envelope.subarray(0, 2))).toBe('HF');
  const plaintext = await crypto.subtle.decrypt(
    { name: 'AES-GCM', iv: envelope.subarray(12, 24), additionalData: bytes(record.authenticatedData) },
    key,
    envelope.subarray(24),
  );
  expect(hex(new Uint8Array(plaintext))).toBe(record.plaintext);
});
