/** One run of the screening workflow in a real Chromium that is killed at given moments. */
import type { Page } from 'playwright';
import { newProfile, type OpenBrowser } from '../../test/support/real-browser.ts';
import { OutboxProcess } from './outbox-process.ts';
import type { StepCounter } from './step-counter.ts';

export interface RunResult {
  readonly completed: boolean;
  readonly end: string;
  readonly result: string | undefined;
  readonly fullReruns: number;
  readonly stepsRepeated: number;
  readonly steps: number;
  /** Deliveries by effect key. */
  readonly deliveries: ReadonlyMap<string, number>;
  /** From opening the page again to the first thing that happens. */
  readonly resumesMs: readonly number[];
  readonly kills: number;
}

export interface RunPlan {
  readonly appUrl: string;
  readonly counter: StepCounter;
  /** Numbers of things that happened (steps begun, deliveries) after which the browser is killed. */
  readonly killsAfter: readonly number[];
  /** Time between that moment and the kill, one for each. */
  readonly delaysMs: readonly number[];
  readonly withCheckpoints: boolean;
  /** What to end when the whole drill is ended. */
  readonly onOpen: (browser: OpenBrowser) => void;
}

const launchLimitMs = 90_000;

export async function runOnce(plan: RunPlan): Promise<RunResult> {
  const { counter } = plan;
  counter.reset();
  const outbox = await OutboxProcess.start(() => counter.happened());
  const profile = await newProfile();
  const resumesMs: number[] = [];
  let kills = 0;
  try {
    for (;;) {
      const browser = await profile.open();
      plan.onOpen(browser);
      const page = await browser.context.newPage();
      const query = `?outbox=${encodeURIComponent(outbox.url)}${plan.withCheckpoints ? '' : '&without'}`;
      const openedAtMs = performance.now();
      const before = counter.count;
      await page.goto(plan.appUrl + query);
      const end = endOf(page);
      if (kills > 0) {
        await Promise.race([counter.reached(before + 1), end]);
        resumesMs.push(performance.now() - openedAtMs);
      }
      const killAfter = plan.killsAfter[kills];
      const isDue = killAfter === undefined ? new Promise<never>(() => undefined) : counter.reached(killAfter);
      const first = await Promise.race([end, isDue.then(() => 'kill' as const)]);
      if (first !== 'kill') {
        const result = await page.evaluate(() => document.body.dataset.result).catch(() => undefined); // the page is gone
        await browser.close();
        return {
          ...counter.summary(),
          completed: first === 'done',
          end: first,
          result,
          deliveries: outbox.deliveries,
          resumesMs,
          kills,
        };
      }
      await new Promise((resolve) => setTimeout(resolve, plan.delaysMs[kills] ?? 0));
      await browser.kill();
      kills += 1;
    }
  } finally {
    await profile.remove();
    await outbox.stop();
  }
}

/** How the page says the workflow ended, or that it did not within the limit. */
async function endOf(page: Page): Promise<string> {
  try {
    const handle = await page.waitForFunction(() => document.body.dataset.end, undefined, { timeout: launchLimitMs });
    return (await handle.jsonValue()) ?? 'no end';
  } catch (error) {
    return error instanceof Error && error.name === 'TimeoutError' ? 'timed out' : 'killed';
  }
}
