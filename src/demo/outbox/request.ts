import type { IncomingMessage } from 'node:http';
import { faultOfMessage, isAttempt, isMessage, isRecord, type Message } from './message.ts';
import { OutboxError } from './outbox-error.ts';

/** The largest body that is read: 1 MB. */
const BODY_LIMIT_BYTES = 1024 * 1024;

/** A body is read to its end before it is refused, so that the answer arrives; one larger than this is cut off. */
const DRAIN_LIMIT_BYTES = 16 * BODY_LIMIT_BYTES;

/** The message in the body. @throws {OutboxError} `too_large`, `not_json`, `message_invalid`. */
export async function readMessage(request: IncomingMessage): Promise<Message> {
  const value = await readJson(request);
  if (isMessage(value)) return value;
  throw new OutboxError(400, 'message_invalid', `The body is not a message. ${faultOfMessage(value)}`);
}

/** The attempt in the body. @throws {OutboxError} `too_large`, `not_json`, `attempt_missing`. */
export async function readAttempt(request: IncomingMessage): Promise<number> {
  const value = await readJson(request);
  if (isRecord(value) && isAttempt(value.attempt)) return value.attempt;
  const message = 'The body must be an object with "attempt", the number of the last attempt to close.';
  throw new OutboxError(400, 'attempt_missing', message);
}

/** @throws {OutboxError} `key_missing`. */
export function keyOf(request: IncomingMessage): string {
  const key = request.headers['idempotency-key'];
  if (typeof key === 'string' && key.trim() !== '') return key.trim();
  throw new OutboxError(400, 'key_missing', 'The header Idempotency-Key is missing. Send the effect key in it.');
}

/** @throws {OutboxError} `attempt_missing`. */
export function attemptOf(request: IncomingMessage): number {
  const attempt = request.headers['x-attempt'];
  if (typeof attempt === 'string' && /^\d{1,9}$/.test(attempt)) return Number(attempt);
  const message = 'The header X-Attempt is missing or no whole number. Send the number of the attempt in it.';
  throw new OutboxError(400, 'attempt_missing', message);
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const text = await readBody(request);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new OutboxError(400, 'not_json', 'The body is not JSON. Send an object as JSON in UTF-8.', cause);
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    sizeBytes += bytes.length;
    if (sizeBytes <= BODY_LIMIT_BYTES) chunks.push(bytes);
    else if (sizeBytes > DRAIN_LIMIT_BYTES) request.destroy();
  }
  if (sizeBytes > BODY_LIMIT_BYTES) {
    const message = `The body has ${sizeBytes} bytes, the limit is ${BODY_LIMIT_BYTES}. Send a shorter message.`;
    throw new OutboxError(413, 'too_large', message);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw new OutboxError(400, 'not_json', 'The body is not valid UTF-8. Send JSON in UTF-8.', cause);
  }
}
