import { type Deferred, deferred } from '../../base/deferred.ts';
import type { CommitGroup, Durability, GroupResult } from '../../model/commit.ts';
import { storeErrors } from '../../store/errors.ts';

interface Call {
  readonly groups: readonly CommitGroup[];
  readonly results: Deferred<readonly GroupResult[]>;
}

/** Applies the groups in one transaction, all or none of which fail together. */
export type ApplyTogether = (groups: readonly CommitGroup[], durability: Durability) => Promise<readonly GroupResult[]>;

/**
 * Lets commits that come together share one transaction: those of one turn, and those that come while one is under way.
 * A strict transaction costs a flush, and the browser does not merge flushes.
 *
 * Where the shared transaction fails, each group is tried alone, so that no group fails because of a neighbour. The strictest
 * durability in a batch wins (PROTOCOL 2).
 */
export class CommitQueue {
  readonly #apply: ApplyTogether;
  #waiting: Call[] = [];
  #draining: Promise<void> | undefined;

  constructor(apply: ApplyTogether) {
    this.#apply = apply;
  }

  add(groups: readonly CommitGroup[]): Promise<readonly GroupResult[]> {
    if (groups.length === 0) return Promise.resolve([]);
    const call: Call = { groups, results: deferred() };
    this.#waiting.push(call);
    this.#draining ??= this.#drain();
    return call.results.promise;
  }

  /** Resolves when nothing is waiting or under way. */
  async idle(): Promise<void> {
    await this.#draining;
  }

  async #drain(): Promise<void> {
    await undefined; // the rest of this turn's commits come along
    while (this.#waiting.length > 0) {
      const calls = this.#waiting;
      this.#waiting = [];
      await this.#carryOut(calls);
    }
    this.#draining = undefined;
  }

  async #carryOut(calls: readonly Call[]): Promise<void> {
    const groups = calls.flatMap((call) => call.groups);
    try {
      const results = await this.#apply(groups, strictest(groups));
      let given = 0;
      for (const call of calls) {
        call.results.resolve(results.slice(given, given + call.groups.length));
        given += call.groups.length;
      }
    } catch (error) {
      const mayWorkAlone = storeErrors.is(error, 'quota_exceeded') || storeErrors.is(error, 'store_failed');
      for (const call of calls) {
        if (groups.length > 1 && mayWorkAlone) await this.#oneByOne(call);
        else call.results.reject(error);
      }
    }
  }

  /** All groups of the call are tried, also after one has failed: they do not affect each other. */
  async #oneByOne({ groups, results }: Call): Promise<void> {
    const done: GroupResult[] = [];
    const failures: unknown[] = [];
    for (const group of groups) {
      try {
        done.push(...(await this.#apply([group], strictest(groups))));
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length === 0) results.resolve(done);
    else results.reject(failures[0]);
  }
}

function strictest(groups: readonly CommitGroup[]): Durability {
  return groups.some((group) => group.durability === 'strict') ? 'strict' : 'relaxed';
}
