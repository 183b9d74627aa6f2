import { expect, test } from 'vitest';
import * as z from 'zod';
import { log, value } from '../../src/model/fields.ts';
import { FileRef } from '../../src/model/file-ref.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { plainState, Scene } from './support.ts';

const fileOf = (sizeBytes: number) => FileRef.from({ name: 'a.txt', bytes: 'a'.repeat(sizeBytes) });

const agent = defineAgent({
  name: 'reader',
  version: 1,
  state: { file: value(z.unknown(), null), files: log(z.unknown()) },
  start: 'go',
  nodes: { go: (_state, { end }) => end() },
});

test.each<[string, number, (file: FileRef) => object]>([
  ['a small file', 3, (file) => ({ file })],
  ['a large file', 120_000, (file) => ({ file })],
  ['a file inside a value', 9_000, (file) => ({ file: { of: [file] } })],
  ['a file in a log', 9_000, (file) => ({ files: [file] })],
])('[B12d, A8a] an edit takes %s', async (_what, sizeBytes, update) => {
  const scene = new Scene({ agent });
  const thread = await scene.begun();
  await thread.run();
  await thread.edit(update(fileOf(sizeBytes)));

  const { file, files } = await plainState(await scene.open());
  const [kept] = [file, (file as { of?: readonly unknown[] } | null)?.of?.[0], (files as readonly unknown[])[0]].filter(
    (found) => found instanceof FileRef,
  );
  expect(await (kept as FileRef).text()).toBe('a'.repeat(sizeBytes));
});
