/** What the tests of the engine share: a thread on a world that outlives its engines, a scripted model, stores with hooks. */
import type { EngineThread } from '../../src/engine/engine-thread.ts';
import type { EngineOptions } from '../../src/engine/ports.ts';
import type { CheckpointInfo } from '../../src/model/checkpoint.ts';
import type { Log } from '../../src/model/fields.ts';
import type { Frame } from '../../src/model/frame.ts';
import type { StoredRecord, Table, ThreadRow } from '../../src/model/records.ts';
import type { Wait, WaitAnswer } from '../../src/model/wait.ts';
import type { LanguageModel, ModelContext, ModelPart, ModelRequest } from '../../src/program/model.ts';
import type { Store } from '../../src/store/store.ts';
import { CuttingStore, Life } from '../../src/testing/cutting-store.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { reloadingThread, reloads } from './reloading-thread.ts';

/** One thread, and as many engines after one another as a test wants. */
export class Scene {
  readonly world: TestWorld;
  readonly #options: EngineOptions;

  constructor(options: EngineOptions, world = new TestWorld()) {
    this.#options = options;
    this.world = world;
    world.backoff = 'waits'; // tests of the engine look at what happens meanwhile
  }

  get agent() {
    return this.#options.agent;
  }

  get clock() {
    return this.world.clock;
  }

