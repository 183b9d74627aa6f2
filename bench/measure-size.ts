import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Plugin, type Rolldown } from 'vite';

export interface BundleSize {
  readonly minBytes: number;
  /** Each file by itself, at the highest level. */
  readonly gzipBytes: number;
  /** The packages that are inside, sorted. */
  readonly packages: readonly string[];
}

/** All that a worker loads in any case: its start, and what runs threads. */
export interface WorkerSize extends BundleSize {
  /** What its first line needs: what shows threads. The other file loads for the first run. */
  readonly startGzipBytes: number;
  readonly files: readonly string[];
  /** The files that are loaded when something in them is first needed. */
  readonly onDemandGzipBytes: number;
  readonly onDemandFiles: readonly string[];
}

/** Gzip bytes that each bundle may have (P4). */
export const limits = { client: 6 * 1024, worker: 45 * 1024 } as const;

/** The entry points, by the file names in src/entries. */
export const entryNames = ['holdfast', 'worker', 'checkpointer', 'models', 'testing'] as const;
export type EntryName = (typeof entryNames)[number];

const root = fileURLToPath(new URL('..', import.meta.url));

const entryFile = (name: EntryName): string => fileURLToPath(new URL(`../src/entries/${name}.ts`, import.meta.url));

/** What a page pays that only connects. */
export const measureClient = (): Promise<BundleSize> => measure('holdfast', '{ connect }');

/** What a worker loads that only serves, and what it can load later. */
export async function measureWorker(): Promise<WorkerSize> {
  const chunks = await builtWorker(`import { defineAgent, log, value } from ${JSON.stringify(entryFile('holdfast'))};
import { serve } from ${JSON.stringify(entryFile('worker'))};
serve(defineAgent(globalThis.agentOf({ log, value })));`);
  const start = startOf(chunks);
  const running = chunks.filter(({ moduleIds }) => moduleIds.some((id) => id.endsWith('/src/engine/thread-runner.ts')));
  const always = [...new Set([...start, ...running])];
  const later = chunks.filter((chunk) => !always.includes(chunk));
  return {
    ...sizeOf(always),
    startGzipBytes: sizeOf(start).gzipBytes,
    files: always.map(({ fileName }) => fileName),
    onDemandGzipBytes: sizeOf(later).gzipBytes,
    onDemandFiles: later.map(({ fileName }) => fileName),
  };
}

/** What everything of one entry point costs. */
export const measureEntry = (name: EntryName): Promise<BundleSize> => measure(name, '*');

/** Bundles one program that takes `names` from an entry point, as a user's production build would; what is loaded at its start. */
async function measure(entry: EntryName, names: string): Promise<BundleSize> {
  if (!existsSync(entryFile(entry))) throw new Error(`src/entries/${entry}.ts is not there: nothing to measure.`);
  const built = await build({
    configFile: false,
    root,
    logLevel: 'error',
    plugins: [program(programId, `export ${names} from ${JSON.stringify(entryFile(entry))};`)],
    build: {
      write: false,
      minify: true,
      target: 'es2022',
      modulePreload: false,
      rolldownOptions: { input: programId, preserveEntrySignatures: 'allow-extension' },
    },
  });
  const outputs = [built].flat().flatMap((result) => ('output' in result ? result.output : []));
  return sizeOf(startOf(outputs.flatMap((output) => (output.type === 'chunk' ? [output] : []))));
}

/** The files that Vite makes of a page's worker, as modules: what it does not do for a page, it leaves out. */
async function builtWorker(text: string): Promise<readonly Rolldown.OutputChunk[]> {
  const worker = program('virtual:worker', text);
  let chunks: readonly Rolldown.OutputChunk[] = [];
  const collect: Plugin = {
    name: 'collect',
    generateBundle: (_, bundle) => {
      chunks = Object.values(bundle).flatMap((output) => (output.type === 'chunk' ? [output] : []));
    },
  };
  await build({
    configFile: false,
    root,
    logLevel: 'error',
    plugins: [program(programId, "import Made from 'virtual:worker?worker';\nnew Made();"), worker],
    worker: { format: 'es', plugins: () => [worker, collect] },
    build: { write: false, minify: true, target: 'es2022', rolldownOptions: { input: programId } },
  });
  if (chunks.length === 0) throw new Error('The worker was not built: nothing to measure.');
  return chunks;
}

/** What is imported when it is first needed is not paid by whoever starts. */
function startOf(chunks: readonly Rolldown.OutputChunk[]): readonly Rolldown.OutputChunk[] {
  const first = new Set(chunks.flatMap(({ isEntry, fileName }) => (isEntry ? [fileName] : [])));
  for (const name of first)
    for (const other of chunks.find(({ fileName }) => fileName === name)?.imports ?? []) first.add(other);
  return chunks.filter(({ fileName }) => first.has(fileName));
}

function sizeOf(chunks: readonly Rolldown.OutputChunk[]): BundleSize {
  const packages = new Set<string>();
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

/** A program that is in no file. What is asked of it behind its name (`?worker`) is Vite's to answer. */
function program(name: string, text: string): Plugin {
  return {
    name,
    resolveId: (id) => (id === name || id.startsWith(`${name}?`) ? id : undefined),
    load: (id) => (id === name ? text : undefined),
  };
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
