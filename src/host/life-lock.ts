import { deferred } from '../base/deferred.ts';

/**
 * A lock that this worker holds until it is gone, however that happens: how a page notices (FIELD-NOTES 24). Resolves once
 * it is held.
 */
export function holdLifeLock(locks: LockManager, name: string): Promise<{ readonly release: () => void }> {
  const held = deferred<{ readonly release: () => void }>();
  const end = deferred<void>();
  locks
    .request(name, () => {
      held.resolve({ release: () => end.resolve() });
      return end.promise;
    })
    .catch(held.reject);
  return held.promise;
}
