import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright';
import { build } from 'vite';
import { type RunningDemo, startDemo } from '../../src/demo/server.ts';
import { chromiumArguments, findChromium } from '../support/find-browser.ts';
import { top } from '../support/run-child.ts';

export interface DemoBrowser {
  readonly demo: RunningDemo;
  readonly context: BrowserContext;
  /** Errors of the console and of scripts, workers included, and what the policy refused. */
  readonly faults: readonly string[];
  /** A folder that goes with the browser. */
  readonly folder: string;
  close(): Promise<void>;
}

/** The demo as `npm start` serves it, built into a folder of its own. Returns how to remove it. */
export async function buildDemo(): Promise<{ readonly root: string; remove(): Promise<void> }> {
  const root = await mkdtemp(join(tmpdir(), 'holdfast-demo-'));
  await build({ root: top, mode: 'production', build: { outDir: root, emptyOutDir: true }, logLevel: 'error' });
  return { root, remove: () => rm(root, { recursive: true, force: true }) };
}

/** A fresh server with an empty outbox, and a browser with a fresh profile. */
export async function openDemo(root: string): Promise<DemoBrowser> {
  const demo = await startDemo({ port: 0, root });
  const profile = await mkdtemp(join(tmpdir(), 'holdfast-profile-'));
  const executablePath = findChromium();
  const context = await chromium.launchPersistentContext(profile, {
    ...(executablePath !== undefined && { executablePath }),
    args: [...chromiumArguments()],
  });
  const faults: string[] = [];
  const listen = (page: Page) => {
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
    });
  };
  for (const page of context.pages()) listen(page);
  context.on('page', listen);
  return {
    demo,
    context,
    faults,
    folder: profile,
    async close() {
      await context.close();
      await demo.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}

/** Chooses the sample set and starts it. */
export async function startSamples(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Use the 12 sample applications' }).click();
  await page.getByRole('button', { name: 'Screen 12 applications' }).click();
  await page.getByRole('heading', { level: 1, name: 'Frontend Engineer, Offline Maps' }).waitFor();
}

/** Resolves when so many files have their result. */
export async function filesDone(page: Page, count: number): Promise<void> {
  await page
    .locator('main .file:is([data-phase="finished"], [data-phase="unreadable"])')
    .nth(count - 1)
    .waitFor();
}

/** The rows of the report as text. */
export async function reportRows(page: Page): Promise<readonly string[]> {
  await page.locator('main .status[data-status="done"]').waitFor();
  await page.locator('.report tbody tr:has-text("Sent")').first().waitFor();
  return page.locator('.report tbody tr').allInnerTexts();
}
