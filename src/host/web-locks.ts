import type { Locks } from './ports.ts';

/** Web Locks: the browser gives a lock back when its worker is gone, however that happened. */
export function webLocks(locks: LockManager): Locks {
  return { hold: (name, signal, work) => locks.request(name, { signal }, work) as Promise<never> };
}

/** For a single worker where the platform has no locks: one after the other within it. The epoch still fences. */
export function localLocks(): Locks {
  const last = new Map<string, Promise<unknown>>();
  return {
    hold(name, signal, work) {
      const before = last.get(name) ?? Promise.resolve();
      const turn = before.then(() => {
        signal.throwIfAborted();
        return work();
      });
      last.set(
        name,
        turn.catch(() => undefined), // the caller hears of it through `turn`
      );
      return turn;
    },
  };
}
