import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { buildDemo, type DemoBrowser, filesDone, openDemo, reportRows, startSamples } from './demo-browser.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let built: Awaited<ReturnType<typeof buildDemo>>;
let open: DemoBrowser;
beforeAll(async () => {
  built = await buildDemo();
});
afterAll(() => built.remove());
beforeEach(async () => {
  open = await openDemo(built.root);
});
afterEach(() => open.close());

async function fileOnDisk(name: string, content: Uint8Array): Promise<string> {
  const path = join(open.folder, name);
  await writeFile(path, content);
  return path;
}

const addresses = () =>
  open.demo.outbox
    .deliveries()
    .map(({ to }) => to)
    .sort();

test('[C3a, C3b, C3e, C9a, C9b] a screening that is reloaded, killed and closed ends as an undisturbed one, and invites each once', async () => {
  const { context, demo, faults } = open;
  const calm = await context.newPage();
  await calm.goto(`${demo.url}/?latencyMs=0&database=calm`);
  await startSamples(calm);
  await calm.getByRole('button', { name: 'Allow all for this run' }).click();
  const expected = { rows: await reportRows(calm), addresses: addresses() };
  expect(expected.addresses).toHaveLength(7);
  await calm.close();

  let page = await context.newPage();
  await page.goto(`${demo.url}/?latencyMs=100`);
  await startSamples(page);
  await filesDone(page, 2);
  await page.reload();
  await page.locator('main .line-label', { hasText: 'resumed at step' }).waitFor();
  await filesDone(page, 4);
  await page.getByRole('button', { name: 'Details' }).click();
  await page.getByRole('button', { name: 'Kill the worker' }).click();
  await page.keyboard.press('Escape');
  await page.locator('main .line-label', { hasText: /resumed at steps \d+ and \d+/ }).waitFor();
  await filesDone(page, 7);
  const address = page.url();
  await page.close();

  page = await context.newPage();
  await page.goto(address);
  await page.locator('main .line-label', { hasText: /resumed at steps \d+, \d+ and \d+/ }).waitFor();
  await page.getByRole('button', { name: 'Allow all for this run' }).click();
  expect(await reportRows(page)).toEqual(expected.rows);
  expect(addresses()).toEqual([...expected.addresses, ...expected.addresses].sort());
  expect(new Set(demo.outbox.deliveries().map(({ key }) => key)).size).toBe(14);
  expect(faults).toEqual([]);
});

test('[B9d] an approval takes the focus, Enter allows nothing, and an edited letter goes out as edited', async () => {
  const { context, demo, faults } = open;
  const page = await context.newPage();
  await page.goto(`${demo.url}/?latencyMs=0`);
  await startSamples(page);
  const card = page.getByRole('region', { name: 'Send an invitation to Amara Okafor?' });
  await card.waitFor();
  await page.waitForFunction(() => document.activeElement?.textContent === 'Send an invitation to Amara Okafor?');
  await page.keyboard.press('Enter');
  await card.getByRole('button', { name: 'Edit' }).click();
  await card.getByLabel('Subject').press('Enter');
  await card.getByLabel('Letter').fill('Come on Monday.');
  const address = await card.getByLabel('To').inputValue();
  await card.getByLabel('To').fill('amara');
  await card.getByRole('button', { name: 'Allow with these changes' }).click();
  await card.getByRole('alert').filter({ hasText: "include an '@'" }).waitFor();
  expect(await card.getByLabel('To').evaluate((field) => field === document.activeElement)).toBe(true);
  await card.getByLabel('To').fill(address);
  expect(demo.outbox.deliveries()).toEqual([]);
  const described = await page
    .getByRole('button', { name: 'Allow', exact: true })
    .evaluateAll((buttons) =>
      buttons
        .map((button) => button.getAttribute('aria-describedby'))
        .map((id) => id && document.getElementById(id)?.textContent),
    );
  expect(new Set(described).size).toBe(6);
  await card.getByRole('button', { name: 'Allow with these changes' }).click();
  await card.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Deny' }).first().click();
  await page.getByRole('heading', { name: '5 invitations wait for you' }).waitFor();
  await page.getByRole('button', { name: 'Allow all for this run' }).click();
  expect((await reportRows(page)).filter((row) => row.includes('Not sent: denied'))).toHaveLength(1);
  expect(demo.outbox.deliveries().map(({ body }) => body === 'Come on Monday.')).toContain(true);
  expect(addresses()).toHaveLength(6);
  expect(faults).toEqual([]);
});

test('[B10c] a run that is stopped while it asks asks nothing any more, and asks again when it goes on', async () => {
  const { context, demo, faults } = open;
  const page = await context.newPage();
  await page.goto(`${demo.url}/?latencyMs=0`);
  await startSamples(page);
  const cards = page.locator('.card.is-wait');
  await page.getByRole('heading', { name: '7 invitations wait for you' }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('heading', { name: 'Stopped by you' }).waitFor();
  await cards.first().waitFor({ state: 'detached' });
  expect(await page.locator('.report tbody tr:has-text("Stopped before it was settled")').count()).toBe(7);
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
  await page.getByRole('button', { name: 'Go on from there' }).click();
  await page.getByRole('heading', { name: '7 invitations wait for you' }).waitFor();
  expect(await cards.first().textContent()).toContain('Look into the outbox first whether it went out already.');
  // In one go, before the page has heard of the denial.
  await page.evaluate(() => {
    const named = (name: string) => [...document.querySelectorAll('button')].find((one) => one.textContent === name);
    named('Deny')?.click();
    named('Allow all for this run')?.click();
  });
  expect((await reportRows(page)).filter((row) => row.includes('Not sent again.'))).toHaveLength(1);
  await page.getByText('Whether the invitation went out is not known: Amara Okafor.').waitFor();
  expect(addresses()).toHaveLength(6);
  expect(faults).toEqual([]);
});

test('a file over 20 MB is refused by name and size before anything is sent, and the others are taken', async () => {
  const { context, demo, faults } = open;
  const page = await context.newPage();
  await page.goto(demo.url);
  await page
    .locator('input[type=file][multiple]')
    .setInputFiles([
      await fileOnDisk('huge.pdf', Buffer.alloc(21 * 1024 * 1024)),
      await fileOnDisk('empty.txt', Buffer.alloc(0)),
      await fileOnDisk('ann.txt', Buffer.from('Name: Ann Example\nExperience: 4 years\nSkills: bread')),
    ]);
  await page.getByText('"huge.pdf" has 21.0 MB, the limit is 20 MB.').waitFor();
  await page.getByText('Still needed: a job description.').waitFor();
  const latin1 = Buffer.from('Title: Bäcker\nRequired skills: bread', 'latin1');
  await page.locator('input[type=file]:not([multiple])').setInputFiles(await fileOnDisk('job.txt', latin1));
  await page.getByRole('button', { name: 'Screen 2 applications' }).click();
  await page.getByRole('heading', { level: 1, name: 'Bäcker' }).waitFor();
  await page.getByText('"empty.txt" is empty. Check the file').first().waitFor();
  expect(faults).toEqual([]);
});
