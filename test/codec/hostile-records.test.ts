/** Found by fuzzing the decoders: each line was a fault once. */
import { describe, expect, test } from 'vitest';
import { errorFromData } from '../../src/base/errors.ts';
import { BodyReader } from '../../src/codec/body.ts';
import { openRowControl } from '../../src/codec/control-codec.ts';
import { readInbox, sealInboxItem } from '../../src/codec/inbox-codec.ts';
import { KeyRing, ringOwner } from '../../src/codec/key-ring.ts';
import { readOutcome } from '../../src/codec/ledger-codec.ts';
import { LogView, sealSegment } from '../../src/codec/log-codec.ts';
import { LargeRef, packBody, packValue, StoredError } from '../../src/codec/packer.ts';
import { BlobBatch } from '../../src/codec/thread-codec.ts';
import { webCryptography } from '../../src/codec/webcrypto-cipher.ts';
import type { RecordWrite } from '../../src/model/commit.ts';
import type { CommitId } from '../../src/model/ids.ts';
import { sortable } from '../../src/model/ids.ts';
import { MemoryKeyStore } from '../../src/stores/memory/memory-key-store.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { givenThread, roundTrip } from './given.ts';

const where = { table: 'ledger', key: 'k' };
const commit = 'commit' as CommitId;

type Given = Awaited<ReturnType<typeof givenThread>>;

function put({ store, hash, row }: Given, { table, mode: _, ...record }: RecordWrite): Promise<unknown> {
  const group = {
    id: commit,
    thread: hash,
    incarnation: row.incarnation,
    durability: 'strict',
    conditions: [],
  } as const;
  return store.commit([{ ...group, records: [{ ...record, table, mode: 'replace' }] }]);
}

describe('values', () => {
  test('[A7b] a long text with a lone surrogate comes back', async () => {
    const text = `${'a'.repeat(150_000)}\ud800`;
    expect(await roundTrip({ text }, await givenThread(31))).toEqual({ text });
  });

  test.each([
    ['bytes that are no message', Uint8Array.of(0xdd, 0xff, 0xff, 0xff, 0xff)],
    ['an error of no class', packValue(new StoredError(['constructor', 'm', null, false, null]))],
    ['a reference of no size', packValue(new LargeRef('h', Number.NaN, 'bytes'))],
    ['a reference of a form that is none', packValue(new LargeRef('h', 1, 'other' as 'text'))],
  ])('[H4, A11b] %s are refused as damaged', async (_, packed) => {
    const { codec } = await givenThread(32);
    await expect(codec.decodeValue(packed)).rejects.toMatchObject({ code: 'record_damaged' });
  });

  test('[H4, A11b] a reference that declares more than there is makes no room for it', async () => {
    const { codec } = await givenThread(33);
    const packed = packValue(new LargeRef('h', 2 ** 45, 'bytes'));
    await expect(codec.decodeValue(packed)).rejects.toMatchObject({ code: 'record_missing' });
  });
});

describe('bodies', () => {
  const reader = (...items: readonly unknown[]) => BodyReader.of(packBody(items), where);

  test('[H4, A11b] an error that is no JSON is refused as damaged', () => {
    expect(() => reader('{').error()).toThrow(expect.objectContaining({ code: 'record_damaged' }));
  });

  test('[H4, A11b] JSON that is no error is refused as damaged', () => {
    expect(() => reader('{"name":5}').error()).toThrow(expect.objectContaining({ code: 'record_damaged' }));
  });

  test('[H4, A11b] a map whose keys are no texts is refused as damaged', () => {
    expect(() => reader(new Map([[1, 2]])).entries()).toThrow(expect.objectContaining({ code: 'record_damaged' }));
  });

  test.each([-1, 0.5, 2 ** 60, Number.NaN])('[H4, A11b] %d is no count', (count) => {
    expect(() => reader(count).count()).toThrow(expect.objectContaining({ code: 'record_damaged' }));
  });
});

