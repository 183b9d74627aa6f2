import { fileURLToPath } from 'node:url';
import { chromium, type Page } from 'playwright';
import { createServer } from 'vite';
import { chromiumArguments, findChromium } from '../test/support/find-browser.ts';

/** Opens a page of `bench/pages` in a headless Chromium of its own, and ends all it started. */
export async function inChromium<Result>(page: string, work: (page: Page) => Promise<Result>): Promise<Result> {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const server = await createServer({
    configFile: false,
    root,
    logLevel: 'error',
    server: { port: 0, host: '127.0.0.1', hmr: false, watch: null },
    optimizeDeps: { include: ['msgpackr', 'comlink'] },
  });
  try {
    await server.listen();
    const address = server.httpServer?.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const executablePath = findChromium();
    const browser = await chromium.launch({
      args: [...chromiumArguments()],
      ...(executablePath !== undefined && { executablePath }),
    });
    try {
      const tab = await browser.newPage();
      await tab.goto(`http://127.0.0.1:${port}/bench/pages/${page}`);
      return await work(tab);
    } finally {
      await browser.close();
    }
  } finally {
    await server.close();
  }
}
