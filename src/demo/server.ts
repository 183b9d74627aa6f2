/** The demo's server: the built pages and the outbox, on this machine only. */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { createOutbox, type Outbox, type OutboxOptions } from './outbox/outbox.ts';

export interface DemoOptions {
  /** 0 takes a free one. */
  readonly port: number;
  /** Folder of the built demo. */
  readonly root: string;
  readonly outbox?: OutboxOptions;
  /** Origin of another outbox that the pages may use (`?outbox=`): the policy lets them connect to it. */
  readonly outboxUrl?: string;
}

export interface RunningDemo {
  readonly url: string;
  readonly outbox: Outbox;
  /** Ends open connections; resolves when the port is free. */
  close(): Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.pdf': 'application/pdf',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
};

/** @throws the system's error if the port is taken. */
export async function startDemo({ port, root, outbox: outboxOptions, outboxUrl }: DemoOptions): Promise<RunningDemo> {
  const outbox = createOutbox(outboxOptions);
  const policy = policyFor(outboxUrl);
  const server = createServer(async (request, response) => {
    if (!(await outbox.handle(request, response))) await sendFile(root, policy, request, response);
  });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
  } catch (error) {
    outbox.dispose();
    throw error;
  }
  const address = server.address();
  const listening = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://localhost:${listening}`,
    outbox,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      outbox.dispose();
    },
  };
}

/** Workers get it with their own files, so it holds for them too. */
function policyFor(outboxUrl: string | undefined): string {
  return [
    `default-src 'self'`,
    `script-src 'self'`,
    `worker-src 'self'`,
    `style-src 'self'`,
    `img-src 'self' data:`,
    `connect-src 'self' data:${outboxUrl === undefined ? '' : ` ${new URL(outboxUrl).origin}`}`,
    `object-src 'none'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
    `require-trusted-types-for 'script'`,
  ].join('; ');
}

async function sendFile(
  root: string,
  policy: string,
  { url = '/', method }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = pathIn(root, url);
  const body = path === undefined ? undefined : await readFile(path).catch(() => undefined); // answered as not found
  const headers = { 'content-security-policy': policy, 'x-content-type-options': 'nosniff' };
  if (path === undefined || body === undefined || (method !== 'GET' && method !== 'HEAD')) {
    response.writeHead(404, { ...headers, 'content-type': 'text/plain; charset=utf-8' });
    response.end('There is nothing here. The demo is at /, the outbox at /outbox.\n');
    return;
  }
  const isNamedByContent = normalize(url).includes('/assets/');
  response.writeHead(200, {
    ...headers,
    'content-type': TYPES[extname(path)] ?? 'application/octet-stream',
    'cache-control': isNamedByContent ? 'public, max-age=31536000, immutable' : 'no-cache',
  });
  response.end(method === 'HEAD' ? undefined : body);
}

/** `undefined` for a path that cannot be decoded or leads out of the folder. */
function pathIn(root: string, url: string): string | undefined {
  try {
    const path = normalize(decodeURIComponent(url.replace(/[?#].*$/, '')));
    if (path.includes('\0') || path.split(/[/\\]/).includes('..')) return undefined;
    return join(root, path.endsWith('/') ? `${path}index.html` : path);
  } catch {
    return undefined;
  }
}
