import { existsSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { cruise, type ICruiseOptions, type IDependency, type IModule } from 'dependency-cruiser';

/** One import: where it stands, how it is written and what it means. */
export interface Edge {
  readonly from: string;
  readonly specifier: string;
  /** `missing` is a path at which there is nothing; `own` is the package's own name. */
  readonly kind: 'file' | 'missing' | 'package' | 'own';
  /** A path from the top of the tree or the name of a package, `node` for Node's own modules. */
  readonly to: string;
}

export interface Modules {
  /** Paths from the top of the tree. */
  readonly files: readonly string[];
  readonly edges: readonly Edge[];
  /**
   * Each circle of imports once, as the paths along it. One that an `import()` closes is none: what is loaded on demand may
   * build on whatever loads it, which is there by then.
   */
  readonly circles: readonly (readonly string[])[];
}

const source = /\.[cm]?[jt]sx?$/;

/** The source files on disk, as paths from `top`. */
export function filesOnDisk(top: string): string[] {
  return ['src', 'worker']
    .filter((folder) => existsSync(join(top, folder)))
    .flatMap((folder) =>
      readdirSync(join(top, folder), { recursive: true, encoding: 'utf8' }).map((path) => posix.join(folder, path)),
    )
    .filter((path) => source.test(path))
    .sort();
}

/** Every import that dependency-cruiser finds from the sources below `top`, imports of types included. */
export async function seeModules(top: string): Promise<Modules> {
  const modules = await modulesBelow(top, {});
  return {
    files: modules.map((module) => module.source).sort(),
    edges: modules.flatMap((module) => module.dependencies.map((dependency) => edgeOf(top, module, dependency))),
    circles: circlesOf(await modulesBelow(top, { exclude: { dynamic: true } })),
  };
}

async function modulesBelow(top: string, options: ICruiseOptions): Promise<readonly IModule[]> {
  const folders = [...new Set(filesOnDisk(top).map((path) => path.split('/')[0] ?? ''))];
  const { output } = await cruise(
    folders,
    {
      baseDir: top,
      tsPreCompilationDeps: true,
      doNotFollow: { path: 'node_modules' },
      validate: true,
      ruleSet: { forbidden: [{ name: 'circle', severity: 'error', from: {}, to: { circular: true } }] },
      ...options,
    },
    { extensions: ['.ts', '.tsx', '.mts', '.js', '.mjs', '.d.ts'] },
  );
  if (typeof output === 'string') throw new Error(`dependency-cruiser answered with text: ${output}`);
  return output.modules.filter((module) => isOwn(module.source) && source.test(module.source));
}

function isOwn(path: string): boolean {
  return path.startsWith('src/') || path.startsWith('worker/');
}

function edgeOf(top: string, module: IModule, dependency: IDependency): Edge {
  const specifier = dependency.module;
  const edge = { from: module.source, specifier };
  if (dependency.coreModule) return { ...edge, kind: 'package', to: 'node' };
  if (specifier.startsWith('.') || specifier.startsWith('/')) {
    const path = posix.join(posix.dirname(module.source), specifier.replace(/\?.*$/, ''));
    return { ...edge, kind: existsSync(join(top, path)) ? 'file' : 'missing', to: path };
  }
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  return { ...edge, kind: name === 'holdfast' ? 'own' : 'package', to: name };
}

function circlesOf(modules: readonly IModule[]): string[][] {
  const circles = new Map<string, string[]>();
  for (const module of [...modules].sort((a, b) => a.source.localeCompare(b.source))) {
    for (const { cycle } of module.dependencies) {
      const path = cycle?.map((member) => member.name);
      const key = path === undefined ? '' : [...path].sort().join();
      if (path !== undefined && !circles.has(key)) circles.set(key, path);
    }
  }
  return [...circles.values()];
}
