/** Bundles the fuzzer with a fault in a decoder, and lets it hunt in a process of its own. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';
import type { PlantedFault } from './faults.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const timeLimitMs = 60_000;

export interface Found {
  readonly found: string | null;
  readonly runs: number;
}

/** How often the text stands in its file. */
export async function placesOf({ file, find }: PlantedFault): Promise<number> {
  return (await readFile(join(root, 'src', file), 'utf8')).split(find).length - 1;
}

/** @param out a folder of this run's own. */
export async function huntWith(
  fault: PlantedFault,
  out: string,
  effort: readonly [runs: number, seed: number],
): Promise<Found> {
  const program = await bundle(fault, out);
  const output = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, [program, ...effort.map(String)], { timeout: timeLimitMs }, (error, stdout) => {
      if (error === null) resolve(stdout);
      else reject(error);
    });
  });
  return JSON.parse(output.trim().split('\n').at(-1) ?? '') as Found;
}

async function bundle(fault: PlantedFault, out: string): Promise<string> {
  await build({
    configFile: false,
    root,
    logLevel: 'error',
    publicDir: false,
    plugins: [planting(fault)],
    ssr: { noExternal: true },
    build: {
      ssr: fileURLToPath(new URL('./hunt.ts', import.meta.url)),
      outDir: out,
      emptyOutDir: false,
      minify: false,
      target: 'node20',
      rolldownOptions: {
        output: { entryFileNames: 'hunt.mjs', chunkFileNames: '[name]-[hash].mjs' },
        checks: { pluginTimings: false },
      },
    },
  });
  return join(out, 'hunt.mjs');
}

function planting({ file, find, replace }: PlantedFault): Plugin {
  const path = join(root, 'src', file);
  return {
    name: 'planted-fault',
    enforce: 'pre',
    transform: (code, id) => (id === path ? code.replace(find, () => replace) : undefined),
  };
}
