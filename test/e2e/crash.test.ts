/** What ends a tab in real life, in a real Chromium, while a thread runs. */
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BuiltApp, serveBuiltApp } from '../support/built-app.ts';
import { newProfile, type OpenBrowser, type Profile } from '../support/real-browser.ts';
import { OutsideWorld } from './outside-world.ts';

const letters = 12;
let world = new OutsideWorld();
let app: BuiltApp;

beforeAll(async () => {
  const root = fileURLToPath(new URL('./app/', import.meta.url));
  app = await serveBuiltApp({ root, handle: (request, response) => world.handle(request, response) });
}, 60_000);

afterAll(async () => {
  await app.close();
});

async function openPage(browser: OpenBrowser, query = ''): Promise<Page> {
  const page = await browser.context.newPage();
  await page.goto(app.url + query);
  await page.waitForFunction(() => window.controls !== undefined);
  return page;
}

const start = (page: Page) => page.evaluate((left) => window.controls?.start(left), letters);
const untilSteps = (page: Page, steps: number) =>
  page.waitForFunction((least) => Number(document.body.dataset.steps ?? 0) >= least, steps);
const untilDone = (page: Page) => page.waitForFunction(() => document.querySelector('#status')?.textContent === 'done');

/** Runs a thread to its end, with `fault` in the middle; the outcome must be that of an undisturbed run. */
async function surviving(fault: (given: { page: Page; browser: OpenBrowser; profile: Profile }) => Promise<Page>) {
  world = new OutsideWorld();
  const profile = await newProfile();
  const browsers: OpenBrowser[] = [];
  const tracked: Profile = {
    ...profile,
    open: async () => {
      const browser = await profile.open();
      browsers.push(browser);
      return browser;
    },
  };
  try {
    const browser = await tracked.open();
    const page = await openPage(browser);
    await start(page);
    await untilSteps(page, 7);
    const after = await fault({ page, browser, profile: tracked });
    await untilDone(after);
    const state = await after.evaluate(() => window.controls?.state());
    const view = await after.evaluate(() => window.controls?.view());
    expect(state?.left).toBe(0);
    expect(state?.ids.tail).toEqual(Array.from({ length: letters }, (_, index) => `id-${index}`));
    expect(state?.thoughts.length).toBe(letters);
    expect(world.deliveries.map(({ body }) => JSON.parse(body).n)).toEqual(
      Array.from({ length: letters }, (_, index) => letters - index),
    );
    expect(world.repeated).toEqual([]);
    expect(view?.steps.filter(({ cause }) => cause === 'step')).toHaveLength(2 * letters);
    return view;
  } finally {
    for (const browser of browsers) await browser.close();
    await profile.remove();
  }
}

test('[C3a] a reload in the middle costs nothing and repeats nothing', { timeout: 60_000 }, async () => {
  const view = await surviving(async ({ page }) => {
    await page.reload();
    await page.waitForFunction(() => document.body.dataset.resumedAt !== undefined);
    return page;
  });
  expect(view?.resumes).toBe(1);
});

test('[C3b] a closed tab goes on when the page is opened again', { timeout: 60_000 }, async () => {
  await surviving(async ({ page, browser }) => {
    await page.close();
    return openPage(browser);
  });
});

test('[C3c] a crashed renderer goes on when the page is opened again', { timeout: 60_000 }, async () => {
  await surviving(async ({ page, browser }) => {
    const crashed = page.waitForEvent('crash');
    void page.goto('chrome://crash').catch(() => undefined); // it never arrives: that is the point
    await crashed;
    return openPage(browser);
  });
});

test('[C3d] a killed browser goes on when it is started again', { timeout: 90_000 }, async () => {
  await surviving(async ({ browser, profile }) => {
    await browser.kill();
    return openPage(await profile.open());
  });
});

test('[C3e] a terminated worker is noticed, replaced, and the thread goes on', { timeout: 60_000 }, async () => {
  await surviving(async ({ page }) => {
    await page.evaluate(() => window.controls?.terminateWorker());
    await page.waitForFunction(() => document.body.dataset.resumedAt !== undefined);
    return page;
  });
});

test('[C3f] on request, a thread waits for its person instead of going on by itself', { timeout: 60_000 }, async () => {
  await surviving(async ({ page, browser }) => {
    await page.close();
    const next = await openPage(browser, '?resume=on-request');
    await next.waitForFunction(() => document.querySelector('#status')?.textContent === 'running');
    const before = await next.evaluate(() => window.controls?.view());
    await next.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    expect((await next.evaluate(() => window.controls?.view()))?.steps.length).toBe(before?.steps.length);
    await next.evaluate(() => window.controls?.resume());
    return next;
  });
});
