/** Resolves once the signal is aborted; at once if it is. */
export function whenAborted(signal: AbortSignal): Promise<'aborted'> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve('aborted'), { once: true });
    if (signal.aborted) resolve('aborted');
  });
}
