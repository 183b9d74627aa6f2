import { readArguments } from '../test/support/command.ts';
import { type BundleSize, entryNames, limits, measureClient, measureEntry, measureWorker } from './measure-size.ts';

const options = readArguments(
  `npm run size [-- --json]

Bundles each entry point, minified, and compares client and worker with their limits.
  --json  prints one JSON object as the last line`,
  { json: { type: 'boolean' } },
);

const client = await measureClient();
const worker = await measureWorker();
const entries: Record<string, BundleSize> = {};
for (const name of entryNames) entries[name] = await measureEntry(name);

const faults = [
  ...overLimit('client', client, limits.client),
  ...overLimit('worker', worker, limits.worker),
  ...(worker.packages.includes('zod') ? ['worker has zod inside, which belongs to the app'] : []),
];
print('client', client, limits.client);
print('worker', worker, limits.worker);
console.log(`${'of it, at once'.padEnd(34)}${kilobytes(worker.startGzipBytes)} gzip, the rest for the first run`);
console.log(`${'on demand'.padEnd(34)}${kilobytes(worker.onDemandGzipBytes)} gzip, once a worker needs any of it`);
for (const [name, size] of Object.entries(entries)) print(`all of ${name}`, size);
for (const fault of faults) console.error(fault);
if (options.json === true) console.log(JSON.stringify({ client, worker, entries, limits, faults }));
process.exitCode = faults.length === 0 ? 0 : 1;

function overLimit(name: string, size: BundleSize, limit: number): string[] {
  return size.gzipBytes <= limit ? [] : [`${name} has ${size.gzipBytes} bytes gzip, and the limit is ${limit}`];
}

function print(name: string, size: BundleSize, limit?: number): void {
  const [min, gzip] = [kilobytes(size.minBytes), kilobytes(size.gzipBytes)];
  const share = limit === undefined ? '' : `, ${Math.round((100 * size.gzipBytes) / limit)} % of the limit`;
  console.log(`${name.padEnd(20)}${min} min${gzip} gzip${share} (${size.packages.join(', ') || 'no packages'})`);
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(2)} KB`.padStart(10);
}
