import { type Endpoint, expose } from 'comlink';
import type { HostApi } from '../protocol/host-api.ts';

/**
 * Serves the API on an endpoint. Comlink walks any property a message names, `constructor` included, and calls what it
 * finds: the facade, its functions and their `apply` have no prototype and are frozen, so there is nothing else to find.
 */
export function exposeApi(api: HostApi, endpoint: Endpoint): void {
  const facade: Record<string, unknown> = Object.create(null);
  for (const [name, method] of Object.entries(api)) facade[name] = bare(method);
  // A worker's own page and a message port have the empty origin; messages from elsewhere have another.
  expose(Object.freeze(facade), endpoint, ['']);
}

function bare(method: (...args: never[]) => unknown): unknown {
  const call = (...args: never[]) => method(...args);
  const apply = (_self: unknown, args: never[]) => method(...args);
  Object.setPrototypeOf(apply, null);
  Object.setPrototypeOf(call, null);
  Object.defineProperty(call, 'apply', { value: Object.freeze(apply) });
  return Object.freeze(call);
}
