/** What a sender hands over. */
export interface Message {
  readonly to: string;
  readonly subject: string;
  readonly body: string;
}

/** One message that went out. `key` is the effect key, `attempt` the one that brought it. */
export interface Delivery extends Message {
  readonly id: string;
  readonly key: string;
  readonly attempt: number;
  /** ISO 8601, UTC. */
  readonly receivedAt: string;
}

/** What is wrong with a value that should be a message; `undefined` if it is one. */
export function faultOfMessage(value: unknown): string | undefined {
  if (!isRecord(value)) return 'It must be an object with to, subject and body.';
  if (typeof value.to !== 'string' || !/^[^\s@]+@[^\s@]+$/.test(value.to)) return '"to" must be one e-mail address.';
  if (typeof value.subject !== 'string') return '"subject" must be a text.';
  return typeof value.body === 'string' ? undefined : '"body" must be a text.';
}

export function isMessage(value: unknown): value is Message {
  return faultOfMessage(value) === undefined;
}

export function isDelivery(value: unknown): value is Delivery {
  if (!isMessage(value) || !isRecord(value)) return false;
  const { id, key, attempt, receivedAt } = value;
  return [id, key, receivedAt].every((part) => typeof part === 'string') && isAttempt(attempt);
}

/** Attempts are counted in whole numbers from 0 or 1, as the sender likes. */
export function isAttempt(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
