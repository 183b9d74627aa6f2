import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf } from '../support/built-app.ts';

interface Delivery {
  readonly key: string;
  readonly attempt: number;
  readonly body: string;
}

/** Counts what is done outside, by effect key; removes no duplicate, but refuses attempts that were closed. */
export class OutsideWorld {
  readonly deliveries: Delivery[] = [];
  readonly #closed = new Map<string, number>();

  readonly handle = async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const path = new URL(request.url ?? '/', 'http://world').pathname;
    const attempt = Number(request.headers['x-attempt']);
    const body = await bodyOf(request);
    if (path === '/effects') return this.#deliver(String(request.headers['idempotency-key']), attempt, body, response);
    const [, key] = /^\/effects\/([^/]+)\/close$/.exec(path) ?? [];
    if (key === undefined) return false;
    this.#closed.set(key, Math.max(attempt, this.#closed.get(key) ?? 0));
    const index = this.deliveries.findIndex((delivery) => delivery.key === key);
    return json(response, 200, { delivered: index < 0 ? null : { id: `id-${index}` } });
  };

  /** Effect keys that were delivered more than once. */
  get repeated(): readonly string[] {
    const keys = this.deliveries.map(({ key }) => key);
    return [...new Set(keys.filter((key, index) => keys.indexOf(key) !== index))];
  }

  #deliver(key: string, attempt: number, body: string, response: ServerResponse): boolean {
    if (attempt <= (this.#closed.get(key) ?? 0)) return json(response, 409, { error: 'closed' });
    this.deliveries.push({ key, attempt, body });
    return json(response, 201, { id: `id-${this.deliveries.length - 1}` });
  }
}

function json(response: ServerResponse, status: number, value: unknown): true {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  return true;
}
