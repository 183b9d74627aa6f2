import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { createOutbox, type OutboxOptions, startOutbox } from '../../src/demo/outbox/outbox.ts';

const LETTER = { to: 'sam@example.org', subject: 'Invitation', body: 'Dear Sam, é' };

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function givenOutbox(options: OutboxOptions = {}) {
  const running = await startOutbox({ ...options, port: 0 });
  let isOpen = true;
  const close = async () => {
    if (isOpen) await running.close();
    isOpen = false;
  };
  cleanups.push(close);
  return { ...clientOf(running.url), outbox: running.outbox, url: running.url, close };
}

async function givenFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'outbox-'));
  cleanups.push(() => rm(folder, { recursive: true }));
  return join(folder, 'outbox.jsonl');
}

function clientOf(url: string) {
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const sent = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
    const response = await fetch(url + path, { method, headers, ...(sent === undefined ? {} : { body: sent }) });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
  };
  return {
    call,
    post: (key: string, attempt: number, body: unknown = LETTER) =>
      call('POST', '/outbox/messages', body, { 'Idempotency-Key': key, 'X-Attempt': String(attempt) }),
    closeKey: (key: string, attempt: unknown) =>
      call('POST', `/outbox/keys/${encodeURIComponent(key)}/close`, { attempt }),
    list: async () => (await call('GET', '/outbox/messages')).json,
  };
}

describe('a message', () => {
  test('is delivered, and listed with its key and attempt', async () => {
    const { post, list, outbox } = await givenOutbox({
      now: () => new Date('2027-01-02T03:04:05Z'),
      makeId: () => 'm-1',
    });

    const answer = await post('effect-1', 1);

    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({ id: 'm-1', receivedAt: '2027-01-02T03:04:05.000Z' });
    const delivery = { ...LETTER, id: 'm-1', key: 'effect-1', attempt: 1, receivedAt: '2027-01-02T03:04:05.000Z' };
    expect(await list()).toEqual([delivery]);
    expect(outbox.deliveries()).toEqual([delivery]);
  });

  test('with a known key is answered with the first delivery, and not delivered again', async () => {
    const delivered: string[] = [];
    const { post, list } = await givenOutbox({ onDelivery: ({ id }) => delivered.push(id) });

    const first = await post('effect-1', 1);
    const second = await post('effect-1', 2, { ...LETTER, subject: 'Other' });

    expect(second.status).toBe(200);
    expect(second.json).toEqual(first.json);
    expect(await list()).toHaveLength(1);
    expect(delivered).toEqual([first.json.id]);
  });

  test('with a known key is counted every time without deduplication', async () => {
    const { post, list } = await givenOutbox({ deduplicate: false });

    const answers = [await post('effect-1', 1), await post('effect-1', 1), await post('effect-1', 2)];

    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(3);
    expect(await list()).toHaveLength(3);
  });

  test('is delivered once when many with one key come at the same time', async () => {
    const { post, list } = await givenOutbox();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => post('effect-1', index)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(await list()).toHaveLength(1);
  });

  test('that its sender did not finish is not delivered', async () => {
    const { url, list } = await givenOutbox();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(
      'POST /outbox/messages HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nX-Attempt: 1\r\nContent-Length: 90\r\n\r\n{',
    );
    await once(socket, 'connect');
    socket.destroy();
    await once(socket, 'close');
    expect(await list()).toEqual([]);
  });

  test('is delivered before the delayed answer comes', async () => {
    const { url, outbox } = await givenOutbox({ delayMs: 60_000 });
    const controller = new AbortController();
    const headers = { 'Idempotency-Key': 'effect-1', 'X-Attempt': '1' };
    const answer = fetch(`${url}/outbox/messages`, {
      method: 'POST',
      headers,
      body: JSON.stringify(LETTER),
      signal: controller.signal,
    });
    await expect.poll(() => outbox.deliveries().length).toBe(1);
    controller.abort();
    await expect(answer).rejects.toThrow();
  });
});

describe('closing a key', () => {
  test('refuses older attempts and lets the next one through, with and without deduplication', async () => {
    for (const deduplicate of [true, false]) {
      const { post, closeKey, list } = await givenOutbox({ deduplicate });
      expect((await closeKey('effect-1', 2)).json).toEqual({ delivered: null });

      for (const attempt of [1, 2]) {
        expect(await post('effect-1', attempt)).toMatchObject({ status: 409, json: { error: 'attempt_closed' } });
      }
      expect(await list()).toEqual([]);
      expect((await post('effect-1', 3)).status).toBe(201);
      expect((await post('effect-2', 1)).status).toBe(201);
    }
  });

  test('says what was delivered, with its attempt', async () => {
    const { post, closeKey } = await givenOutbox({ deduplicate: false });
    const { json } = await post('a:b/c#1', 4);
    await post('a:b/c#1', 5);

    const answer = await closeKey('a:b/c#1', 5);

    expect(answer.json).toEqual({ delivered: { ...json, attempt: 4 } });
    expect((await post('a:b/c#1', 5)).status).toBe(409);
  });

  test('never opens what a later attempt had closed', async () => {
    const { post, closeKey } = await givenOutbox();
    await closeKey('effect-1', 5);
    await closeKey('effect-1', 2);
    expect((await post('effect-1', 4)).status).toBe(409);
  });

  test('against a message on its way ends in one of two truths', async () => {
    const { post, closeKey, list } = await givenOutbox({ deduplicate: false });
    for (let round = 0; round < 20; round++) {
      const key = `effect-${round}`;
      const [sent, closed] = await Promise.all([post(key, 1), closeKey(key, 1)]);
      const delivered = (await list()).some((delivery: { key: string }) => delivery.key === key);
      expect(delivered).toBe(sent.status === 201);
      expect(closed.json.delivered !== null).toBe(delivered);
    }
  });
});

