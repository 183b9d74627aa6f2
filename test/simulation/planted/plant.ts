/** Compiles the simulator with a fault in it, and lets it hunt in a process of its own. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compile, compileWith, root } from '../compile.ts';
import type { PlantedFault } from './fault.ts';
import type { Found } from './hunt.ts';

const timeLimitMs = 50_000;

/** The simulator without a fault, in `folder`. Faults are planted in copies of it. */
export class Ground {
  readonly #folder: string;
  readonly #program: Promise<string>;

  constructor(folder: string) {
    this.#folder = folder;
    this.#program = compile('planted/hunt.ts', join(folder, 'none'));
  }

  async hunt(effort: readonly [step: number, seeds: number]): Promise<Found> {
    return hunt(await this.#program, effort, '');
  }

  /** @throws where the text to replace does not stand in its file exactly once. */
  async huntWith(fault: PlantedFault, effort: readonly [step: number, seeds: number]): Promise<Found> {
    const file = join('src', fault.file);
    const [before, after, ...others] = (await readFile(join(root, file), 'utf8')).split(fault.find);
    if (before === undefined || after === undefined || others.length > 0)
      throw new Error(`The text to replace does not stand in ${fault.file} exactly once: ${fault.find}`);
    const to = join(this.#folder, fault.name.replaceAll(' ', '-'));
    const text = before + fault.replace + after;
    const program = await compileWith(await this.#program, join(this.#folder, 'none'), to, file, text);
    return hunt(program, effort, fault.begin);
  }
}

async function hunt(program: string, effort: readonly [number, number], begin: string): Promise<Found> {
  const args = ['--single-threaded-gc', program, ...effort.map(String), begin];
  const output = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, args, { timeout: timeLimitMs }, (error, stdout) => {
      if (error === null) resolve(stdout);
      else reject(error);
    });
  });
  return JSON.parse(output.trim().split('\n').at(-1) ?? '') as Found;
}
