import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';

/** Serves files of `bench/pages` as `/bundled/<name>.js`, each built and minified as Vite builds a worker: what it loads on demand is apart. */
export async function bundled(names: readonly string[]): Promise<Plugin> {
  const built = await Promise.all(names.map(bundle));
  const files: ReadonlyMap<string, string> = new Map(built.flat());
  return {
    name: 'bundled',
    configureServer: ({ middlewares }) => {
      middlewares.use((request, response, next) => {
        const code = files.get(request.url ?? '');
        if (code === undefined) return next();
        response.setHeader('Content-Type', 'text/javascript');
        // As files of a build whose names carry a hash: a browser keeps them, and what it made of them.
        response.setHeader('Cache-Control', 'max-age=3600, immutable');
        response.end(code);
      });
    },
  };
}

async function bundle(name: string): Promise<readonly (readonly [url: string, code: string])[]> {
  const result = await build({
    configFile: false,
    root: fileURLToPath(new URL('..', import.meta.url)),
    base: '/bundled/',
    logLevel: 'error',
    publicDir: false,
    build: {
      write: false,
      target: 'es2022',
      modulePreload: false,
      rolldownOptions: {
        input: fileURLToPath(new URL(`./pages/${name}.ts`, import.meta.url)),
        preserveEntrySignatures: 'allow-extension', // as for a worker: else what is loaded on demand cuts the start in two files
        output: { entryFileNames: '[name].js', chunkFileNames: `${name}-[name].js` },
        checks: { pluginTimings: false },
      },
    },
  });
  const [first] = Array.isArray(result) ? result : [result];
  if (first === undefined || !('output' in first)) throw new Error(`${name} was not bundled.`);
  return first.output.flatMap((file) => (file.type === 'chunk' ? [[`/bundled/${file.fileName}`, file.code]] : []));
}
