import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Plugin } from 'vite';

export interface BundleSize {
  readonly minBytes: number;
  /** Each file by itself, at the highest level. */
  readonly gzipBytes: number;
  /** The packages that are inside, sorted. */
  readonly packages: readonly string[];
}

/** Gzip bytes that each bundle may have (P4). */
export const limits = { client: 6 * 1024, worker: 45 * 1024 } as const;

/** The entry points, by the file names in src/entries. */
export const entryNames = ['holdfast', 'worker', 'checkpointer', 'models', 'testing'] as const;
export type EntryName = (typeof entryNames)[number];

const entryFile = (name: EntryName): string => fileURLToPath(new URL(`../src/entries/${name}.ts`, import.meta.url));

/** What a page pays that only connects. */
export const measureClient = (): Promise<BundleSize> => measure('holdfast', '{ connect }');

/** What a worker pays that only serves. */
export const measureWorker = (): Promise<BundleSize> => measure('worker', '{ serve }');

/** What everything of one entry point costs. */
export const measureEntry = (name: EntryName): Promise<BundleSize> => measure(name, '*');

/** Bundles one program that takes `names` from an entry point, as a user's production build would; what is loaded at its start. */
async function measure(entry: EntryName, names: string): Promise<BundleSize> {
  if (!existsSync(entryFile(entry))) throw new Error(`src/entries/${entry}.ts is not there: nothing to measure.`);
  const packages = new Set<string>();
  const built = await build({
    configFile: false,
    root: fileURLToPath(new URL('..', import.meta.url)),
    logLevel: 'error',
    plugins: [program(`export ${names} from ${JSON.stringify(entryFile(entry))};`)],
    build: {
      write: false,
      minify: true,
      target: 'es2022',
      modulePreload: false,
      rolldownOptions: { input: programId, preserveEntrySignatures: 'allow-extension' },
    },
  });
  const outputs = [built].flat().flatMap((result) => ('output' in result ? result.output : []));
  const all = outputs.flatMap((output) => (output.type === 'chunk' ? [output] : []));
  // What is imported when it is first needed (repair, export, collection) is not paid by whoever starts.
  const first = new Set(all.flatMap(({ isEntry, fileName }) => (isEntry ? [fileName] : [])));
  for (const name of first)
    for (const other of all.find(({ fileName }) => fileName === name)?.imports ?? []) first.add(other);
  const chunks = all.filter(({ fileName }) => first.has(fileName));
  for (const chunk of chunks) {
    for (const [id, { renderedLength }] of Object.entries(chunk.modules)) {
      const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1];
      if (name !== undefined && renderedLength > 0) packages.add(name);
    }
  }
  const codes = chunks.map((chunk) => Buffer.from(chunk.code));
  return {
    minBytes: total(codes.map((code) => code.length)),
    gzipBytes: total(codes.map((code) => gzipSync(code, { level: 9 }).length)),
    packages: [...packages].sort(),
  };
}

const programId = 'virtual:program';

function program(text: string): Plugin {
  return {
    name: 'program',
    resolveId: (id) => (id === programId ? `\0${programId}` : undefined),
    load: (id) => (id === `\0${programId}` ? text : undefined),
  };
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
