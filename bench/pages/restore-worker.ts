/**
 * Opens a thread from IndexedDB: says when state and waits of its head are there, and once more when it could be run. With a number
 * of steps in its name it makes the thread.
 */
import { KeyRing } from '../../src/codec/key-ring.ts';
import { webCryptography, webRandom } from '../../src/codec/webcrypto-cipher.ts';
import { Engine } from '../../src/engine/engine.ts';
import { runCode } from '../../src/engine/load-on-demand.ts';
import { platformClock } from '../../src/host/platform-clock.ts';
import { openIndexedDb } from '../../src/stores/indexeddb/connection.ts';
import { IndexedDbKeyStore } from '../../src/stores/indexeddb/indexeddb-key-store.ts';
import { IndexedDbStore } from '../../src/stores/indexeddb/indexeddb-store.ts';
import { appendingAgent } from '../appending.ts';

const [database = '', steps = '1'] = self.name.split(' ');

void answer(); // waited for at the top level, bundlers would cut the start in two files

async function answer(): Promise<void> {
  const connection = await openIndexedDb(database);
  const store = new IndexedDbStore(connection);
  const keyRing = await KeyRing.open(store, new IndexedDbKeyStore<CryptoKey>(connection), webCryptography, webRandom);
  const ports = { store, keyRing, clock: platformClock, random: webRandom };
  const thread = new Engine(ports, { agent: appendingAgent(Number(steps)), durability: 'relaxed' }).thread('thread');
  if (self.name.includes(' ')) {
    await thread.send({});
    await thread.run();
  }
  const { messages } = (await thread.state()) as { readonly messages: { readonly length: number } };
  await thread.waits();
  self.postMessage(messages.length);
  await runCode();
  self.postMessage(messages.length);
}
