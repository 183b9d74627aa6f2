/**
 * A process that dies at a chosen moment. Everything it does to the world outside of itself, to its store or to a service,
 * goes through `Life.pass`, which counts; at the chosen count the process dies, before or after that operation was carried
 * out. Nothing that is asked of it later ever answers, as nothing answers to a process that is no more: throw its engine
 * away and go on with another one on the same data.
 */
import { deferred } from '../base/deferred.ts';
import type { Store } from '../store/store.ts';

export interface Cut {
  /** Number of the operation, from 1. */
  readonly at: number;
  /** `before`: it is not carried out. `after`: it is, and its answer is lost. */
  readonly side: 'before' | 'after';
}

export class Life {
  readonly #cut: Cut | undefined;
  readonly #death = deferred<'died'>();
  #operations = 0;
  #isOver = false;

  constructor(cut?: Cut) {
    this.#cut = cut;
  }

  /** Resolves when the process dies. */
  get death(): Promise<'died'> {
    return this.#death.promise;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Operations that were begun so far. */
  get operations(): number {
    return this.#operations;
  }

  end(): void {
    this.#isOver = true;
    this.#death.resolve('died');
  }

  /** Carries out one operation on the world. Never settles in a process that is dead by then. */
  async pass<Result>(carryOut: () => Promise<Result> | Result): Promise<Result> {
    if (this.#isOver) return never();
    this.#operations += 1;
    const isCut = this.#operations === this.#cut?.at;
    if (isCut && this.#cut?.side === 'before') this.end();
    if (this.#isOver) return never();
    try {
      const result = await carryOut();
      if (isCut) this.end();
      return this.#isOver ? await never<Result>() : result;
    } catch (error) {
      if (isCut) this.end();
      return this.#isOver ? never() : Promise.reject(error);
    }
  }
}

function never<Value>(): Promise<Value> {
  return new Promise<Value>(() => undefined);
}

/** The store as one life sees it: each of its operations is one of the life's. */
export class CuttingStore implements Store {
  readonly name: string;
  readonly #store: Store;
  readonly #life: Life;

  constructor(store: Store, life: Life) {
    this.name = store.name;
    this.#store = store;
    this.#life = life;
  }

  readonly commit: Store['commit'] = (...given) => this.#life.pass(() => this.#store.commit(...given));
  readonly createThread: Store['createThread'] = (...given) =>
    this.#life.pass(() => this.#store.createThread(...given));
  readonly get: Store['get'] = (...given) => this.#life.pass(() => this.#store.get(...given));
  readonly range: Store['range'] = (...given) => this.#life.pass(() => this.#store.range(...given));
  readonly readThread: Store['readThread'] = (...given) => this.#life.pass(() => this.#store.readThread(...given));
  readonly readTombstone: Store['readTombstone'] = (...given) =>
    this.#life.pass(() => this.#store.readTombstone(...given));
  readonly listThreads: Store['listThreads'] = (...given) => this.#life.pass(() => this.#store.listThreads(...given));
  readonly isEmpty: Store['isEmpty'] = () => this.#life.pass(() => this.#store.isEmpty());
  readonly takeLease: Store['takeLease'] = (...given) => this.#life.pass(() => this.#store.takeLease(...given));
  readonly releaseLease: Store['releaseLease'] = (...given) =>
    this.#life.pass(() => this.#store.releaseLease(...given));
  readonly createRecords: Store['createRecords'] = (...given) =>
    this.#life.pass(() => this.#store.createRecords(...given));
  readonly deleteThread: Store['deleteThread'] = (...given) =>
    this.#life.pass(() => this.#store.deleteThread(...given));
  readonly deleteRecords: Store['deleteRecords'] = (...given) =>
    this.#life.pass(() => this.#store.deleteRecords(...given));
  readonly close: Store['close'] = () => this.#life.pass(() => this.#store.close());
}
