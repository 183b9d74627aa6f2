import { connect, HoldfastError, type WorkerSource } from 'holdfast';
import type { smallAgent } from '../host/small-agent.ts';

export const start = (name: string) =>
  new Worker(new URL('./lost.worker.ts', import.meta.url), { type: 'module', name });
export const connectTo = (source: WorkerSource, options = {}) => connect<typeof smallAgent>(source, options);

/** Names of the locks by which living workers are known. */
export async function lifeLocks(): Promise<readonly string[]> {
  const { held = [] } = await navigator.locks.query();
  return held.flatMap(({ name }) => (name?.startsWith('holdfast:life:') ? name : []));
}

export async function errorOf(work: Promise<unknown>): Promise<HoldfastError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof HoldfastError)) throw new Error(`no HoldfastError: ${String(error)}`);
  return error;
}
