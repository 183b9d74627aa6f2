import { fileURLToPath } from 'node:url';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { chromiumArguments, findChromium } from './test/support/find-browser.ts';

const entries = ['worker', 'models', 'checkpointer', 'testing'];

const entry = (name: string): string => fileURLToPath(new URL(`./src/entries/${name}.ts`, import.meta.url));

/** The package's own entry points by the names its users import them by; the same as `paths` in tsconfig.json. */
const alias = [
  { find: /^holdfast$/, replacement: entry('holdfast') },
  ...entries.map((name) => ({ find: new RegExp(`^holdfast/${name}$`), replacement: entry(name) })),
];

const executablePath = findChromium();

/** Where a build spends its time is of no interest to who only starts the demo. */
const checks = { pluginTimings: false };

export default defineConfig({
  resolve: { alias },
  // The demo. Its policy allows no data: URLs in scripts, and its files are fetched by name.
  build: { outDir: 'dist-demo', assetsInlineLimit: 0, target: 'es2022', rolldownOptions: { checks } },
  worker: { format: 'es', rolldownOptions: { checks } },
  test: {
    projects: [
      {
        resolve: { alias },
        test: {
          name: 'node',
          testTimeout: 30_000,
          hookTimeout: 90_000,
          include: ['test/**/*.test.ts'],
          exclude: ['**/*.browser.test.ts'],
          setupFiles: ['test/support/preload.ts'],
        },
      },
      {
        resolve: { alias },
        // The engine's suite once more, with the engine thrown away after each boundary.
        test: {
          name: 'reload',
          testTimeout: 30_000,
          include: ['test/engine/**/*.test.ts'],
          env: { HOLDFAST_RELOAD: '1' },
          setupFiles: ['test/support/preload.ts', 'test/engine/reload-exemptions.ts'],
        },
      },
      {
        resolve: { alias },
        // Found at the start: a dependency that Vite meets only later reloads the page in mid-test.
        optimizeDeps: { include: ['comlink', 'msgpackr', 'zod', 'pdfjs-dist/legacy/build/pdf.mjs'] },
        test: {
          name: 'chromium',
          testTimeout: 30_000,
          include: ['test/**/*.browser.test.ts'],
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            instances: [{ browser: 'chromium' }],
            provider: playwright({
              launchOptions: {
                args: [...chromiumArguments()],
                ...(executablePath === undefined ? {} : { executablePath }),
              },
            }),
          },
        },
      },
    ],
  },
});
