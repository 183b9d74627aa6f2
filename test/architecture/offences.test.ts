import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ambientUses } from './ambient-names.ts';
import { offencesOf } from './offences.ts';
import { filesOnDisk, seeModules } from './see-modules.ts';

/** Each folder in fixtures/ is a small tree with one fault. */
async function offencesIn(fixture: string): Promise<string[]> {
  const top = fileURLToPath(new URL(`./fixtures/${fixture}/`, import.meta.url));
  const modules = await seeModules(top);
  expect(modules.files).toEqual(filesOnDisk(top));
  return offencesOf(top, modules);
}

describe('the table of layers bites', () => {
  const cases: readonly [fixture: string, offences: readonly string[]][] = [
    ['clean', []],
    [
      'upward',
      ['src/base/clock.ts imports ../model/ids.ts: base may import nothing outside itself, and this is model.'],
    ],
    ['type-only', ['src/model/ids.ts imports ../store/store.ts: model may import only base, and this is store.']],
    [
      'dynamic',
      [
        'src/client/connect.ts imports ../engine/run.ts: client may import only base, model, protocol, and this is engine.',
      ],
    ],
    [
      'adapters',
      [
        'src/stores/memory/store.ts imports ../indexeddb/store.ts: stores/memory may import only ' +
          'base, model, store, stores/sql, and this is stores/indexeddb.',
      ],
    ],
    [
      'packages',
      [
        'src/codec/pack.ts imports left-pad: no layer may import left-pad.',
        'src/engine/run.ts imports idb: only stores/indexeddb may import idb.',
        "src/host/files.ts imports fs/promises: only server, demo may import Node's own modules.",
        'src/models/chat.ts imports zod/mini: only demo, worker may import zod.',
      ],
    ],
    [
      'demo',
      [
        'src/demo/page.ts imports ../client/connect.ts: demo may import only entries, and this is client.',
        'src/demo/page.ts imports ../entries/holdfast.ts: it must name the entry point by its public name, as a user does.',
        'worker/demo.ts imports ../src/host/serve.ts: worker may import only entries, demo, and this is host.',
      ],
    ],
    ['own-name', ['src/host/serve.ts imports holdfast: inside the library, import the file and not the package.']],
    ['circle', ['src/model/a.ts imports src/model/b.ts imports src/model/a.ts: a circle.']],
    ['on-demand', []],
    [
      'homeless',
      [
        'src/helpers/tools.ts is in no layer: move it to a folder of the table in layer-table.ts.',
        'src/main.ts is in no layer: move it to a folder of the table in layer-table.ts.',
      ],
    ],
    ['missing', ['src/base/clock.ts imports ./gone.ts: there is no src/base/gone.ts.']],
    [
      'ambient',
      [
        'src/codec/seal.ts:2 uses crypto: codec takes time, ids, randomness and network as ports.',
        'src/engine/run.ts:2 uses Date.now: engine takes time, ids, randomness and network as ports.',
      ],
    ],
  ];

  test.each(cases)('%s', async (fixture, offences) => {
    expect((await offencesIn(fixture)).sort()).toEqual(offences);
  });
});

describe('ambient names', () => {
  const names = (text: string) => ambientUses('a.ts', text).map((use) => use.name);

  test.each([
    ['Date.now()', ['Date.now']],
    ['new Date()', ['new Date()']],
    ['new Date', ['new Date()']],
    ['Math.random()', ['Math.random']],
    ['setTimeout(() => {}, 1)', ['setTimeout']],
    ['setInterval(() => {}, 1)', ['setInterval']],
    ['await fetch("/")', ['fetch']],
    ['crypto.randomUUID()', ['crypto']],
    ['window.open()', ['window']],
    ['globalThis.fetch("/")', ['globalThis']],
    ['const later = { setTimeout };', ['setTimeout']],
    ['const load = options.fetch ?? fetch;', ['fetch']],
  ])('%s is found', (text, found) => {
    expect(names(text)).toEqual(found);
  });

  test.each([
    'new Date(createdAtMs)',
    'clock.setTimeout(1)',
    'const load: typeof fetch = options.fetch;',
    'interface Ports { readonly crypto: Crypto; fetch(url: URL): void }',
    '// Date.now() and window.open()',
    'const text = "fetch(1)";',
  ])('%s is not', (text) => {
    expect(names(text)).toEqual([]);
  });
});
