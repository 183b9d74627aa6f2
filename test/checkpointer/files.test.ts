import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { Checkpointer } from '../../src/checkpointer/checkpointer.ts';
import type { CheckpointerOptions } from '../../src/checkpointer/options.ts';
import { log, value } from '../../src/model/fields.ts';
import { FileRef } from '../../src/model/file-ref.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { withMethods } from '../engine/support.ts';

interface State {
  readonly file: FileRef | null;
  readonly more?: readonly FileRef[];
}

const fileOf = (sizeBytes: number, letter = 'a') =>
  FileRef.from({ name: `${letter}.txt`, type: 'text/plain', bytes: letter.repeat(sizeBytes) });

const declared: readonly [string, CheckpointerOptions<State>][] = [
  ['without fields', {}],
  ['with fields', { fields: { file: value(z.any(), null), more: log(z.any()) } as never }],
];

describe.each(declared)('a file in the state of a checkpointer %s', (_name, options) => {
  const at = async (world: TestWorld) => new Checkpointer<State>(await world.ports(), options);

  test.each([3, 9_000, 120_000])('[A8a, A1a] of %i bytes is saved, and is there after a reload', async (sizeBytes) => {
    const world = new TestWorld();
    const saver = await at(world);
    await saver.save('t', { file: fileOf(sizeBytes) });
    await saver.save('u', { file: null });
    await saver.save('u', { file: fileOf(sizeBytes, 'b'), more: [fileOf(sizeBytes, 'c')] });

    const reloaded = await at(world);
    expect(await (await reloaded.load('t'))?.file?.text()).toBe('a'.repeat(sizeBytes));
    const second = await reloaded.load('u');
    expect(await second?.file?.text()).toBe('b'.repeat(sizeBytes));
    expect(await second?.more?.[0]?.text()).toBe('c'.repeat(sizeBytes));
  });

  test('[A8a] that was loaded is saved again as it is, and stored once', async () => {
    const world = new TestWorld();
    await (await at(world)).save('t', { file: fileOf(9_000) });
    const saver = await at(world);
    const loaded = await saver.load('t');
    await saver.save('t', { file: loaded?.file ?? null, more: loaded?.file ? [loaded.file] : [] });
    const [hash] = world.data.threads.keys();

    expect(hash && world.data.records('blobs', hash).range({})).toHaveLength(1);
    expect(await (await (await at(world)).load('t'))?.more?.[0]?.text()).toBe('a'.repeat(9_000));
  });

  test('[A8a, I1] is saved by the next save, where the storage failed at first', async () => {
    const world = new TestWorld();
    const store = world.store();
    let isBroken = true;
    const commit: typeof store.commit = (groups) =>
      isBroken ? Promise.reject(new Error('no disk')) : store.commit(groups);
    const saver = new Checkpointer<State>(await world.ports(withMethods(store, { commit })), options);
    const state = { file: fileOf(9_000) };
    await expect(saver.save('t', state)).rejects.toThrow('no disk');
    isBroken = false;
    await saver.save('t', state);

    expect(await (await (await at(world)).load('t'))?.file?.text()).toBe('a'.repeat(9_000));
  });
});
