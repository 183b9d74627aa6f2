import { expect, test } from 'vitest';
import { limits, measureClient, measureWorker } from '../../bench/measure-size.ts';

test('[P4a] the client is at most 6 KB gzip, Comlink included', { timeout: 20_000 }, async () => {
  const { gzipBytes, packages } = await measureClient();
  expect(gzipBytes).toBeLessThanOrEqual(limits.client);
  expect(packages).toEqual(['comlink']);
});

// P4b asks for 45 KB, and is open (docs/decisions/0017): this keeps the start from growing unnoticed.
test('a worker starts with at most 63 KB gzip, its packages included', { timeout: 20_000 }, async () => {
  const { gzipBytes, packages } = await measureWorker();
  expect(gzipBytes).toBeLessThanOrEqual(63 * 1024);
  expect(packages).toEqual(['msgpackr']);
});

test('what a worker loads later is one file, so that an app can keep it for offline', { timeout: 20_000 }, async () => {
  expect((await measureWorker()).onDemandFiles).toHaveLength(1);
});
