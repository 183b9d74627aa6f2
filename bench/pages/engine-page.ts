/** Runs the steps of both sides in one worker. */
import type { SidesTook, SidesWork } from '../sides.ts';

declare global {
  interface Window {
    measureSteps?: (work: SidesWork) => Promise<SidesTook>;
  }
}

/** Bundled by the benchmark: a worker of a real page is one file too. */
window.measureSteps = (work) =>
  new Promise((resolve, reject) => {
    const worker = new Worker('/bundled/engine-worker.js', { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<SidesTook>) => {
      worker.terminate();
      resolve(data);
    };
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage(work);
  });
