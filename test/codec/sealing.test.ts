import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { utf8 } from '../../src/base/bytes.ts';
import { codecErrors } from '../../src/codec/errors.ts';
import { KeyRing } from '../../src/codec/key-ring.ts';
import { webCryptography } from '../../src/codec/webcrypto-cipher.ts';
import type { Incarnation, ThreadId } from '../../src/model/ids.ts';
import type { StoredRecord } from '../../src/model/records.ts';
import { MemoryData } from '../../src/stores/memory/memory-data.ts';
import { MemoryKeyStore } from '../../src/stores/memory/memory-key-store.ts';
import { MemoryStore } from '../../src/stores/memory/memory-store.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { givenThread } from './given.ts';

let thread: Awaited<ReturnType<typeof givenThread>>;
let record: Omit<StoredRecord, 'commit'>;
const text = utf8('state of the thread');

beforeAll(async () => {
  thread = await givenThread(3);
  record = await thread.codec.sealRecord('checkpoints', '0000000001-aaaaaaaaaaaa', text, {
    plain: { parent: null, kind: 'snapshot' },
  });
});

const identity = { id: 'x' as ThreadId, namespace: 'n', owner: 'o', agent: 'a', createdAtMs: 0, parent: null };

async function codeOf(open: Promise<unknown>): Promise<string> {
  const error = await open.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return codecErrors.is(error) ? error.code : `not refused: ${String(error)}`;
}

describe('a sealed record', () => {
  test('[D1a] opens at its place, and does not show its plaintext', async () => {
    expect((await thread.codec.openRecord('checkpoints', record)).plaintext).toEqual(text);
    expect(Buffer.from(record.body).includes(Buffer.from(text))).toBe(false);
  });

  test('[A11a] any flipped bit is found before anything is parsed', async () => {
    for (let bit = 0; bit < record.body.length * 8; bit += 1) {
      const body = record.body.slice();
      body[bit >> 3] = (body[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(await codeOf(thread.codec.openRecord('checkpoints', { ...record, body })), `bit ${bit}`).toBe(
        'record_damaged',
      );
    }
  });

  test('[A11a] any shorter or longer body is found', async () => {
    for (let length = 0; length < record.body.length; length += 1) {
      const body = record.body.slice(0, length);
      expect(await codeOf(thread.codec.openRecord('checkpoints', { ...record, body })), `${length} bytes`).toBe(
        'record_damaged',
      );
    }
    const longer = Uint8Array.from([...record.body, 0]);
    expect(await codeOf(thread.codec.openRecord('checkpoints', { ...record, body: longer }))).toBe('record_damaged');
  });

  test.each<[string, Partial<StoredRecord>, 'checkpoints' | 'ledger']>([
    ['under another key', { key: '0000000002-aaaaaaaaaaaa' }, 'checkpoints'],
    ['in another table', {}, 'ledger'],
    ['with another parent', { plain: { parent: '0000000000-bbbbbbbbbbbb', kind: 'snapshot' } }, 'checkpoints'],
    ['as another kind', { plain: { parent: null, kind: 'delta' } }, 'checkpoints'],
    ['with a plain field more', { plain: { parent: null, kind: 'snapshot', extra: 1 } }, 'checkpoints'],
    ['as an older format', { format: 0 }, 'checkpoints'],
  ])('[A11b] does not open %s', async (_, change, table) => {
    expect(await codeOf(thread.codec.openRecord(table, { ...record, ...change }))).toBe('record_damaged');
  });

  test('[A11b] does not open in another thread, incarnation or database', async () => {
    const other = await givenThread(4);
    expect(await codeOf(other.codec.openRecord('checkpoints', record))).toBe('record_damaged');
    const again = await thread.keyRing.createThread(thread.hash, 'another' as Incarnation, identity);
    expect(await codeOf(again.codec.openRecord('checkpoints', record))).toBe('record_damaged');
    const place = thread.codec.place('checkpoints', record.key, record.plain);
    expect(await codeOf(thread.codec.sealer.open({ ...place, database: 'other' }, record.body))).toBe('record_damaged');
  });

  test('[A10a] a newer format is refused by name, not parsed', async () => {
    const error = await thread.codec
      .openRecord('checkpoints', { ...record, format: 99 })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'format_unknown', details: { format: 99, known: 1 } });
  });

  test('[A11a] random bytes are never accepted', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (body) => {
        expect(await codeOf(thread.codec.openRecord('checkpoints', { ...record, body }))).toBe('record_damaged');
      }),
      { numRuns: 300, seed: 7 },
    );
  });
});

describe('the key ring', () => {
  const id = 'the thread' as ThreadId;

  async function givenRing() {
    const data = new MemoryData();
    const keys = new MemoryKeyStore<CryptoKey>();
    const open = (from = keys, random = seededRandom(5)) =>
      KeyRing.open(new MemoryStore({ data }), from, webCryptography, random);
    return { data, keys, open };
  }

  test('[D2a] the device key cannot be exported', async () => {
    const { keys, open } = await givenRing();
    await open();
    const key = await keys.get('device');
    expect(key?.extractable).toBe(false);
  });

  test('[D2a] a second start finds the same keys', async () => {
    const { open } = await givenRing();
    const [first, second] = [await open(), await open(undefined, seededRandom(6))];
    expect(await second.threadHash('n', id)).toBe(await first.threadHash('n', id));
  });

  test('[D2a] two starts at once agree on one key', async () => {
    const { open } = await givenRing();
    const rings = await Promise.all([open(undefined, seededRandom(1)), open(undefined, seededRandom(2))]);
    const hashes = await Promise.all(rings.map((ring) => ring.threadHash('n', id)));
    expect(hashes[0]).toBe(hashes[1]);
  });

  test('[D1a, I9] a thread is stored under a hash that its id cannot be guessed from without the key', async () => {
    const [mine, other] = [
      await (await givenRing()).open(),
      await (await givenRing()).open(undefined, seededRandom(99)),
    ];
    const hash = await mine.threadHash('n', id);
    expect(hash).toMatch(/^[\w-]{22}$/);
    expect(await other.threadHash('n', id)).not.toBe(hash);
    expect(await mine.threadHash('m', id)).not.toBe(hash);
  });

  test('[D2a, I10] a missing device key is locked, never new', async () => {
    const { data, open } = await givenRing();
    await open();
    const before = data.records('wraps', '#ring' as never).range({});
    const error = await open(new MemoryKeyStore<CryptoKey>()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'key_missing' });
    expect(data.records('wraps', '#ring' as never).range({})).toEqual(before);
  });

  test('[D2a, I10] a wrong device key is told apart from a missing one, and destroys nothing', async () => {
    const { data, open } = await givenRing();
    await open();
    const wrong = new MemoryKeyStore<CryptoKey>();
    await wrong.create('device', await webCryptography.createRootKey());
    const before = data.records('wraps', '#ring' as never).range({});
    const error = await open(wrong).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'key_wrong' });
    expect(data.records('wraps', '#ring' as never).range({})).toEqual(before);
  });

  test('[D2a, I10] a database whose ring is gone but whose threads are there stays locked', async () => {
    const { data, keys, open } = await givenRing();
    const ring = await open();
    const made = await ring.createThread(await ring.threadHash('n', id), 'i' as Incarnation, identity);
    await new MemoryStore({ data }).createRecords('someone' as never, 'c' as never, [made.wrap]);
    for (const { key } of data.records('wraps', '#ring' as never).range({}))
      data.records('wraps', '#ring' as never).delete(key);
    expect(await codeOf(open(keys))).toBe('key_missing');
  });
});
