import { type Figure, quantile } from './figures.ts';
import { inChromium } from './in-chromium.ts';

/** P1: at most 1.3; 2.0 is the first milestone. */
const limit = 2.0;

const defaults = { rounds: 400, warmUp: 60 };

/** A sealed boundary commit beside a bare IndexedDB transaction with as many bytes and records. */
export async function benchCommit({ rounds, warmUp } = defaults): Promise<Figure> {
  const settings = { rounds, warmUp, changeBytes: 4_000, durability: 'strict' } as const;
  const { ours, bare, recordBytes } = await inChromium('commit.html', async (page) => {
    await page.waitForFunction(() => window.measureCommits !== undefined);
    return page.evaluate((given) => {
      if (window.measureCommits === undefined) throw new Error('The page is not ready.');
      return window.measureCommits(given);
    }, settings);
  });
  const [oursMs, bareMs] = [quantile(ours, 0.5), quantile(bare, 0.5)];
  const ratio = oursMs / bareMs;
  return {
    title: 'boundary commit, 4 KB of change, strict (median)',
    ours: oursMs,
    peers: { 'bare transaction': bareMs },
    unit: 'ms',
    ratio,
    limit,
    ratioToLimit: ratio / limit,
    more: { oursP95: quantile(ours, 0.95), bareP95: quantile(bare, 0.95), rounds, recordBytes },
  };
}
