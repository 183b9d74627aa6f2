/** What IndexedDB's errors mean. Told apart by name: not all of them are `DOMException`s in every browser. */
import type { HoldfastError } from '../../base/errors.ts';
import { storeErrors } from '../../store/errors.ts';

function nameOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'name' in error ? String(error.name) : 'Error';
}

function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
}

/** The connection is of no use any more; another one may well be. WebKit says only so in the message. */
export function isConnectionLost(error: unknown): boolean {
  if (storeErrors.is(error)) return false;
  return (
    nameOf(error) === 'InvalidStateError' ||
    /connection (is|was) clos|connection to indexed database server lost/i.test(messageOf(error))
  );
}

/** An insert met a taken key. The transaction is aborted by then. */
export function isKeyTaken(error: unknown): boolean {
  return nameOf(error) === 'ConstraintError';
}

/** The backing store did not open this time; the next time it may. */
export function isUnknown(error: unknown): boolean {
  return nameOf(error) === 'UnknownError';
}

export function isVersionTooOld(error: unknown): boolean {
  return nameOf(error) === 'VersionError';
}

/** The error as the port's; one that is already the port's is handed on. */
export function storeErrorFrom(error: unknown, operation: string): HoldfastError {
  if (storeErrors.is(error)) return error;
  if (nameOf(error) === 'QuotaExceededError') return storeErrors.make('quota_exceeded', { operation }, error);
  if (isConnectionLost(error)) return storeErrors.make('store_closed', { operation }, error);
  return storeErrors.make('store_failed', { operation, reason: `${nameOf(error)}: ${messageOf(error)}` }, error);
}
