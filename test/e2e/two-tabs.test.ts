import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { serveBuiltApp } from '../support/built-app.ts';
import { newProfile } from '../support/real-browser.ts';
import { OutsideWorld } from './outside-world.ts';

const letters = 15;
let close: (() => Promise<void>) | undefined;
afterEach(() => close?.());

async function givenBrowser() {
  const world = new OutsideWorld();
  const app = await serveBuiltApp({
    root: fileURLToPath(new URL('./app/', import.meta.url)),
    handle: (request, response) => world.handle(request, response),
  });
  const profile = await newProfile();
  const browser = await profile.open();
  close = async () => {
    await browser.close();
    await profile.remove();
    await app.close();
  };
  return { world, app, browser };
}

test('[B14a] a tab that was there before, and sent nothing, takes over too', { timeout: 90_000 }, async () => {
  const { world, app, browser } = await givenBrowser();
  const bystander = await browser.context.newPage();
  await bystander.goto(app.url);
  await bystander.waitForFunction(() => document.querySelector('#status')?.textContent === 'idle');
  const first = await browser.context.newPage();
  await first.goto(app.url);
  await first.waitForFunction(() => window.controls !== undefined);
  await first.evaluate((left) => window.controls?.start(left), letters);
  await first.waitForFunction(() => Number(document.body.dataset.steps ?? 0) >= 7);
  await first.close();
  await bystander.waitForFunction(() => document.querySelector('#status')?.textContent === 'done');
  expect(world.deliveries).toHaveLength(letters);
  expect(world.repeated).toEqual([]);
});

test('[B14a] of two tabs one runs the thread, both see it, and the other takes over when it is closed', {
  timeout: 90_000,
}, async () => {
  const { world, app, browser } = await givenBrowser();
  const [first, second] = [await browser.context.newPage(), await browser.context.newPage()];
  for (const page of [first, second]) {
    await page.goto(app.url);
    await page.waitForFunction(() => window.controls !== undefined);
  }
  await first.evaluate((left) => window.controls?.start(left), letters);
  // The second tab asks for the same, as an impatient person would: the same input is kept once.
  await second.evaluate((left) => window.controls?.start(left), letters);
  await second.waitForFunction(() => document.querySelector('#status')?.textContent === 'running');
  await second.waitForFunction(async () => {
    const isThread = ({ name = '' }: LockInfo) => name.startsWith('holdfast:holdfast:');
    const { held = [], pending = [] } = await navigator.locks.query();
    return held.filter(isThread).length === 1 && pending.filter(isThread).length === 1;
  });
  await first.waitForFunction(() => Number(document.body.dataset.steps ?? 0) >= 7);
  await first.close();
  await second.waitForFunction(() => document.querySelector('#status')?.textContent === 'done');
  const view = await second.evaluate(() => window.controls?.view());
  expect(view?.steps.filter(({ cause }) => cause === 'step')).toHaveLength(2 * letters);
  expect(world.deliveries).toHaveLength(letters);
  expect(world.repeated).toEqual([]);
});
