import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

export interface BuiltApp {
  readonly url: string;
  close(): Promise<void>;
}

export interface BuiltAppOptions {
  /** Folder with an `index.html`. */
  readonly root: string;
  /** Answers what is no file of the app; `false` if it does not know it either. */
  readonly handle?: (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;
  readonly port?: number;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

const entry = (name: string): string => fileURLToPath(new URL(`../../src/entries/${name}.ts`, import.meta.url));

/** Builds an app as a user would, with the library by its public names, and serves it on loopback. */
export async function serveBuiltApp({ root, handle, port = 0 }: BuiltAppOptions): Promise<BuiltApp> {
  const outDir = await mkdtemp(join(tmpdir(), 'holdfast-app-'));
  await build({
    configFile: false,
    root,
    logLevel: 'error',
    worker: { format: 'es' },
    build: { outDir, emptyOutDir: true, target: 'es2022', assetsInlineLimit: 0 },
    resolve: {
      alias: [
        { find: /^holdfast$/, replacement: entry('holdfast') },
        { find: /^holdfast\/(worker|models|checkpointer|testing)$/, replacement: entry('$1') },
      ],
    },
  });
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = new URL(request.url ?? '/', 'http://app').pathname;
    const file = await readFile(join(outDir, normalize(path === '/' ? '/index.html' : path))).catch(() => undefined);
    if (request.method === 'GET' && file !== undefined) {
      response
        .writeHead(200, { 'content-type': types[extname(path === '/' ? '.html' : path)] ?? 'text/html' })
        .end(file);
      return;
    }
    if ((await handle?.(request, response)) !== true) response.writeHead(404).end();
  };
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://127.0.0.1:${bound}/`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(outDir, { recursive: true, force: true });
    },
  };
}

/** The whole body of a request as text. */
export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
