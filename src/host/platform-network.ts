import type { Network } from '../engine/ports.ts';

/** What the browser says of the network: `false` is certain, `true` only that there may be one. */
export const platformNetwork: Network = { isOnline: () => navigator.onLine !== false };

/** Calls back each time the network comes back. */
export function onOnline(look: () => void): void {
  globalThis.addEventListener('online', look);
}
