/** The same agent on the same engine, with checkpoints that are gone with the worker. */
import { randomId } from '../../src/base/random.ts';
import { KeyRing } from '../../src/codec/key-ring.ts';
import { webCryptography, webRandom } from '../../src/codec/webcrypto-cipher.ts';
import { screeningModel } from '../../src/demo/screening-model.ts';
import { noHints } from '../../src/host/broadcast-hints.ts';
import { exposeApi } from '../../src/host/expose.ts';
import { Host } from '../../src/host/host.ts';
import { lazyApi } from '../../src/host/lazy-api.ts';
import { holdLifeLock } from '../../src/host/life-lock.ts';
import { platformClock } from '../../src/host/platform-clock.ts';
import { webLocks } from '../../src/host/web-locks.ts';
import { MemoryKeyStore } from '../../src/stores/memory/memory-key-store.ts';
import { MemoryStore } from '../../src/stores/memory/memory-store.ts';
import { countedScreening } from './counted-screening.ts';

async function open() {
  const store = new MemoryStore();
  const keyRing = await KeyRing.open(store, new MemoryKeyStore<CryptoKey>(), webCryptography, webRandom);
  const lifeLock = `drill:${randomId(webRandom)}`; // a lock's name must not begin with a hyphen
  await holdLifeLock(navigator.locks, lifeLock);
  const host = new Host({
    ports: { store, keyRing, clock: platformClock, random: webRandom },
    options: { agent: countedScreening(self.name), model: screeningModel({ latencyMs: 40 }) },
    locks: webLocks(navigator.locks),
    hints: noHints,
    lifeLock,
    resume: 'auto',
  });
  return host.methods();
}

exposeApi(lazyApi(open), globalThis as unknown as MessagePort);