  /** The thread in an engine of its own: as after a restart. */
  async open(options: Partial<EngineOptions> & { readonly store?: Store } = {}): Promise<EngineThread> {
    const { store, ...changed } = options;
    const engine = (given?: Store) => this.world.engine({ ...this.#options, ...changed }, given);
    if (reloads && !(store instanceof CuttingStore)) {
      return reloadingThread(engine, store ?? this.world.store(), 'thread');
    }
    return (await engine(store)).thread('thread');
  }

  /** Opened in a process that can be ended, or ends by itself: from then on nothing it does reaches the store. */
  async mortal(
    options: Partial<EngineOptions> = {},
    life = new Life(),
  ): Promise<{ readonly thread: EngineThread; readonly life: Life }> {
    return { life, thread: await this.open({ ...options, store: new CuttingStore(this.world.store(), life) }) };
  }

  /** Opened, and given an input. */
  async begun(update: object = {}): Promise<EngineThread> {
    const thread = await this.open();
    await thread.send(update);
    return thread;
  }

  frames<Type extends Frame['type']>(type: Type): Extract<Frame, { type: Type }>[] {
    return this.world.frames.filter((frame): frame is Extract<Frame, { type: Type }> => frame.type === type);
  }

  /** Everything that the store holds of the thread in this table, in the order of the keys. */
  async stored(table: Table): Promise<readonly StoredRecord[]> {
    const [hash] = this.world.data.threads.keys();
    return hash === undefined ? [] : this.world.data.records(table, hash).range({});
  }

  /** Takes records away, as a damaged disk does. */
  lose(table: Table, fits: (key: string) => boolean): void {
    for (const hash of this.world.data.threads.keys()) {
      const records = this.world.data.records(table, hash);
      for (const { key } of records.range({})) if (fits(key)) records.delete(key);
    }
  }

  /** Flips a bit in the body of each record that fits. */
  damage(table: Table, fits: (key: string) => boolean): void {
    for (const hash of this.world.data.threads.keys()) {
      const records = this.world.data.records(table, hash);
      for (const record of records.range({})) {
        if (!fits(record.key)) continue;
        const body = record.body.slice();
        body[body.length - 20] = (body[body.length - 20] ?? 0) ^ 1;
        records.put({ ...record, body });
      }
    }
  }

  /** Puts another record in the place of one. */
  change(table: Table, key: string, make: (record: StoredRecord) => StoredRecord): void {
    for (const hash of this.world.data.threads.keys()) {
      const records = this.world.data.records(table, hash);
      for (const record of records.range({})) if (record.key === key) records.put(make(record));
    }
  }

  changeRow(make: (row: ThreadRow) => ThreadRow): void {
    for (const [hash, row] of this.world.data.threads) this.world.data.threads.set(hash, make(row));
  }

  /** Waits until somebody sleeps between these times, and lets that time pass. Gives the time. */
  async passes(fromMs: number, toMs: number): Promise<number> {
    const durationMs = await this.clock.whenAsleep((ms) => ms >= fromMs && ms <= toMs);
    this.clock.advance(durationMs);
    return durationMs;
  }
}

/** The state with every log as a plain list. */
export async function plainState(thread: EngineThread): Promise<Readonly<Record<string, unknown>>> {
  const fields = Object.entries(await thread.state()).map(async ([name, value]) => {
    return [name, isLog(value) ? await value.slice(0) : value] as const;
  });
  return Object.fromEntries(await Promise.all(fields));
}

function isLog(value: unknown): value is Log<unknown> {
  return typeof value === 'object' && value !== null && 'tail' in value;
}

/** The one thing in a list that must hold exactly one. */
export function only<Item>(items: readonly Item[]): Item {
  const [item] = items;
  if (item === undefined || items.length !== 1) throw new Error(`There are ${items.length} of them, not one.`);
  return item;
}

export function nth<Item>(items: readonly Item[], index: number): Item {
  const item = items.at(index);
  if (item === undefined) throw new Error(`There is no item ${index} in a list of ${items.length}.`);
  return item;
}

export async function head(thread: EngineThread): Promise<CheckpointInfo> {
  return only(await thread.checkpoints({ limit: 1 }));
}

/** Answers the wait as a person does who saw it as it is. */
export function answer(thread: EngineThread, wait: Wait, given: WaitAnswer): Promise<void> {
  return thread.answer(wait.id, wait.digest, given);
}

/** An engine's network, as a test switches it. */
export class Cable {
  isPlugged = true;

  isOnline(): boolean {
    return this.isPlugged;
  }
}

/** For work that a crash cuts off: it never ends. */
export function never<Value>(): Promise<Value> {
  return new Promise<Value>(() => undefined);
}

/** Resolves when all has happened that can happen without time passing: store and cipher of a `Scene` answer at once. */
export function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

type Answers = (prompt: string, context: ModelContext) => string | Promise<string>;

/** A model that answers from a function, word by word, and counts its calls. */
export class ScriptedModel implements LanguageModel {
  readonly name: string;
  readonly calls: { readonly prompt: string; readonly effectKey: string; readonly attempt: number }[] = [];
  readonly #answers: Answers;

  constructor(answers: Answers, name = 'scripted') {
    this.#answers = answers;
    this.name = name;
  }

  async *stream(request: ModelRequest, context: ModelContext): AsyncGenerator<ModelPart, void, undefined> {
    const prompt = request.messages.map((message) => ('text' in message ? message.text : '')).join('\n');
    this.calls.push({ prompt, effectKey: context.effectKey, attempt: context.attempt });
    for (const text of (await this.#answers(prompt, context)).split(/(?<= )/)) yield { type: 'text', text };
    yield { type: 'finish', usage: { inputTokens: prompt.length, outputTokens: 3 } };
  }
}

/** The store with some of its methods replaced. */
export function withMethods(store: Store, replaced: Partial<Store>): Store {
  return {
    name: store.name,
    commit: (groups) => store.commit(groups),
    createThread: (...args) => store.createThread(...args),
    get: (...args) => store.get(...args),
    range: (...args) => store.range(...args),
    readThread: (thread) => store.readThread(thread),
    readTombstone: (thread) => store.readTombstone(thread),
    listThreads: (query) => store.listThreads(query),
    isEmpty: () => store.isEmpty(),
    takeLease: (...args) => store.takeLease(...args),
    releaseLease: (...args) => store.releaseLease(...args),
    createRecords: (...args) => store.createRecords(...args),
    deleteThread: (...args) => store.deleteThread(...args),
    deleteRecords: (...args) => store.deleteRecords(...args),
    close: () => store.close(),
    ...replaced,
  };
}