describe('the list', () => {
  test('can be emptied; what went out stays known, and closed keys stay closed', async () => {
    const { call, post, closeKey, list } = await givenOutbox();
    const { json } = await post('effect-1', 1);
    await closeKey('effect-2', 1);

    expect((await call('DELETE', '/outbox/messages')).status).toBe(204);

    expect(await list()).toEqual([]);
    expect((await closeKey('effect-1', 1)).json.delivered.id).toBe(json.id);
    expect((await post('effect-2', 1)).status).toBe(409);
  });

  test('has a page that brings its own style and script and lets nothing else run', async () => {
    const { call } = await givenOutbox();
    const page = await call('GET', '/outbox?x=1');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'.*script-src 'sha256-/);
    expect(page.text).toContain('Nothing was sent yet');
  });
});

describe('a file', () => {
  test('keeps deliveries, closed keys and an emptied list over a restart', async () => {
    const file = await givenFile();
    const before = await givenOutbox({ file });
    await before.post('effect-0', 1);
    await before.call('DELETE', '/outbox/messages');
    const { json } = await before.post('effect-1', 1);
    await before.closeKey('effect-2', 3);
    const listed = await before.list();
    await before.close();

    const after = await givenOutbox({ file });

    expect(await after.list()).toEqual(listed);
    expect((await after.post('effect-1', 2)).json).toEqual(json);
    expect((await after.post('effect-2', 3)).status).toBe(409);
    expect((await after.post('effect-0', 2)).status).toBe(200);
  });

  test('whose last line was cut off loses that line only, and goes on', async () => {
    const file = await givenFile();
    const before = await givenOutbox({ file });
    await before.post('effect-1', 1);
    await before.close();
    await appendFile(file, '{"kind":"delivered","delivery":{"id":"hal');

    const after = await givenOutbox({ file });
    await after.post('effect-2', 1);

    expect((await after.list()).map(({ key }: { key: string }) => key)).toEqual(['effect-1', 'effect-2']);
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).kind)).toEqual(['delivered', 'delivered']);
  });

  test('with a damaged line in the middle is refused, and left as it is', async () => {
    const file = await givenFile();
    const damaged = 'nonsense\n{"kind":"emptied"}\n';
    await writeFile(file, damaged);
    expect(() => createOutbox({ file })).toThrow(expect.objectContaining({ code: 'file_damaged' }));
    expect(await readFile(file, 'utf8')).toBe(damaged);
  });
});

describe('bad input', () => {
  const keyed = { 'Idempotency-Key': 'k', 'X-Attempt': '1' };
  const refusals: [string, number, string, string, string, unknown, Record<string, string>][] = [
    ['no JSON', 400, 'not_json', 'POST', '/outbox/messages', '{"to":', keyed],
    ['no key', 400, 'key_missing', 'POST', '/outbox/messages', LETTER, { 'X-Attempt': '1' }],
    ['a blank key', 400, 'key_missing', 'POST', '/outbox/messages', LETTER, { 'Idempotency-Key': ' ' }],
    ['no attempt', 400, 'attempt_missing', 'POST', '/outbox/messages', LETTER, { 'Idempotency-Key': 'k' }],
    [
      'a wrong attempt',
      400,
      'attempt_missing',
      'POST',
      '/outbox/messages',
      LETTER,
      { 'Idempotency-Key': 'k', 'X-Attempt': '-1' },
    ],
    ['no receiver', 400, 'message_invalid', 'POST', '/outbox/messages', { ...LETTER, to: 'Sam' }, keyed],
    ['no body', 400, 'message_invalid', 'POST', '/outbox/messages', { to: 'a@b', subject: '' }, keyed],
    ['a list', 400, 'message_invalid', 'POST', '/outbox/messages', [LETTER], keyed],
    ['a wrong method', 405, 'method_not_allowed', 'PUT', '/outbox/messages', LETTER, {}],
    ['closing by GET', 405, 'method_not_allowed', 'GET', '/outbox/keys/k/close', undefined, {}],
    ['closing without attempt', 400, 'attempt_missing', 'POST', '/outbox/keys/k/close', {}, {}],
    ['closing half an attempt', 400, 'attempt_missing', 'POST', '/outbox/keys/k/close', { attempt: 0.5 }, {}],
    ['a broken key', 400, 'key_malformed', 'POST', '/outbox/keys/%E0%A4%A/close', { attempt: 1 }, {}],
    ['an unknown path', 404, 'not_found', 'GET', '/outbox/nothing', undefined, {}],
    ['a path outside', 404, 'not_found', 'GET', '/outboxes', undefined, {}],
  ];

  test.each(refusals)('%s is %i %s', async (_what, status, error, method, path, body, headers) => {
    const { call, list } = await givenOutbox();
    const answer = await call(method, path, body, headers);
    expect(answer).toMatchObject({ status, json: { error, message: expect.stringMatching(/\.$/) } });
    expect(await list()).toEqual([]);
  });

  test('more than 1 MB is 413 too_large', async () => {
    const { post, list } = await givenOutbox();
    const answer = await post('k', 1, { ...LETTER, body: 'x'.repeat(1024 * 1024) });
    expect(answer).toMatchObject({ status: 413, json: { error: 'too_large' } });
    expect(await list()).toEqual([]);
  });

  test('bytes that are not UTF-8 are 400 not_json', async () => {
    const { url } = await givenOutbox();
    const headers = { 'Idempotency-Key': 'k', 'X-Attempt': '1' };
    const response = await fetch(`${url}/outbox/messages`, {
      method: 'POST',
      headers,
      body: Uint8Array.of(0x22, 0xff),
    });
    expect(response.status).toBe(400);
  });
});

