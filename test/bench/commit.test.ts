import { expect, test } from 'vitest';
import { benchCommit } from '../../bench/commit.ts';

test('[H5a] the commit benchmark measures a sealed commit and a bare transaction with as many bytes in one run', {
  timeout: 120_000,
}, async () => {
  const { ours, peers, ratio, ratioToLimit, limit, more } = await benchCommit({ rounds: 40, warmUp: 10 });
  const bare = peers['bare transaction'] ?? 0;
  expect(bare).toBeGreaterThan(0);
  expect(ratio).toBeCloseTo(ours / bare);
  expect(ratioToLimit).toBeCloseTo(ratio / limit);
  // Checkpoint, events and row; the change of 4,000 bytes is in the first.
  expect(more.recordBytes).toHaveLength(3);
  expect((more.recordBytes as number[])[0]).toBeGreaterThan(4_000);
});
