/**
 * One process. All that it does to the world outside of itself passes through here, is counted, and may be cut off, refused or
 * held. Nothing that is asked of a dead process ever answers.
 */
import { type Deferred, deferred } from '../../../src/base/deferred.ts';
import type { CommitGroup } from '../../../src/model/commit.ts';

export interface Operation {
  readonly kind: 'store' | 'outside';
  readonly name: string;
  readonly groups?: readonly CommitGroup[];
}

/** What happens to an operation. Each is called at its moment; the process may be dead or frozen after it. */
export interface Interruption {
  /** Keeps the operation waiting before it is carried out, while others overtake it. */
  hold?(): Promise<void>;
  before?(): void;
  /** Right after it has left, before it arrives anywhere. */
  sent?(): void;
  after?(): void;
  /** The process gets this error; the operation is carried out all the same if `applied`. */
  readonly fails?: { readonly error: unknown; readonly applied: boolean };
}

/** Decides what happens to each operation. */
export type Meet = (life: Life, operation: Operation) => Interruption | undefined;

export class Life {
  readonly number: number;
  readonly #meet: Meet;
  readonly #death = deferred<'died'>();
  readonly #held: (() => void)[] = [];
  #thaw: Deferred<void> | undefined;
  #isOver = false;

  constructor(number: number, meet: Meet) {
    this.number = number;
    this.#meet = meet;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get isFrozen(): boolean {
    return this.#thaw !== undefined;
  }

  /** Resolves when the process dies. */
  get death(): Promise<'died'> {
    return this.#death.promise;
  }

  end(): void {
    this.#isOver = true;
    this.#thaw = undefined;
    this.#death.resolve('died');
  }

  freeze(): void {
    if (!this.#isOver) this.#thaw ??= deferred<void>();
  }

  wake(): void {
    this.#thaw?.resolve();
    this.#thaw = undefined;
    for (const run of this.#held.splice(0)) run();
  }

  whenAwake(run: () => void): void {
    if (this.#isOver) return;
    if (this.isFrozen) this.#held.push(run);
    else run();
  }

  /** Carries out one operation on the world. */
  pass<Result>(operation: Operation, carryOut: () => Promise<Result>): Promise<Result> {
    if (this.#thaw !== undefined || this.#isOver)
      return this.#alive().then(() => this.#meetAndCarryOut(operation, carryOut));
    return this.#meetAndCarryOut(operation, carryOut);
  }

  /** No wait of its own where nothing happens to the operation: this is done for every one of every world. */
  #meetAndCarryOut<Result>(operation: Operation, carryOut: () => Promise<Result>): Promise<Result> {
    const fate = this.#meet(this, operation);
    if (fate !== undefined) return this.#suffer(fate, carryOut);
    return this.#isOver ? never() : this.#answer(carryOut());
  }

  async #suffer<Result>(fate: Interruption, carryOut: () => Promise<Result>): Promise<Result> {
    fate.before?.();
    await fate.hold?.();
    await this.#alive();
    if (fate.fails?.applied === false) throw fate.fails.error;
    const answer = carryOut();
    const settled = answer.then(
      () => undefined,
      () => undefined, // whoever asked hears of it below, if it is still there
    );
    fate.sent?.();
    if (this.#isOver) return never();
    await settled;
    fate.after?.();
    await this.#alive();
    if (fate.fails !== undefined) throw fate.fails.error;
    return this.#answer(answer);
  }

  #answer<Result>(answer: Promise<Result>): Promise<Result> {
    const isAwake = () => this.#thaw === undefined && !this.#isOver;
    return answer.then(
      (result) => (isAwake() ? result : this.#alive().then(() => result)),
      (error: unknown) => {
        if (isAwake()) throw error;
        return this.#alive().then(() => Promise.reject(error));
      },
    );
  }

  /** Goes on once the process is awake; never if it is dead. */
  async #alive(): Promise<void> {
    while (this.#thaw !== undefined) await this.#thaw.promise;
    if (this.#isOver) await never();
  }
}

export function never<Value>(): Promise<Value> {
  return new Promise<Value>(() => undefined);
}
