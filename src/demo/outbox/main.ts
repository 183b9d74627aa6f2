/** The outbox as a process: `tsx src/demo/outbox/main.ts [--port N] [--file PATH] [--no-deduplicate] [--delay-ms N] [--json]`. */
import { parseArgs } from 'node:util';
import type { Delivery } from './message.ts';
import { startOutbox } from './outbox.ts';

const USAGE = 'Usage: main.ts [--port N] [--file PATH] [--no-deduplicate] [--delay-ms N] [--json]';

function fail(message: string, exitCode: number): never {
  process.stderr.write(`${message}\n`);
  process.exit(exitCode);
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        port: { type: 'string', default: '0' },
        file: { type: 'string' },
        'no-deduplicate': { type: 'boolean', default: false },
        'delay-ms': { type: 'string', default: '0' },
        json: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`, 2);
  }
}

function wholeNumber(name: string, written: string, highest: number): number {
  if (/^\d+$/.test(written) && Number(written) <= highest) return Number(written);
  return fail(`${name} must be a whole number from 0 to ${highest}, not "${written}".\n${USAGE}`, 2);
}

const values = readArguments();

/** With `--json` one document a line for programs, else a sentence for people. */
function say(sentence: string | undefined, event: Readonly<Record<string, unknown>>): void {
  const line = values.json ? JSON.stringify(event) : sentence;
  if (line !== undefined) process.stdout.write(`${line}\n`);
}

function sayDelivered({ id, key, attempt, to }: Delivery): void {
  say(undefined, { event: 'delivered', id, key, attempt, to });
}

const running = await startOutbox({
  port: wholeNumber('--port', values.port, 65_535),
  file: values.file,
  deduplicate: !values['no-deduplicate'],
  delayMs: wholeNumber('--delay-ms', values['delay-ms'], 600_000),
  onDelivery: sayDelivered,
}).catch((error: unknown) => fail(`The outbox cannot start: ${error instanceof Error ? error.message : error}`, 1));

async function stop(): Promise<void> {
  const count = running.outbox.deliveries().length;
  await running.close();
  say(`stopped after ${count} deliveries`, { event: 'stopped', deliveries: count });
}

process.once('SIGTERM', stop);
process.once('SIGINT', stop);
say(`listening on ${running.url}`, { event: 'listening', url: running.url, port: running.port });
