/** Starts workers, one after the other, and measures from each start to its answer. */
export interface RestoreSettings {
  readonly steps: number;
  readonly rounds: number;
}

export interface RestoreFigures {
  /** Milliseconds, one for each round. */
  readonly ours: readonly number[];
  readonly bare: readonly number[];
  /** The same until the thread could be run. */
  readonly ready: readonly number[];
}

declare global {
  interface Window {
    measureRestores?: (settings: RestoreSettings) => Promise<RestoreFigures>;
  }
}

/** Bundled by the benchmark: a worker of a real page is one file too. */
const program = (name: string) => `/bundled/${name}.js`;

window.measureRestores = async ({ steps, rounds }) => {
  const database = `restore-${Math.random()}`;
  await answersOf(program('restore-worker'), `${database} ${steps}`, 2);
  await answersOf(program('bare-worker'), `${database}-bare 40960`, 1);
  const [ours, bare, ready]: [number[], number[], number[]] = [[], [], []];
  for (let round = -3; round < rounds; round += 1) {
    const [shown = 0, runs = 0] = await answersOf(program('restore-worker'), database, 2);
    const [read = 0] = await answersOf(program('bare-worker'), `${database}-bare`, 1);
    if (round < 0) continue;
    ours.push(shown);
    ready.push(runs);
    bare.push(read);
  }
  return { ours, bare, ready };
};

/** How long a worker takes from its start to each of its answers. */
function answersOf(url: string, name: string, count: number): Promise<readonly number[]> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const worker = new Worker(url, { type: 'module', name });
    const tookMs: number[] = [];
    worker.onmessage = ({ data }: MessageEvent<number>) => {
      tookMs.push(performance.now() - began);
      if (data <= 0) reject(new Error('The worker found nothing.'));
      if (tookMs.length < count) return;
      worker.terminate();
      resolve(tookMs);
    };
    worker.onerror = ({ message }) => reject(new Error(message));
  });
}
