/**
 * Makes one file of a program of the simulator. Code that the engine loads on demand is in it: loading takes no time then, and
 * a world waits for nothing but what happens in it.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * @param entry from this folder.
 * @param out a folder of this run's own.
 */
export async function bundle(entry: string, out: string, plugins: readonly Plugin[] = []): Promise<string> {
  await build({
    configFile: false,
    root,
    logLevel: 'error',
    publicDir: false,
    plugins: [...plugins],
    ssr: { noExternal: true },
    build: {
      ssr: fileURLToPath(new URL(entry, import.meta.url)),
      outDir: out,
      emptyOutDir: false,
      minify: false,
      target: 'node20',
      rolldownOptions: {
        output: { entryFileNames: 'program.mjs', codeSplitting: false },
        checks: { pluginTimings: false },
      },
    },
  });
  return join(out, 'program.mjs');
}
