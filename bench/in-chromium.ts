import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright';
import { createServer, type PluginOption } from 'vite';
import { newProfile } from '../test/support/real-browser.ts';

const signals = ['SIGINT', 'SIGTERM'] as const;

/** Opens a page of `bench/pages` in a headless Chromium of its own, and ends all it started. */
export async function inChromium<Result>(
  page: string,
  work: (page: Page) => Promise<Result>,
  plugins: PluginOption[] = [],
): Promise<Result> {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const server = await createServer({
    configFile: false,
    root,
    plugins,
    logLevel: 'error',
    server: { port: 0, host: '127.0.0.1', hmr: false, watch: null },
    optimizeDeps: { include: ['msgpackr', 'comlink'] },
  });
  try {
    await server.listen();
    const address = server.httpServer?.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    // A profile on disk: in a private one nothing is flushed.
    const profile = await newProfile();
    const browser = await profile.open();
    const stop = () => void browser.close();
    for (const signal of signals) process.once(signal, stop);
    try {
      const tab = await browser.context.newPage();
      await tab.goto(`http://127.0.0.1:${port}/bench/pages/${page}`);
      return await work(tab);
    } finally {
      for (const signal of signals) process.off(signal, stop);
      await browser.close();
      await profile.remove();
    }
  } finally {
    await server.close();
  }
}
