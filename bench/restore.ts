import type { Page } from 'playwright';
import { Appending } from './appending.ts';
import { bundled } from './bundled.ts';
import { type Figure, figure, median, together } from './figures.ts';
import { inChromium } from './in-chromium.ts';

const limit = 1.5;
const bareLimit = 2.0;

/** P3: a fresh engine opens a long thread, and a short one; until the state of the head and its waits are there. */
export async function benchRestore(
  { long, rounds, browserRounds } = { long: 10_000, rounds: 60, browserRounds: 40 },
): Promise<Figure> {
  const database = new Appending();
  await database.run({ steps: 10 }, 'short');
  await database.run({ steps: long }, 'long');
  const [longMs, shortMs]: [number[], number[]] = [[], []];
  for (let round = -10; round < rounds; round += 1) {
    const [a, b] = [await restore(database, 'long'), await restore(database, 'short')];
    if (round < 0) continue;
    longMs.push(a);
    shortMs.push(b);
  }
  const { ours, bare, ready } = await inBrowser(long, browserRounds);
  return together({
    'a worker': figure(
      `a worker starts and restores ${long} steps (median)`,
      'ms',
      median(ours),
      ['bare: starts, opens, reads 40 KB', median(bare)],
      bareLimit,
      { browserRounds, readyToRunMs: median(ready) },
    ),
    'long and short': figure(
      `restoring ${long} steps (median)`,
      'ms',
      median(longMs),
      ['10 steps', median(shortMs)],
      limit,
      { rounds },
    ),
  });
}

async function restore(database: Appending, id: string): Promise<number> {
  const began = performance.now();
  const thread = await database.open({ steps: 1 }, id);
  const { messages } = (await thread.state()) as { readonly messages: { readonly length: number } };
  await thread.waits();
  if (messages.length === 0) throw new Error('Nothing was restored.');
  return performance.now() - began;
}

/** The same in Chromium, worker start included, beside a worker that only opens a database and reads 40 KB. */
async function inBrowser(steps: number, rounds: number) {
  const work = async (page: Page) => {
    await page.waitForFunction(() => window.measureRestores !== undefined);
    return page.evaluate(
      (given) => {
        if (window.measureRestores === undefined) throw new Error('The page is not ready.');
        return window.measureRestores(given);
      },
      { steps, rounds },
    );
  };
  return inChromium('restore.html', work, [await bundled(['restore-worker', 'bare-worker'])]);
}
