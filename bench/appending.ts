/** What the benchmarks of long threads run: steps that each append a message of 1 KB, sealed by WebCrypto, on a memory store. */
import { KeyRing } from '../src/codec/key-ring.ts';
import { webCryptography, webRandom } from '../src/codec/webcrypto-cipher.ts';
import { Engine } from '../src/engine/engine.ts';
import type { EngineThread } from '../src/engine/engine-thread.ts';
import { platformClock } from '../src/host/platform-clock.ts';
import { log, value } from '../src/model/fields.ts';
import type { ThreadHash } from '../src/model/ids.ts';
import { tables } from '../src/model/records.ts';
import type { Schema } from '../src/model/schema.ts';
import { defineAgent } from '../src/program/agent.ts';
import { MemoryData } from '../src/stores/memory/memory-data.ts';
import { MemoryKeyStore } from '../src/stores/memory/memory-key-store.ts';
import { MemoryStore } from '../src/stores/memory/memory-store.ts';

export const messageBytes = 1_024;

/** Of 64 no two are alike, and nothing here compresses. Made once, so that making them is part of few steps, and of no start. */
const messages: string[] = [];
let given = 0;

/** Text of no pattern, as many bytes as characters. */
export function message(): string {
  given += 1;
  const index = given % 64;
  messages[index] ??= String.fromCharCode(...webRandom.bytes(messageBytes).map((byte) => 32 + (byte % 95)));
  return messages[index];
}

export interface AppendingOptions {
  readonly steps: number;
  /** A field of so many bytes that no step touches. */
  readonly untouchedBytes?: number;
  /** Hears when each step begins. */
  readonly onStep?: (step: number) => void;
}

/** A database on which one engine after another can be opened. */
export class Appending {
  readonly store: MemoryStore;
  readonly #keys = new MemoryKeyStore<CryptoKey>();

  constructor(store = new MemoryStore({ data: new MemoryData() })) {
    this.store = store;
  }

  /** The thread in an engine of its own, as after a restart. */
  async open({ steps, onStep }: AppendingOptions, id = 'thread'): Promise<EngineThread> {
    const keyRing = await KeyRing.open(this.store, this.#keys, webCryptography, webRandom);
    const ports = { store: this.store, keyRing, clock: platformClock, random: webRandom };
    return new Engine(ports, { agent: appendingAgent(steps, onStep) }).thread(id);
  }

  /** Runs all steps of a new thread. */
  async run(options: AppendingOptions, id = 'thread'): Promise<EngineThread> {
    const thread = await this.open(options, id);
    const { untouchedBytes = 0 } = options;
    await thread.send(untouchedBytes === 0 ? {} : { untouched: bytes(untouchedBytes) });
    const { end } = await thread.run();
    if (end !== 'done') throw new Error(`The run ended as ${end}.`);
    return thread;
  }

  /** Bytes that the store keeps of all threads: bodies, keys, plain fields, ids of commits, rows. */
  storedBytes(): number {
    return [...this.store.data.threads.keys()].reduce((sum, hash) => sum + this.#bytesOf(hash), 0);
  }

  #bytesOf(hash: ThreadHash): number {
    const row = this.store.data.threads.get(hash);
    const { control, ...plain } = row ?? { control: new Uint8Array(0) };
    const records = tables.flatMap((table) => this.store.data.records(table, hash).range({}));
    return records.reduce(
      (sum, { key, commit, plain: fields, body }) =>
        sum + key.length + commit.length + JSON.stringify(fields).length + body.length,
      control.length + JSON.stringify(plain).length,
    );
  }
}

function bytes(length: number): Uint8Array {
  const made = new Uint8Array(length);
  for (let at = 0; at < length; at += 0x1_0000) made.set(webRandom.bytes(Math.min(0x1_0000, length - at)), at);
  return made;
}

/** By hand, so that what is measured is the runtime and not a validator. */
const text = schema((given): given is string => typeof given === 'string');
const byteArray = schema((given): given is Uint8Array => given instanceof Uint8Array);

function schema<Value>(is: (given: unknown) => given is Value): Schema<unknown, Value> {
  const validate = (given: unknown) =>
    is(given) ? { value: given } : { issues: [{ message: 'it is of another type' }] };
  return { '~standard': { version: 1, vendor: 'bench', validate } };
}

export function appendingAgent(steps: number, onStep: (step: number) => void = () => undefined) {
  return defineAgent({
    name: 'appending',
    version: 1,
    maxSteps: 1_000_000,
    state: { messages: log(text), untouched: value(byteArray, new Uint8Array(0)) },
    start: 'append',
    nodes: {
      append: ({ messages }, { goto, end }) => {
        onStep(messages.length);
        const update = { messages: [message()] };
        return messages.length + 1 < steps ? goto('append', update) : end(update);
      },
    },
  });
}
