import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const entries = ['holdfast', 'worker', 'checkpointer', 'models', 'testing'];

/** The package: one file for each entry point in dist/, what they share beside them, the dependencies left outside. */
export default defineConfig({
  publicDir: false,
  build: {
    target: 'es2022',
    minify: false,
    sourcemap: true,
    lib: {
      formats: ['es'],
      entry: Object.fromEntries(
        entries.map((name) => [name, fileURLToPath(new URL(`./src/entries/${name}.ts`, import.meta.url))]),
      ),
    },
    rolldownOptions: {
      external: [/^(comlink|msgpackr|zod)(\/|$)/],
      output: { entryFileNames: '[name].js', chunkFileNames: 'shared/[name]-[hash].js' },
    },
  },
});
