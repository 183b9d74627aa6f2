import { engineErrors } from './errors.ts';

/**
 * What a worker does not load at its start. Never waited for inside a transaction, nor between an intent and its call.
 *
 * @throws `code_not_loaded` where the file cannot be had now: whatever needed it is left as it is.
 */
export async function onDemand() {
  try {
    return (await import('./on-demand.ts')).parts;
  } catch (cause) {
    throw engineErrors.make('code_not_loaded', { reason: String(cause) }, cause);
  }
}
