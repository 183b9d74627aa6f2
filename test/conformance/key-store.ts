import { describe, expect, test } from 'vitest';
import type { KeyStore } from '../../src/store/key-store.ts';

export interface KeyStoreSubject<Key> {
  /** An empty key store, shared with no other test, and a second one on the same keys, as the next start would open it. */
  readonly open: () => Promise<{
    readonly keys: KeyStore<Key>;
    readonly reopen: () => Promise<KeyStore<Key>>;
    readonly close: () => Promise<void>;
  }>;
  readonly makeKey: () => Promise<Key>;
  /** Whether both do the same; what a store hands out need not be the same object. */
  readonly isSame: (a: Key, b: Key) => Promise<boolean>;
}

/** Every sentence of the port `KeyStore`, as tests. */
export function testKeyStore<Key>(name: string, { open, makeKey, isSame }: KeyStoreSubject<Key>): void {
  describe(`key store ${name}`, () => {
    async function withKeys(body: (opened: Awaited<ReturnType<typeof open>>) => Promise<void>): Promise<void> {
      const opened = await open();
      try {
        await body(opened);
      } finally {
        await opened.close();
      }
    }

    async function expectSame(actual: Key | undefined, expected: Key): Promise<void> {
      if (actual === undefined) throw new Error('There is no key');
      expect(await isSame(actual, expected)).toBe(true);
    }

    test('[D2a] there is no key of a name that was never given', () =>
      withKeys(async ({ keys }) => {
        expect(await keys.get('root')).toBeUndefined();
      }));

    test('[D2a] a key is found under its name, and only there', () =>
      withKeys(async ({ keys }) => {
        const key = await makeKey();

        await expectSame(await keys.create('root', key), key);

        await expectSame(await keys.get('root'), key);
        expect(await keys.get('other')).toBeUndefined();
      }));

    test('[D2a] names do not share keys', () =>
      withKeys(async ({ keys }) => {
        const [one, two] = [await makeKey(), await makeKey()];
        await keys.create('one', one);
        await keys.create('two', two);

        await expectSame(await keys.get('one'), one);
        await expectSame(await keys.get('two'), two);
        expect(await isSame(one, two)).toBe(false);
      }));

    test('[I10] a name that is taken keeps its key, and that is what the second gets', () =>
      withKeys(async ({ keys }) => {
        const [first, second] = [await makeKey(), await makeKey()];
        await keys.create('root', first);

        await expectSame(await keys.create('root', second), first);
        await expectSame(await keys.get('root'), first);
      }));

    test('[D2a] of several that race for a name, all get the one key that is kept', () =>
      withKeys(async ({ keys }) => {
        const rivals = await Promise.all([1, 2, 3].map(makeKey));

        const given = await Promise.all(rivals.map((key) => keys.create('root', key)));

        const kept = await keys.get('root');
        if (kept === undefined) throw new Error('There is no key');
        for (const key of given) await expectSame(key, kept);
        expect((await Promise.all(rivals.map((key) => isSame(key, kept)))).filter(Boolean)).toHaveLength(1);
      }));

    test('[D2a] a key is there after a new start', () =>
      withKeys(async ({ keys, reopen }) => {
        const key = await makeKey();
        await keys.create('root', key);

        await expectSame(await (await reopen()).get('root'), key);
      }));
  });
}
