import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The outbox as a process of its own: it counts every delivery by effect key and removes no duplicate. */
export class OutboxProcess {
  readonly url: string;
  /** Number of deliveries by effect key. */
  readonly deliveries: Map<string, number>;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string, deliveries: Map<string, number>) {
    this.#child = child;
    this.url = url;
    this.deliveries = deliveries;
  }

  static async start(onDelivery: () => void): Promise<OutboxProcess> {
    const main = fileURLToPath(new URL('../../src/demo/outbox/main.ts', import.meta.url));
    const arguments_ = ['--import', 'tsx', main, '--no-deduplicate', '--json', '--delay-ms', '25'];
    const child = spawn(process.execPath, arguments_, { stdio: ['ignore', 'pipe', 'inherit'] });
    const deliveries = new Map<string, number>();
    const url = await new Promise<string>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`The outbox ended with ${code}.`)));
      createInterface({ input: child.stdout }).on('line', (line) => {
        const event = JSON.parse(line) as { event: string; url?: string; key?: string };
        if (event.event === 'listening' && event.url !== undefined) resolve(event.url);
        if (event.event !== 'delivered' || event.key === undefined) return;
        deliveries.set(event.key, (deliveries.get(event.key) ?? 0) + 1);
        onDelivery();
      });
    });
    return new OutboxProcess(child, url, deliveries);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return; // a Ctrl-C reached it, too
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGTERM');
    await ended;
  }
}
