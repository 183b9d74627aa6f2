import type { Page } from 'playwright';
import { bundled } from './bundled.ts';
import { type Figure, figure, median } from './figures.ts';
import { inChromium } from './in-chromium.ts';
import { runSides, type SidesTook, type SidesWork } from './sides.ts';

/** P5: at least 20 times as many steps. */
const limit = 1 / 20;

/** P5, where the product is at home: both sides in one worker of Chromium. The same in Node is told beside it. */
export async function benchEngine({ steps, rounds } = { steps: 1_000, rounds: 3 }): Promise<Figure> {
  const inWorker = await inBrowser({ steps, rounds });
  const inNode = await runSides({ steps, rounds: Math.min(rounds, 2) });
  const [oursMs, theirMs] = [median(inWorker.ours) / steps, median(inWorker.theirs) / steps];
  return figure(
    `a step of 1 KB, ${steps} of them, in a worker of Chromium (median)`,
    'ms',
    oursMs,
    ['LangGraph.js, MemorySaver', theirMs],
    limit,
    {
      stepsPerSecond: 1_000 / oursMs,
      langGraphStepsPerSecond: 1_000 / theirMs,
      times: theirMs / oursMs,
      timesInNode: median(inNode.theirs) / median(inNode.ours),
    },
  );
}

function inBrowser(work: SidesWork): Promise<SidesTook> {
  const measure = async (page: Page) => {
    await page.waitForFunction(() => window.measureSteps !== undefined);
    return page.evaluate((given) => {
      if (window.measureSteps === undefined) throw new Error('The page is not ready.');
      return window.measureSteps(given);
    }, work);
  };
  return bundled(['engine-worker']).then((plugin) => inChromium('engine.html', measure, [plugin]));
}
