/** One layer: the other layers it may import. `*` stands for one folder name. */
interface LayerRule {
  readonly imports: readonly string[];
  /** Takes the library as its users do, by the package's name; every other layer imports files. */
  readonly asUser?: true;
}

/** The table of layers, lowest first. A layer always may import its own files. */
const layerTable: Readonly<Record<string, LayerRule>> = {
  base: { imports: [] },
  model: { imports: ['base'] },
  codec: { imports: ['base', 'model'] },
  store: { imports: ['base', 'model'] },
  'stores/*': { imports: ['base', 'model', 'store', 'stores/sql'] },
  program: { imports: ['base', 'model'] },
  checkpointer: { imports: ['base', 'model', 'codec', 'store'] },
  engine: { imports: ['base', 'model', 'codec', 'store', 'program'] },
  agents: { imports: ['base', 'model', 'program'] },
  models: { imports: ['base', 'program'] },
  protocol: { imports: ['base', 'model'] },
  host: { imports: ['base', 'model', 'codec', 'store', 'program', 'engine', 'protocol'] },
  client: { imports: ['base', 'model', 'protocol'] },
  'bridges/*': { imports: ['base', 'model', 'codec', 'store', 'program', 'client'] },
  inspector: { imports: ['client'] },
  server: { imports: ['host', 'stores/*'] },
  testing: { imports: ['base', 'model', 'codec', 'store', 'program', 'engine', 'stores/memory'] },
  entries: {
    imports: [
      ...['base', 'model', 'codec', 'store', 'stores/*', 'program', 'checkpointer', 'engine', 'agents', 'models'],
      ...['protocol', 'host', 'client', 'bridges/*', 'inspector', 'server', 'testing'],
    ],
  },
  demo: { imports: ['entries'], asUser: true },
  worker: { imports: ['entries', 'demo'], asUser: true },
};

/** The layers that may import a package; what is not named here may be imported nowhere. `node` is Node's own modules. */
export const packageTable: Readonly<Record<string, readonly string[]>> = {
  msgpackr: ['codec'],
  idb: ['stores/indexeddb'],
  comlink: ['protocol', 'host', 'client'],
  zod: ['demo', 'worker'],
  'pdfjs-dist': ['demo'],
  node: ['server', 'demo'],
};

/** Layers that take time, ids, randomness and network as ports. */
export const portOnlyLayers: readonly string[] = ['base', 'model', 'store', 'program', 'engine', 'codec'];

/** The layer of a file, by its path from the top of the tree; `undefined` outside of all folders. */
export function layerOf(path: string): string | undefined {
  const [top, folder, inner, ...rest] = path.split('/');
  if (top === 'worker') return 'worker';
  if (top !== 'src' || folder === undefined || inner === undefined) return undefined;
  if (folder !== 'stores' && folder !== 'bridges') return folder;
  return rest.length === 0 ? undefined : `${folder}/${inner}`;
}

/** Whether `name` is the layer that `pattern` means. */
export function isLayer(pattern: string, name: string): boolean {
  return pattern.endsWith('/*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}

export function ruleOf(layer: string): LayerRule | undefined {
  return Object.entries(layerTable).find(([pattern]) => isLayer(pattern, layer))?.[1];
}
