/** Starts workers, one after the other, and measures from each start to its answer. */
export interface RestoreSettings {
  readonly steps: number;
  readonly rounds: number;
}

export interface RestoreFigures {
  /** Milliseconds, one for each round. */
  readonly ours: readonly number[];
  readonly bare: readonly number[];
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
  await answerOf(program('restore-worker'), `${database} ${steps}`);
  await answerOf(program('bare-worker'), `${database}-bare 40960`);
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = -3; round < rounds; round += 1) {
    const [a, b] = [
      await answerOf(program('restore-worker'), database),
      await answerOf(program('bare-worker'), `${database}-bare`),
    ];
    if (round < 0) continue;
    ours.push(a);
    bare.push(b);
  }
  return { ours, bare };
};

/** How long a worker takes from its start to its answer. */
function answerOf(url: string, name: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const worker = new Worker(url, { type: 'module', name });
    worker.onmessage = ({ data }: MessageEvent<number>) => {
      const tookMs = performance.now() - began;
      worker.terminate();
      if (data > 0) resolve(tookMs);
      else reject(new Error('The worker found nothing.'));
    };
    worker.onerror = ({ message }) => reject(new Error(message));
  });
}
