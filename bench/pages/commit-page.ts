/** Starts the benchmark in a worker, where the library commits too, and hands the figures over. */
import type { CommitFigures, CommitSettings } from './commit-worker.ts';

declare global {
  interface Window {
    measureCommits?: (settings: CommitSettings) => Promise<CommitFigures>;
  }
}

window.measureCommits = (settings) =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./commit-worker.ts', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<CommitFigures>) => {
      resolve(data);
      worker.terminate();
    };
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage(settings);
  });