describe('from a page', () => {
  test('of this machine, whatever its port, calls are allowed', async () => {
    const { call, url } = await givenOutbox();
    for (const origin of ['http://localhost:5173', 'http://127.0.0.1:8080', 'http://[::1]:4000']) {
      const preflight = await call('OPTIONS', '/outbox/messages', undefined, { Origin: origin });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get('access-control-allow-origin')).toBe(origin);
      expect(preflight.headers.get('access-control-allow-headers')).toContain('Idempotency-Key');
    }
    expect((await call('GET', '/outbox/messages', undefined, { Origin: url })).status).toBe(200);
  });

  test('of elsewhere they are not', async () => {
    const { call } = await givenOutbox();
    for (const origin of ['https://example.org', 'http://localhost.example.org', 'http://127.0.0.1.example.org']) {
      const preflight = await call('OPTIONS', '/outbox/messages', undefined, { Origin: origin });
      expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
    }
  });
});

test('inside another server it answers its own paths and leaves the others', async () => {
  const outbox = createOutbox();
  const server = createServer(async (request, response) => {
    if (!(await outbox.handle(request, response))) response.end('the other');
  });
  cleanups.push(() => new Promise((resolve) => server.close(resolve)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const { call, list } = clientOf(`http://127.0.0.1:${port}`);

  expect((await call('GET', '/')).text).toBe('the other');
  expect(await list()).toEqual([]);
});

describe('the process', () => {
  const main = fileURLToPath(new URL('../../src/demo/outbox/main.ts', import.meta.url));

  function givenProcess(...args: string[]) {
    const child = spawn(process.execPath, ['--import', 'tsx', main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    cleanups.push(() => stopped(child, 'SIGKILL'));
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    const line = (index: number) => expect.poll(() => lines[index], { timeout: 10_000 });
    return { child, lines, line };
  }

  async function stopped(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const exit = once(child, 'exit');
    child.kill(signal);
    await exit;
    return child.exitCode;
  }

  test.each(['SIGTERM', 'SIGINT'] as const)('says where it listens and ends cleanly on %s', async (signal) => {
    const { child, lines, line } = givenProcess('--port', '0');
    await line(0).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+$/);
    const { post } = clientOf((lines[0] ?? '').replace('listening on ', ''));
    await post('effect-1', 1);

    expect(await stopped(child, signal)).toBe(0);
    await line(1).toBe('stopped after 1 deliveries');
  });

  test('after a kill has every delivery that it answered for', async () => {
    const file = await givenFile();
    const first = givenProcess('--file', file, '--no-deduplicate', '--json');
    await first.line(0).toContain('"event":"listening"');
    const before = clientOf(JSON.parse(first.lines[0] ?? '').url);
    for (const attempt of [1, 1, 2]) await before.post('effect-1', attempt);
    await first.line(3).toContain('"event":"delivered"');
    await stopped(first.child, 'SIGKILL');

    const second = givenProcess('--file', file, '--no-deduplicate', '--json');
    await second.line(0).toContain('"event":"listening"');
    const after = clientOf(JSON.parse(second.lines[0] ?? '').url);

    expect(await after.list()).toHaveLength(3);
    expect((await after.closeKey('effect-1', 2)).json.delivered).toMatchObject({ attempt: 1 });
  });

  test.each([['--port', 'many'], ['--what']])('refuses %s %s and shows how it is used', async (...args) => {
    const { child } = givenProcess(...args.filter((arg) => arg !== undefined));
    const errors: string[] = [];
    child.stderr.on('data', (chunk) => errors.push(String(chunk)));
    await once(child, 'exit');
    expect(child.exitCode).toBe(2);
    expect(errors.join('')).toContain('Usage:');
  });
});
