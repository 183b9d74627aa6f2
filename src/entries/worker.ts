/** `holdfast/worker`: what runs an agent in a Web Worker, on IndexedDB and WebCrypto. */
import { randomId } from '../base/random.ts';
import { KeyRing } from '../codec/key-ring.ts';
import { webCryptography, webRandom } from '../codec/webcrypto-cipher.ts';
import { checkAgent, checkOptions } from '../engine/check-options.ts';
import { runCode } from '../engine/load-on-demand.ts';
import type { EngineOptions } from '../engine/ports.ts';
import { broadcastHints } from '../host/broadcast-hints.ts';
import { exposeApi } from '../host/expose.ts';
import { Host } from '../host/host.ts';
import { lazyApi } from '../host/lazy-api.ts';
import { holdLifeLock } from '../host/life-lock.ts';
import { platformClock } from '../host/platform-clock.ts';
import { onOnline, platformNetwork } from '../host/platform-network.ts';
import { webLocks } from '../host/web-locks.ts';
import type { AnyAgent } from '../program/agent.ts';
import type { LanguageModel } from '../program/model.ts';
import { protocolErrors } from '../protocol/errors.ts';
import type { HostMethods } from '../protocol/host-api.ts';
import { openIndexedDb } from '../stores/indexeddb/connection.ts';
import { IndexedDbKeyStore } from '../stores/indexeddb/indexeddb-key-store.ts';
import { IndexedDbStore } from '../stores/indexeddb/indexeddb-store.ts';

export interface ServeOptions
  extends Pick<
    EngineOptions,
    'durability' | 'tiers' | 'maxResumes' | 'namespace' | 'owner' | 'models' | 'secrets' | 'retention' | 'archive'
  > {
  readonly model?: LanguageModel;
  /** Name of the database. Default `holdfast`. */
  readonly database?: string;
  /** `auto` (default): threads that were running go on by themselves when the worker starts. */
  readonly resume?: 'auto' | 'on-request';
  /** What the page talks to. Default: the page that made this worker. */
  readonly endpoint?: MessagePort;
}

/** What runs threads is loaded so long after the start where no thread has run by then: what a page shows comes first. */
const runCodeAfterMs = 500;

/** On what is served already: also where a bundler's parts import the worker's file by another URL, and run it a second time. */
const served = Symbol.for('holdfast.served');

/**
 * Serves an agent to the page. Call it once, at the top level of your worker's file: messages that come while the store is
 * opening wait for it. What goes wrong at opening (no key, no space, a newer database) reaches the page with its first call.
 *
 * Start the worker by the URL of its file alone, without `?` or `#`: parts that it loads later import that file by that URL.
 *
 * @throws `served_twice`, `retention_invalid`, `option_invalid`
 */
export function serve(agent: AnyAgent, options: ServeOptions = {}): void {
  checkAgent(agent);
  const endpoint = (options.endpoint ?? globalThis) as MessagePort & { [served]?: true };
  if (endpoint[served]) throw protocolErrors.make('served_twice', { agent: agent.name });
  checkOptions(options, ['database', 'resume', 'endpoint']);
  endpoint[served] = true;
  exposeApi(
    lazyApi(() => openHost(agent, options)),
    endpoint,
  );
}

async function openHost(agent: AnyAgent, options: ServeOptions): Promise<HostMethods> {
  const { database = 'holdfast', resume = 'auto', endpoint: _, ...engineOptions } = options;
  const connection = await openIndexedDb(database);
  const store = new IndexedDbStore(connection);
  let host: Host | undefined;
  try {
    const keyRing = await KeyRing.open(store, new IndexedDbKeyStore<CryptoKey>(connection), webCryptography, webRandom);
    const lifeLock = `holdfast:life:${randomId(webRandom)}`;
    host = new Host({
      ports: { store, keyRing, clock: platformClock, random: webRandom, network: platformNetwork },
      options: { agent, ...engineOptions },
      locks: webLocks(navigator.locks),
      hints: broadcastHints(database),
      lifeLock,
      resume,
    });
    await host.start();
    onOnline(() => host?.kickAll());
    await holdLifeLock(navigator.locks, lifeLock);
    setTimeout(() => runCode().catch(() => undefined), runCodeAfterMs); // while there is a network; a run asks again
    return host.methods();
  } catch (error) {
    await (host ?? store).close(); // the next call opens everything anew
    throw error;
  }
}
