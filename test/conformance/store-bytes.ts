import { describe, expect, test } from 'vitest';
import {
  bytes,
  commitId,
  commitOne,
  type GiveStore,
  givenThread,
  groupFor,
  recordWrite,
  rowFor,
  thread,
} from './store-givens.ts';

export function testBytes(giveStore: GiveStore): void {
  describe('bytes', () => {
    test('[A11a] a body comes back byte for byte, whatever it holds', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const every = Uint8Array.from({ length: 256 }, (_, index) => index);
      const large = new Uint8Array(60_000).map((_, index) => (index * 7) % 256);
      const bodies = { every, large, empty: bytes(), zeros: bytes(0, 0, 0) };
      const records = Object.entries(bodies).map(([key, body]) => recordWrite('blobs', key, { body }));

      await commitOne(store, groupFor(row, 'a', { records }));

      for (const [key, body] of Object.entries(bodies)) {
        const read = (await store.get('blobs', row.thread, key))?.body;
        expect(read).toBeInstanceOf(Uint8Array);
        expect(read).toEqual(body);
      }
    });

    test('[A11a] a damaged record is handed out as it is, and its neighbours are unaffected', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      // To a store a body is bytes: one that no envelope begins with is neither refused nor mended.
      const torn = recordWrite('checkpoints', 'b', { body: bytes(255), format: 99, plain: { nonsense: -1.5 } });
      const neighbours = ['a', 'c'].map((key) => recordWrite('checkpoints', key));

      await commitOne(store, groupFor(row, 'a', { records: [...neighbours, torn] }));

      const { key, format, plain, body } = torn;
      expect(await store.get('checkpoints', row.thread, 'b')).toEqual({
        key,
        format,
        plain,
        body,
        commit: commitId('a'),
      });
      const read = await store.range('checkpoints', row.thread, {});
      expect(read.map((record) => record.body)).toEqual([bytes(7, 8, 9), bytes(255), bytes(7, 8, 9)]);
    });

    test('[A11a] plain fields come back as they were: texts, numbers, none', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const plain = { text: 'schön', empty: '', zero: 0, large: 2 ** 53 - 1, fraction: 0.1, none: null };

      await commitOne(store, groupFor(row, 'a', { records: [recordWrite('events', 'e', { plain })] }));

      expect((await store.get('events', row.thread, 'e'))?.plain).toEqual(plain);
    });

    test('[A11a] a view on a larger buffer is stored without the rest of it', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const shared = new Uint8Array(8_192).fill(66);
      const body = shared.subarray(100, 103);

      await commitOne(
        store,
        groupFor(row, 'a', {
          records: [recordWrite('events', 'e', { body })],
          inbox: { dedupId: 'd', format: 1, plain: {}, body },
          row: { control: body },
        }),
      );

      const read = [
        (await store.get('events', row.thread, 'e'))?.body,
        (await store.range('inbox', row.thread, { from: 'o:', limit: 1 }))[0]?.body,
        (await store.readThread(row.thread))?.control,
      ];
      expect(read).toEqual([bytes(66, 66, 66), bytes(66, 66, 66), bytes(66, 66, 66)]);
      expect(read.map((part) => part?.buffer.byteLength)).toEqual([3, 3, 3]);
    });

    test('[A11a] buffers that the caller changes as soon as it has handed them over change nothing stored', async () => {
      const store = await giveStore();
      const row = await givenThread(store);
      const [body, item, control] = [bytes(1), bytes(2), bytes(3)];
      const plain = { size: 1 };

      const committed = commitOne(
        store,
        groupFor(row, 'a', {
          records: [recordWrite('events', 'e', { body, plain })],
          inbox: { dedupId: 'd', format: 1, plain: {}, body: item },
          row: { control },
        }),
      );
      for (const buffer of [body, item, control]) buffer.fill(0);
      plain.size = 0;
      await committed;
      for (const buffer of [body, item, control]) buffer.fill(9);

      expect((await store.get('events', row.thread, 'e'))?.body).toEqual(bytes(1));
      expect((await store.get('events', row.thread, 'e'))?.plain).toEqual({ size: 1 });
      expect((await store.range('inbox', row.thread, { from: 'o:', limit: 1 }))[0]?.body).toEqual(bytes(2));
      expect((await store.readThread(row.thread))?.control).toEqual(bytes(3));
    });

    test('[A11a] the same holds for the first records of a thread, its row, and records of no thread', async () => {
      const store = await giveStore();
      const [first, control, ring] = [bytes(1), bytes(2), bytes(3)];

      const done = Promise.all([
        store.createThread(rowFor(thread('1'), { control }), commitId('root'), [
          recordWrite('wraps', 'data:1', { body: first }),
        ]),
        store.createRecords(thread('ring'), commitId('ring'), [recordWrite('wraps', 'ring', { body: ring })]),
      ]);
      for (const buffer of [first, control, ring]) buffer.fill(0);
      await done;

      expect((await store.get('wraps', thread('1'), 'data:1'))?.body).toEqual(bytes(1));
      expect((await store.readThread(thread('1')))?.control).toEqual(bytes(2));
      expect((await store.get('wraps', thread('ring'), 'ring'))?.body).toEqual(bytes(3));
    });
  });
}
