/** What a worker does not load at its start. Never waited for inside a transaction, nor between an intent and its call. */
import { engineErrors } from './errors.ts';

/** What running a thread takes. @throws `code_not_loaded` where the file cannot be had now: the thread is left as it is. */
export function runCode() {
  return loaded(() => import('./run.ts'));
}

/** What is rarely needed. @throws `code_not_loaded` where the file cannot be had now: whatever needed it is left as it is. */
export async function onDemand() {
  return (await loaded(() => import('./on-demand.ts'))).parts;
}

async function loaded<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    throw engineErrors.make('code_not_loaded', { reason: String(cause) }, cause);
  }
}
