/**
 * Makes plain modules of a program of the simulator and all that it imports, file by file, as they lie: so a planted fault is
 * one file that is written anew. Code that the engine loads on demand is loaded with the rest: a world waits for nothing but
 * what happens in it.
 */
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformWithOxc } from 'vite';

export const root = fileURLToPath(new URL('../..', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));

/**
 * @param entry from this folder.
 * @param out a folder of this run's own.
 * @returns the program's file.
 */
export async function compile(entry: string, out: string): Promise<string> {
  const first = join(here, entry);
  const known = new Set([first]);
  for (const file of known) {
    const { code, imports } = await compiled(file, await readFile(file, 'utf8'));
    for (const each of imports) known.add(each);
    await write(placeOf(file, out), code);
  }
  await writeFile(join(out, 'package.json'), '{"type":"module"}');
  await symlink(join(root, 'node_modules'), join(out, 'node_modules'));
  return placeOf(first, out);
}

/**
 * The same program with another text of one of its files.
 *
 * @param file from the root.
 */
export async function compileWith(program: string, from: string, to: string, file: string, text: string) {
  await cp(from, to, { recursive: true, verbatimSymlinks: true });
  const path = join(root, file);
  await write(placeOf(path, to), (await compiled(path, text)).code);
  return join(to, relative(from, program));
}

async function compiled(file: string, text: string) {
  const { code } = await transformWithOxc(text, file, { sourcemap: false, tsconfig: false });
  const imports: string[] = [];
  const onDemand: string[] = [];
  const known = (path: string) => {
    imports.push(join(dirname(file), path));
    return path.replace(/\.ts$/, '.js');
  };
  const plain = code
    .replace(/^((?:import|export)\b[^;]*?)"(\.[^"]+\.ts)";$/gm, (_, head, path) => `${head}"${known(path)}";`)
    .replace(/\bimport\("(\.[^"]+\.ts)"\)/g, (_, path) => {
      onDemand.push(`import * as onDemand${onDemand.length} from "${known(path)}";\n`);
      return `Promise.resolve(onDemand${onDemand.length - 1})`;
    });
  return { code: onDemand.join('') + plain, imports };
}

function placeOf(file: string, out: string): string {
  return join(out, relative(root, file).replace(/\.ts$/, '.js'));
}

async function write(file: string, code: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, code);
}
