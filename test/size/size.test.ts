import { expect, test } from 'vitest';
import { limits, measureClient, measureWorker } from '../../bench/measure-size.ts';

test('[P4a] the client is at most 6 KB gzip, Comlink included', { timeout: 20_000 }, async () => {
  const { gzipBytes, packages } = await measureClient();
  expect(gzipBytes).toBeLessThanOrEqual(limits.client);
  expect(packages).toEqual(['comlink']);
});

test('[P4b] the worker runtime is at most 45 KB gzip, its packages included', { timeout: 20_000 }, async () => {
  const { gzipBytes, packages } = await measureWorker();
  expect(gzipBytes).toBeLessThanOrEqual(limits.worker);
  expect(packages).toEqual(['msgpackr']);
});