describe('plain fields', () => {
  test('[H4, A11b] a count of effects that is a text with the same bytes is refused', async () => {
    const { codec, row } = await givenThread(34);
    const disguised = { ...row, ledger: '\u0000'.repeat(8) as unknown as number };
    await expect(openRowControl(codec, disguised)).rejects.toMatchObject({ code: 'record_damaged' });
  });

  test('[H4, A11b] a count of effects that is as good as zero to a seal of 64 bits is refused', async () => {
    const { codec, row } = await givenThread(35);
    await expect(openRowControl(codec, { ...row, ledger: 2 ** 64 })).rejects.toMatchObject({ code: 'record_damaged' });
  });

  test('[H4, A11b] a namespace that is the bytes of its text is refused', async () => {
    const { codec, row } = await givenThread(36);
    const namespace = new TextEncoder().encode(row.namespace) as unknown as string;
    await expect(openRowControl(codec, { ...row, namespace })).rejects.toMatchObject({ code: 'record_damaged' });
  });

  test('[H4, A11b] a segment whose number of items is a text with the same bytes is refused', async () => {
    const given = await givenThread(37);
    const items = [await given.codec.encodeValue('a', 'log[0]', new BlobBatch())];
    const sealed = await sealSegment(given.codec, { key: `log/span/${sortable(0)}`, from: 0, items });
    if (sealed === undefined) throw new Error('one item makes a segment');
    await put(given, { ...sealed, plain: { from: 0, count: `${'\u0000'.repeat(7)}\u0001` } });
    const log = new LogView(given.codec, 'log', { spans: [{ span: 'span', from: 0, to: 1 }] });
    await expect(log.slice(0)).rejects.toMatchObject({ code: 'record_damaged' });
  });

  test('[H4, A11b] an inbox item without plain fields is refused as damaged', async () => {
    const given = await givenThread(38);
    const { dedupId: _, ...item } = await sealInboxItem(given.codec, 'd', { type: 'cancel', atMs: 1 }, new BlobBatch());
    const record = { ...item, key: 'o:0000000001', commit, plain: null as never };
    given.store.data.write({ records: [{ table: 'inbox', thread: given.hash, record, mode: 'create' }] });
    await expect(readInbox(given.codec, 0)).rejects.toMatchObject({ code: 'record_damaged' });
  });

  test.each([undefined, '1', {}])('[H4, A11b] a record whose format is %o is refused', async (format) => {
    const given = await givenThread(39);
    const sealed = await given.codec.sealRecord('ledger', '0000000001.o', packBody([]));
    await put(given, { ...sealed, format: format as never });
    await expect(readOutcome(given.codec, 1)).rejects.toMatchObject({ code: 'record_damaged' });
  });

  test('[H4, A11b] a record without a body is refused as damaged', async () => {
    const { codec } = await givenThread(40);
    const record = { key: 'k', format: 1, plain: {}, body: null as never };
    await expect(codec.openRecord('ledger', record)).rejects.toMatchObject({ code: 'record_damaged' });
  });

  test.each([{ root: '%' }, null])(
    '[H4, A11b] a key ring whose plain fields are %o is locked, not broken',
    async (plain) => {
      const random = seededRandom(41);
      const given = await givenThread(41);
      const ring = await given.store.get('wraps', ringOwner, 'ring');
      given.store.get = async () => ({ ...ring, plain }) as never;
      const keys = new MemoryKeyStore<CryptoKey>();
      await keys.create('device', await webCryptography.createRootKey());
      await expect(KeyRing.open(given.store, keys, webCryptography, random)).rejects.toMatchObject({
        code: 'key_wrong',
      });
    },
  );
});

describe('errors as data', () => {
  test.each([undefined, null, 5, {}, { name: 1 }])('[H4] %o gives an error all the same', (data) => {
    expect(errorFromData(data as never)).toBeInstanceOf(Error);
  });

  test('[H4] causes without end come back to the depth that is kept', () => {
    const data: Record<string, unknown> = { name: 'Error', message: 'm' };
    data.cause = data;
    expect(errorFromData(data as never).message).toBe('m');
  });
});
