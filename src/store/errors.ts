import { errorFamily } from '../base/errors.ts';

/** What each code carries: plain data, so that an error survives `postMessage`. */
export interface StoreErrorDetails {
  quota_exceeded: { operation: string };
  store_closed: { operation: string };
  timed_out: { operation: string; afterMs: number };
  store_failed: { operation: string; reason: string };
  /** The database was written by newer code. */
  store_too_new: { name: string };
  /** Another connection keeps the database from opening. */
  store_blocked: { name: string; afterMs: number };
  /** The database opened without the tables it must have. */
  store_damaged: { name: string; missing: string };
}

export const storeErrors = errorFamily<StoreErrorDetails>({
  quota_exceeded: (d) =>
    `Cannot ${d.operation}: the disk or the site's quota is full. Nothing was written. Free space and try again.`,
  store_closed: (d) => `Cannot ${d.operation}: the store is closed. Open a new one.`,
  timed_out: (d) =>
    `The storage did not answer "${d.operation}" within ${d.afterMs} ms, and may still carry it out. The same again is safe.`,
  store_failed: (d) => `Cannot ${d.operation}: the storage failed (${d.reason}). Nothing was written. Try again.`,
  store_too_new: (d) =>
    `Database ${d.name} was written by a newer version of this app. Reload the page. Nothing was changed.`,
  store_blocked: (d) =>
    `Database ${d.name} did not open within ${d.afterMs} ms: another tab holds it. Close the app's other tabs.`,
  store_damaged: (d) =>
    `Database ${d.name} opened without its table "${d.missing}": the browser lost part of it. Nothing was deleted.`,
});
