import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Ledger } from './ledger.ts';
import type { Delivery } from './message.ts';
import { OutboxError } from './outbox-error.ts';
import { OUTBOX_PAGE, OUTBOX_PAGE_POLICY } from './outbox-page.ts';
import { attemptOf, keyOf, readAttempt, readMessage } from './request.ts';

export interface OutboxOptions {
  /** Append-only JSON Lines, flushed before each answer. Without it the outbox forgets with the process. */
  readonly file?: string | undefined;
  /** Whether a second message with a known key is answered with the first. Default true. */
  readonly deduplicate?: boolean | undefined;
  /** How long each answer waits after its deed is done: widens the time in which a sender can crash in doubt. */
  readonly delayMs?: number | undefined;
  /** Called for each message that really goes out. */
  readonly onDelivery?: ((delivery: Delivery) => void) | undefined;
  readonly now?: (() => Date) | undefined;
  readonly makeId?: (() => string) | undefined;
}

/** Stands for a mail provider: delivers messages, knows effect keys, and can close a key against older attempts. */
export interface Outbox {
  /** Answers a request below `/outbox`; `false`, and nothing done, if the path is another. Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  /** What went out, oldest first. */
  deliveries(): readonly Delivery[];
  /** Lets go of the file. */
  dispose(): void;
}

export interface RunningOutbox {
  readonly url: string;
  readonly port: number;
  readonly outbox: Outbox;
  /** Ends open connections; resolves when the port is free. */
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly html?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type Act = (request: IncomingMessage, key: string) => Answer | Promise<Answer>;

const LOCAL_ORIGIN = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;

/** @throws {OutboxError} `file_damaged`; or the system's error if the file cannot be opened. */
export function createOutbox(options: OutboxOptions = {}): Outbox {
  const { file, deduplicate = true, delayMs = 0, onDelivery, now = () => new Date(), makeId = randomUUID } = options;
  const ledger = new Ledger({ file, deduplicate, now, makeId });
  const routes = routesOf(ledger, onDelivery);
  return {
    async handle(request, response) {
      const path = (request.url ?? '').replace(/[?#].*$/, '');
      if (path !== '/outbox' && !path.startsWith('/outbox/')) return false;
      const answer = await answerTo(routes, request, path);
      if (delayMs > 0) await delay(delayMs, undefined, { ref: false });
      send(response, answer, request.headers.origin);
      return true;
    },
    deliveries: () => ledger.deliveries(),
    dispose: () => ledger.dispose(),
  };
}

/** Listens on 127.0.0.1; port 0 takes a free one. */
export async function startOutbox(options: OutboxOptions & { readonly port: number }): Promise<RunningOutbox> {
  const outbox = createOutbox(options);
  const server = createServer(async (request, response) => {
    if (await outbox.handle(request, response)) return;
    send(response, errorAnswer(notFound(request.url ?? '')), request.headers.origin);
  });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port, '127.0.0.1', resolve);
    });
  } catch (error) {
    outbox.dispose();
    throw error;
  }
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  const close = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
    outbox.dispose();
  };
  return { url: `http://127.0.0.1:${port}`, port, outbox, close };
}

/** Path pattern, then method, then what to do. The pattern's group is the effect key. */
function routesOf(
  ledger: Ledger,
  onDelivery: OutboxOptions['onDelivery'],
): [RegExp, Readonly<Partial<Record<string, Act>>>][] {
  const post: Act = async (request) => {
    const key = keyOf(request);
    const attempt = attemptOf(request);
    const message = await readMessage(request);
    const { delivery, isNew } = ledger.deliver(message, key, attempt);
    if (isNew) onDelivery?.(delivery);
    return { status: isNew ? 201 : 200, body: receiptOf(delivery) };
  };
  const close: Act = async (request, key) => {
    const delivery = ledger.closeKey(key, await readAttempt(request));
    return { status: 200, body: { delivered: delivery && { ...receiptOf(delivery), attempt: delivery.attempt } } };
  };
  const empty: Act = () => {
    ledger.empty();
    return { status: 204 };
  };
  const page = { 'content-security-policy': OUTBOX_PAGE_POLICY };
  return [
    [/^\/outbox\/?$/, { GET: () => ({ status: 200, html: OUTBOX_PAGE, headers: page }) }],
    [/^\/outbox\/messages$/, { GET: () => ({ status: 200, body: ledger.deliveries() }), POST: post, DELETE: empty }],
    [/^\/outbox\/keys\/([^/]+)\/close$/, { POST: close }],
  ];
}

async function answerTo(routes: ReturnType<typeof routesOf>, request: IncomingMessage, path: string): Promise<Answer> {
  try {
    for (const [pattern, acts] of routes) {
      const found = pattern.exec(path);
      if (!found) continue;
      const method = request.method ?? 'GET';
      if (method === 'OPTIONS') return { status: 204 };
      const act = acts[method === 'HEAD' ? 'GET' : method];
      if (act === undefined) return wrongMethod(method, path, Object.keys(acts).join(', '));
      return await act(request, keyInPath(found[1] ?? ''));
    }
    throw notFound(path);
  } catch (error) {
    return errorAnswer(error);
  }
}

function receiptOf({ id, receivedAt }: Delivery): { readonly id: string; readonly receivedAt: string } {
  return { id, receivedAt };
}

function keyInPath(written: string): string {
  try {
    return decodeURIComponent(written);
  } catch (cause) {
    throw new OutboxError(400, 'key_malformed', 'The key in the path is not URL-encoded as it should be.', cause);
  }
}

function notFound(path: string): OutboxError {
  return new OutboxError(404, 'not_found', `There is nothing at ${path}. The outbox is at /outbox.`);
}

function wrongMethod(method: string, path: string, allowed: string): Answer {
  const error = new OutboxError(405, 'method_not_allowed', `${path} does not know ${method}. Use ${allowed}.`);
  return { ...errorAnswer(error), headers: { allow: allowed } };
}

function errorAnswer(error: unknown): Answer {
  if (error instanceof OutboxError)
    return { status: error.status, body: { error: error.code, message: error.message } };
  const reason = error instanceof Error ? error.message : String(error);
  return { status: 500, body: { error: 'outbox_failed', message: `The outbox could not keep this: ${reason}` } };
}

function send(response: ServerResponse, answer: Answer, origin: string | undefined): void {
  const { status, body, html, headers = {} } = answer;
  response.writeHead(status, {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...crossOrigin(origin),
    ...headers,
    ...(html !== undefined && { 'content-type': 'text/html; charset=utf-8' }),
    ...(body !== undefined && { 'content-type': 'application/json; charset=utf-8' }),
  });
  response.end(html ?? (body === undefined ? undefined : JSON.stringify(body)));
}

/** Pages of this machine may call from any port; others get no leave. */
function crossOrigin(origin: string | undefined): Readonly<Record<string, string>> {
  if (origin === undefined || !LOCAL_ORIGIN.test(origin)) return { vary: 'Origin' };
  return {
    vary: 'Origin',
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'GET, POST, DELETE',
    'access-control-allow-headers': 'Content-Type, Idempotency-Key, X-Attempt',
    'access-control-max-age': '600',
  };
}
