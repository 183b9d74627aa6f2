/**
 * A thread whose engine is thrown away after each boundary it commits, and made anew on what is stored: as if the tab were
 * reloaded there. Where the project `reload` runs the suite, `Scene` hands these out, and the tests must not notice.
 */
import type { Engine } from '../../src/engine/engine.ts';
import type { EngineThread } from '../../src/engine/engine-thread.ts';
import type { RunEnd } from '../../src/engine/run-end.ts';
import type { CommitGroup, GroupResult } from '../../src/model/commit.ts';
import type { LeaseKind } from '../../src/model/records.ts';
import type { Store } from '../../src/store/store.ts';
import { CuttingStore, Life } from '../../src/testing/cutting-store.ts';

export const reloads = process.env.HOLDFAST_RELOAD === '1';

/** More than any run of the suite commits: one that goes on for ever is a fault. */
const mostReloads = 2_000;

export async function reloadingThread(
  makeEngine: (store: Store) => Promise<Engine>,
  store: Store,
  id: string,
): Promise<EngineThread> {
  let current = (await makeEngine(store)).thread(id);
  let isStopped = false;

  const run = async (lease?: LeaseKind): Promise<RunEnd> => {
    isStopped = false;
    for (let reload = 0; reload < mostReloads; reload += 1) {
      const life = new Life();
      current = (await makeEngine(mortalStore(store, life))).thread(id);
      const running = current.run(lease);
      if (isStopped) current.stop();
      const end = await Promise.race([running, life.death]);
      if (end !== 'died') {
        current = (await makeEngine(store)).thread(id);
        return end;
      }
    }
    throw new Error(`The run was reloaded ${mostReloads} times and never ended.`);
  };
  const stop = () => {
    isStopped = true;
    current.stop();
  };
  return new Proxy(current, {
    get: (_, name) => {
      if (name === 'run') return run;
      if (name === 'stop') return stop;
      const value: unknown = Reflect.get(current, name);
      return typeof value === 'function' ? value.bind(current) : value;
    },
  });
}

/**
 * The store of a process that dies once a checkpoint of its own is stored: with the first thing it asks of the store after it has
 * told its watchers.
 */
function mortalStore(store: Store, life: Life): Store {
  let isDying = false;
  const dying = new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return async (...given: unknown[]) => {
        if (isDying) life.end();
        if (life.isOver) return new Promise<never>(() => undefined);
        const results: unknown = await value.apply(target, given);
        if (name === 'commit' && isBoundary(given[0], results)) isDying = true;
        return results;
      };
    },
  });
  return new CuttingStore(dying, life);
}

function isBoundary(groups: unknown, results: unknown): boolean {
  const isApplied = (results as readonly GroupResult[]).some(({ status }) => status === 'applied');
  return isApplied && (groups as readonly CommitGroup[]).some(({ records }) => records[0]?.table === 'checkpoints');
}
