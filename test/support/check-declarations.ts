/**
 * Compiles the README's agent against the built package as a library of its own would be: with declarations. Everything that
 * the type of an agent is made of must have a name that users can import.
 */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runChild, top } from './run-child.ts';

const readme = readFileSync(join(top, 'README.md'), 'utf8');
const [, agent] = /```ts\n(\/\/ agent\.ts\n[\s\S]*?)```/.exec(readme) ?? [];
if (agent === undefined) throw new Error('README.md has no agent.ts.');

const folder = mkdtempSync(join(tmpdir(), 'holdfast-declarations-'));
try {
  await mkdir(join(folder, 'node_modules'));
  symlinkSync(top, join(folder, 'node_modules', 'holdfast'), 'dir');
  symlinkSync(join(top, 'node_modules', 'zod'), join(folder, 'node_modules', 'zod'), 'dir');
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(join(folder, 'agent.ts'), agent);
  const compilerOptions = {
    declaration: true,
    emitDeclarationOnly: true,
    outDir: 'out',
    strict: true,
    target: 'es2022',
    lib: ['es2022', 'dom'],
    types: [],
    module: 'nodenext',
    preserveSymlinks: true,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['agent.ts'] }));
  const { status, output } = await runChild('tsc', ['-p', folder], true);
  if (status !== 0) console.log(output.trimEnd());
  process.exitCode = status;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
