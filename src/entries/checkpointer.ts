/** `holdfast/checkpointer`: durable, sealed checkpoints for a loop of your own, on IndexedDB and WebCrypto. */
import { checkOptions } from '../checkpointer/check-options.ts';
import { Checkpointer } from '../checkpointer/checkpointer.ts';
import type { CheckpointerOptions } from '../checkpointer/options.ts';
import { KeyRing } from '../codec/key-ring.ts';
import { webCryptography, webRandom } from '../codec/webcrypto-cipher.ts';
import { platformClock } from '../host/platform-clock.ts';
import { openIndexedDb } from '../stores/indexeddb/connection.ts';
import { IndexedDbKeyStore } from '../stores/indexeddb/indexeddb-key-store.ts';
import { IndexedDbStore } from '../stores/indexeddb/indexeddb-store.ts';

export { Checkpointer } from '../checkpointer/checkpointer.ts';
export type { CheckpointerOptions, SaveOptions } from '../checkpointer/options.ts';
export { log, secret, value } from '../model/fields.ts';
export { FileRef } from '../model/file-ref.ts';
export type { CheckpointId } from '../model/ids.ts';

export interface OpenOptions<State extends object = Record<string, unknown>> extends CheckpointerOptions<State> {
  /** Name of the database. Default `holdfast`. */
  readonly database?: string;
}

/**
 * Opens a checkpointer in a page or a worker.
 *
 * @throws `key_missing`, `key_wrong`, `store_too_new`, `store_blocked`, `store_damaged`, `option_invalid`: nothing was changed.
 */
export async function openCheckpointer<State extends object = Record<string, unknown>>(
  options: OpenOptions<State> = {},
): Promise<Checkpointer<State>> {
  checkOptions(options, ['database']);
  const { database = 'holdfast', ...rest } = options;
  const connection = await openIndexedDb(database);
  const store = new IndexedDbStore(connection);
  const keyRing = await KeyRing.open(store, new IndexedDbKeyStore<CryptoKey>(connection), webCryptography, webRandom);
  return new Checkpointer<State>({ store, keyRing, clock: platformClock, random: webRandom }, rest);
}
