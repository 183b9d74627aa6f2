/** The benchmarks of long threads in small: what does not depend on the machine is held to its limit, times only to a generous one. */
import { expect, test } from 'vitest';
import { benchEngine } from '../../bench/engine.ts';
import { benchGrowth } from '../../bench/growth.ts';
import { runLangGraph } from '../../bench/langgraph.ts';
import { benchLong } from '../../bench/long.ts';
import { benchRestore } from '../../bench/restore.ts';

const timeout = 120_000;

test('[P2a, P2b, P2c, H5b] a thread stores less than twice what its steps add, and a late step costs what an early one does', {
  timeout,
}, async () => {
  const { parts = {} } = await benchGrowth({ short: 200, long: 1_000, withPeer: true });

  const few = parts['bytes of 200 steps'];
  expect(few?.ratio).toBeLessThan(2);
  expect(parts['bytes of 1000 steps']?.ratio).toBeLessThan(2);
  expect(few?.more.langGraphRatio).toBeGreaterThan(50);
  expect(parts['step 1000']?.ratio).toBeLessThan(3);
});

test('[P3a, P3b, H5b] restoring a long thread takes about as long as a short one, and not much longer than a bare read', {
  timeout,
}, async () => {
  const { parts = {} } = await benchRestore({ long: 300, rounds: 20, browserRounds: 6 });

  const [inNode, worker] = [parts['long and short'], parts['a worker']];
  expect(inNode?.peers['10 steps']).toBeGreaterThan(0);
  expect(inNode?.ratio).toBeLessThan(4);
  expect(worker?.ratio).toBeGreaterThan(0.5);
  expect(worker?.ratio).toBeLessThan(10);
});

test('[P5, H5b] a sealed step is cheaper than one of LangGraph.js with its MemorySaver', { timeout }, async () => {
  const { ratio, more } = await benchEngine({ steps: 300, rounds: 1 });

  expect(ratio).toBeLessThan(1);
  expect(more.times).toBeCloseTo(1 / ratio);
});

test('[P5] the peer stores each checkpoint whole', { timeout }, async () => {
  const { storedBytes } = await runLangGraph(50);

  expect(storedBytes).toBeGreaterThan((50 * 51 * 1_024) / 2);
});

test('[P8b, P8c, H5b] neither a large field that no step touches nor a long history makes a thread dearer', {
  timeout,
}, async () => {
  const { parts = {} } = await benchLong({ steps: [100, 1_000], untouchedBytes: 2_000_000, rounds: 2 });

  expect(parts['an untouched field']?.ratio).toBeLessThan(2);
  expect(parts['memory of a long thread']?.ratio).toBeLessThan(1.5);
});
