import { randomId } from '../base/random.ts';
import type { Cipher, Cryptography } from '../codec/cipher.ts';
import { KeyRing } from '../codec/key-ring.ts';
import { Engine } from '../engine/engine.ts';
import type { EngineOptions, EnginePorts, Network } from '../engine/ports.ts';
import type { StateIn } from '../engine/thread-state.ts';
import type { Frame } from '../model/frame.ts';
import type { AnyAgent } from '../program/agent.ts';
import { checkWord } from '../program/option-checks.ts';
import type { Store } from '../store/store.ts';
import { MemoryData } from '../stores/memory/memory-data.ts';
import { MemoryKeyStore } from '../stores/memory/memory-key-store.ts';
import { MemoryStore } from '../stores/memory/memory-store.ts';
import { ManualClock } from './manual-clock.ts';
import { plainCryptography } from './plain-cryptography.ts';
import { seededRandom } from './seeded-random.ts';

/**
 * What outlives an engine: the store's data, the keys, the clock. Engines come and go on it. The clock stands still until a test
 * moves it, but for the waits between attempts.
 */
export class TestWorld {
  readonly clock = new ManualClock();
  readonly data = new MemoryData();
  readonly frames: Frame[] = [];
  /**
   * What becomes of the waits between attempts. `passes` (default): the clock moves on by itself to the next attempt. `waits`: it
   * stands there, too, until it is moved.
   */
  backoff: 'passes' | 'waits' = 'passes';
  /** What engines are told of the network. Default: it is there. */
  network: Network | undefined;
  readonly #keys = new MemoryKeyStore<Uint8Array>();
  readonly #random;
  readonly #cryptography: Cryptography<Uint8Array>;

  constructor({ seed = 1 }: { readonly seed?: number } = {}) {
    this.#random = seededRandom(seed);
    this.#cryptography = plainCryptography(this.#random);
  }

  get random() {
    return this.#random;
  }

  store(): Store {
    return new MemoryStore({ name: 'test', data: this.data });
  }

  async ports(store: Store = this.store()): Promise<EnginePorts> {
    const keyRing = await KeyRing.open(store, this.#keys, this.#cryptography, this.#random);
    const { clock, network } = this;
    return { store, keyRing, clock, random: this.#random, ...(network && { network }) };
  }

  /** A fresh engine on what is stored: as after a restart. */
  async engine<A extends AnyAgent>(
    options: EngineOptions & { readonly agent: A },
    store?: Store,
  ): Promise<Engine<StateIn<A>>> {
    checkWord('world.engine(options)', 'the backoff of the world', this.backoff, ['passes', 'waits']);
    const onFrame: EngineOptions['onFrame'] = (thread, frame) => {
      this.frames.push(frame);
      if (frame.type === 'retry' && this.backoff === 'passes') this.clock.passNext(frame.inMs);
      options.onFrame?.(thread, frame);
    };
    return new Engine<StateIn<A>>(await this.ports(store), { ...options, onFrame });
  }

  /** The cipher of a root key: what opens the wraps. */
  async rootCipher(name: string): Promise<Cipher> {
    const key = await this.#keys.get(name);
    if (key === undefined) throw new Error(`There is no key "${name}" yet.`);
    return this.#cryptography.rootCipher(key);
  }

  newId(): string {
    return randomId(this.#random);
  }
}
