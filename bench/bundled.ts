import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';

/** Serves files of `bench/pages` as `/bundled/<name>.js`, each bundled and minified with all that it imports. */
export async function bundled(names: readonly string[]): Promise<Plugin> {
  const files: ReadonlyMap<string, string> = new Map(
    await Promise.all(names.map(async (name) => [`/bundled/${name}.js`, await bundle(name)] as const)),
  );
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

async function bundle(name: string): Promise<string> {
  const result = await build({
    configFile: false,
    root: fileURLToPath(new URL('..', import.meta.url)),
    logLevel: 'error',
    publicDir: false,
    build: {
      write: false,
      target: 'es2022',
      rolldownOptions: {
        input: fileURLToPath(new URL(`./pages/${name}.ts`, import.meta.url)),
        output: { codeSplitting: false },
        checks: { pluginTimings: false },
      },
    },
  });
  const [first] = Array.isArray(result) ? result : [result];
  const chunk = first !== undefined && 'output' in first ? first.output[0] : undefined;
  if (chunk === undefined) throw new Error(`${name} was not bundled.`);
  return chunk.code;
}
