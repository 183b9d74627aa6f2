import { build, preview } from 'vite';
import { readArguments } from './command.ts';
import { top } from './run-child.ts';

const options = readArguments(
  `npm start [-- --port 4173]

Builds the demo and serves it.`,
  { port: { type: 'string', default: '4173' } },
);

const port = Number(options.port);
if (!Number.isInteger(port) || port < 1 || port > 65_535) {
  console.error(`--port is "${options.port}", and a port is a whole number from 1 to 65535.`);
  process.exit(2);
}

const outDir = 'dist/demo';
await build({ root: top, build: { outDir, emptyOutDir: true }, logLevel: 'warn' });
const server = await preview({ root: top, build: { outDir }, preview: { port, strictPort: true } });
server.printUrls();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => void server.close().then(() => process.exit(0)));
