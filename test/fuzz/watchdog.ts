import { Worker } from 'node:worker_threads';

/** A run that takes longer is taken for one that does not end. */
const limitMs = 20_000;

const program = `
const { workerData } = require('node:worker_threads');
const { writeSync } = require('node:fs');
const { cell, limitMs, name, pid } = workerData;
const view = new Int32Array(cell);
for (let before = -1; ;) {
  const now = Atomics.load(view, 0);
  if (now === before) {
    writeSync(2, 'Run ' + now + ' (' + name + ') has not ended within ' + limitMs + ' ms.\\n');
    process.kill(pid, 'SIGKILL');
  }
  before = now;
  if (Atomics.wait(view, 1, 0, limitMs) !== 'timed-out') break;
}`;

/** Ends the process if a run does not end, whatever it does: a loop leaves no turn for a timer. */
export function watchdog(name: string): { readonly begin: (run: number) => void; readonly end: () => Promise<void> } {
  const cell = new SharedArrayBuffer(8);
  const view = new Int32Array(cell);
  const worker = new Worker(program, { eval: true, workerData: { cell, limitMs, name, pid: process.pid } });
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  return {
    begin: (run) => Atomics.store(view, 0, run),
    end: async () => {
      Atomics.store(view, 1, 1);
      Atomics.notify(view, 1);
      await ended;
    },
  };
}
