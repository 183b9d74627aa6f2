/** Bundles the simulator with a fault in it, and lets it hunt in a process of its own. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { bundle, root } from '../bundle.ts';
import type { PlantedFault } from './fault.ts';
import type { Found } from './hunt.ts';

const timeLimitMs = 40_000;

/** How often the text stands in its file. */
export async function placesOf({ file, find }: PlantedFault): Promise<number> {
  return (await readFile(join(root, 'src', file), 'utf8')).split(find).length - 1;
}

/** @param out a folder of this run's own. */
export async function huntWith(
  fault: PlantedFault | undefined,
  out: string,
  effort: readonly [step: number, seeds: number],
): Promise<Found> {
  const program = await bundle('planted/hunt.ts', out, fault === undefined ? [] : [planting(fault)]);
  const output = await new Promise<string>((resolve, reject) => {
    execFile(
      process.execPath,
      [program, ...effort.map(String), fault?.begin ?? ''],
      { timeout: timeLimitMs },
      (error, stdout) => {
        if (error === null) resolve(stdout);
        else reject(error);
      },
    );
  });
  return JSON.parse(output.trim().split('\n').at(-1) ?? '') as Found;
}

function planting({ file, find, replace }: PlantedFault): Plugin {
  const path = join(root, 'src', file);
  return {
    name: 'planted-fault',
    enforce: 'pre',
    transform: (code, id) => (id === path ? code.replace(find, () => replace) : undefined),
  };
}
