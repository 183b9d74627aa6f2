import type { Locks } from './ports.ts';

/** Web Locks: the browser gives a lock back when its worker is gone, however that happened. */
export function webLocks(locks: LockManager): Locks {
  return { hold: (name, signal, work) => locks.request(name, { signal }, work) as Promise<never> };
}
