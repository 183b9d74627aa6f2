import { build } from 'vite';
import { startDemo } from '../../src/demo/server.ts';
import { readArguments } from './command.ts';
import { top } from './run-child.ts';

const options = readArguments(
  `npm start [-- --port 4173]

Builds the demo and serves it, together with the outbox that its invitations go to.`,
  { port: { type: 'string', default: '4173' } },
);

const port = Number(options.port);
if (!Number.isInteger(port) || port < 1 || port > 65_535) {
  console.error(`--port is "${options.port}", and a port is a whole number from 1 to 65535.`);
  process.exit(2);
}

const outDir = `${top}dist-demo`;
await build({ root: top, build: { outDir, emptyOutDir: true }, logLevel: 'warn' });
const demo = await startDemo({ port, root: outDir }).catch((error: NodeJS.ErrnoException) => {
  const next = error.code === 'EADDRINUSE' ? ' Something else listens there: choose another with -- --port.' : '';
  console.error(`The demo cannot be served on port ${port}: ${error.message}.${next}`);
  process.exit(1);
});
console.log(`Demo:   ${demo.url}\nOutbox: ${demo.url}/outbox\nCtrl-C ends it.`);
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => void demo.close().then(() => process.exit(0)));
