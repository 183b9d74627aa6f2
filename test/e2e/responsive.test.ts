import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright';
import { expect, test } from 'vitest';
import { serveBuiltApp } from '../support/built-app.ts';
import { chromiumArguments, findChromium } from '../support/find-browser.ts';
import { OutsideWorld } from './outside-world.ts';

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Time of the thread itself in microseconds: what other processes take does not count. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

const letters = 60;

test('[C1b] the page has no task over 50 ms while a thread of 120 steps runs', { timeout: 90_000 }, async () => {
  const world = new OutsideWorld();
  const app = await serveBuiltApp({
    root: fileURLToPath(new URL('./app/', import.meta.url)),
    handle: (request, response) => world.handle(request, response),
  });
  const executablePath = findChromium();
  const browser = await chromium.launch({
    args: [...chromiumArguments()],
    ...(executablePath !== undefined && { executablePath }),
  });
  try {
    const page = await browser.newPage();
    await page.goto(app.url);
    await page.waitForFunction(() => window.controls !== undefined);
    await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline', '__metadata'] });
    await page.evaluate((left) => window.controls?.start(left), letters);
    await page.waitForFunction(() => document.querySelector('#status')?.textContent === 'done', undefined, {
      timeout: 60_000,
    });
    const trace = JSON.parse((await browser.stopTracing()).toString('utf8')) as { traceEvents: readonly TraceEvent[] };
    const mainThreads = new Set(
      trace.traceEvents
        .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
        .map(({ pid, tid }) => `${pid}.${tid}`),
    );
    const tasks = trace.traceEvents.filter(
      ({ name, pid, tid, tdur }) => name.endsWith('RunTask') && tdur !== undefined && mainThreads.has(`${pid}.${tid}`),
    );
    expect(tasks.length).toBeGreaterThan(letters);
    expect(tasks.map(({ tdur = 0 }) => tdur / 1_000).filter((ms) => ms > 50)).toEqual([]);
    expect(world.deliveries).toHaveLength(letters);
  } finally {
    await browser.close();
    await app.close();
  }
});
