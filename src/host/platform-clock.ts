import type { Clock } from '../base/clock.ts';

/** The longest time a timer takes; longer waits are made of several. */
const maxTimerMs = 2 ** 31 - 1;

/** The machine's clock and timers. */
export const platformClock: Clock = {
  nowMs: () => Date.now(),
  steadyMs: () => performance.now(),
  sleep,
};

async function sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  for (let leftMs = durationMs; leftMs > 0; leftMs -= maxTimerMs) await oneTimer(Math.min(leftMs, maxTimerMs), signal);
}

function oneTimer(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, durationMs);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
