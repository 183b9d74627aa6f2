/** The examples of the README, extracted and run as printed in a real Chromium. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BuiltApp, bodyOf, serveBuiltApp } from '../support/built-app.ts';
import { newProfile, type OpenBrowser, type Profile } from '../support/real-browser.ts';

const top = fileURLToPath(new URL('../../', import.meta.url));

interface Letter {
  readonly to: string;
  readonly key: string;
}

/** The code blocks that begin with a file's name in a comment. */
async function filesOfReadme(): Promise<ReadonlyMap<string, string>> {
  const readme = await readFile(join(top, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/```ts\n\/\/ ([\w-]+\.ts)\n([\s\S]*?)```/g)];
  return new Map(blocks.map(([, name = '', code = '']) => [name, code]));
}

const letters: Letter[] = [];
let folder: string;
let app: BuiltApp;
let profile: Profile;
let browser: OpenBrowser;

async function takeLetter(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  if (request.url !== '/letters') return false;
  const to = await bodyOf(request);
  const key = String(request.headers['idempotency-key']);
  // As the example says of its server: it knows a letter by its key.
  if (!letters.some((letter) => letter.key === key)) letters.push({ to, key });
  response.writeHead(200).end(`letter to ${to}`);
  return true;
}

beforeAll(async () => {
  // Inside the project, so that its packages are found; not kept.
  await mkdir(join(top, 'node_modules/.cache'), { recursive: true });
  folder = await mkdtemp(join(top, 'node_modules/.cache/readme-'));
  for (const [name, code] of await filesOfReadme()) await writeFile(join(folder, name), code);
  const script = (name: string) =>
    `<!doctype html><meta charset="utf-8"><body><script type="module" src="./${name}"></script>`;
  await writeFile(join(folder, 'index.html'), script('start.ts'));
  await writeFile(
    join(folder, 'start.ts'),
    "void (location.hash === '#loop' ? import('./loop.ts') : import('./page.ts'));\n",
  );
  app = await serveBuiltApp({ root: folder, handle: takeLetter });
  profile = await newProfile();
  browser = await profile.open();
}, 90_000);

afterAll(async () => {
  await browser.close();
  await profile.remove();
  await app.close();
  await rm(folder, { recursive: true, force: true });
});

test('[C2a, C2b] the agent example has three files and about 20 lines of agent', async () => {
  const files = await filesOfReadme();
  expect([...files.keys()]).toEqual(['agent.ts', 'worker.ts', 'page.ts', 'loop.ts']);
  expect(dirname(folder)).toContain('node_modules');
});

test('[C2b, C2c, C3a] the agent example runs as printed, and a reload in the middle sends nothing twice', {
  timeout: 60_000,
}, async () => {
  const page = await browser.context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  await page.goto(app.url);
  await page.waitForFunction(() => document.body.textContent?.includes('wait'));
  await page.reload();
  await page.waitForFunction(() => document.title.includes('letters'));
  expect(await page.title()).toBe('2 letters sent');
  expect(letters.map(({ to }) => to)).toEqual(['Ada', 'Grace']);
  await page.evaluate(() => {
    document.title = '';
  });
  await page.reload();
  await page.waitForFunction(() => document.title.includes('letters'));
  expect(await page.title()).toBe('2 letters sent');
  expect(letters).toHaveLength(2);
  expect(faults).toEqual([]);
});

test('[A1d, C2b] the checkpointer example runs as printed, and a second visit goes on from the first', {
  timeout: 60_000,
}, async () => {
  const page = await browser.context.newPage();
  await page.goto(`${app.url}#loop`);
  await page.waitForFunction(() => document.title.includes('notes'));
  expect(await page.title()).toBe('5 notes, 5 checkpoints');
  await page.reload();
  await page.waitForFunction(() => document.title.includes('notes'));
  expect(await page.title()).toBe('5 notes, 5 checkpoints');
});
