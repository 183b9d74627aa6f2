/** Resolves once the signal is aborted; at once if it is. */
export function whenAborted(signal: AbortSignal): Promise<'aborted'> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve('aborted'), { once: true });
    if (signal.aborted) resolve('aborted');
  });
}

/** Rejects with its reason once the signal is aborted; never resolves. */
export async function rejectsWhenAborted(signal: AbortSignal): Promise<never> {
  await whenAborted(signal);
  throw signal.reason;
}
