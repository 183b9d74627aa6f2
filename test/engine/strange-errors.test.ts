/** Anything can be thrown. Whatever it is, it fails its run and nothing else: the thread stays readable, and the next input works. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type ErrorData, errorFromData, HoldfastError } from '../../src/base/errors.ts';
import { failureOf } from '../../src/engine/failure.ts';
import { value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { head, Scene } from './support.ts';

const retry = { attempts: 1, backoffMs: [0], jitter: 0 };

const odd = (properties: object) => Object.assign(new Error('out of order'), properties);

function ownCause(): Error {
  const error = new Error('out of order');
  error.cause = error;
  return error;
}

function unreadable(): Error {
  const get = () => {
    throw new Error('nobody may look');
  };
  return new Proxy(new Error('out of order'), { get });
}

/** Fails in its node, or in a tool that its node calls. */
function failing(where: 'node' | 'tool', make: () => unknown): Scene {
  const fail = () => {
    throw make();
  };
  const bad = tool({ name: 'bad', description: 'Fails', input: z.object({}), effect: 'idempotent', retry, run: fail });
  const agent = defineAgent({
    name: 'thrower',
    version: 1,
    state: { count: value(z.number(), 0) },
    tools: { bad },
    start: 'go',
    nodes: {
      go: { retry, run: async (_state, { call, end }) => (where === 'tool' ? end(await call('bad', {})) : fail()) },
    },
  });
  return new Scene({ agent });
}

describe.each(['node', 'tool'] as const)('in a %s', (where) => {
  test.each<[string, () => unknown, string]>([
    ['whose message is no text', () => odd({ message: 42 }), '42'],
    ['whose name is no text', () => odd({ name: 5 }), 'out of order'],
    ['whose stack is no text', () => odd({ stack: ['here'] }), 'out of order'],
    ['whose status is no number', () => odd({ status: Number.NaN }), 'out of order'],
    ['whose details have no form in JSON', () => new HoldfastError('own', 'out of order', { big: 1n }), 'out of order'],
    ['whose details hold code', () => new HoldfastError('own', 'out of order', { run: failing }), 'out of order'],
    ['that is its own cause', ownCause, 'out of order'],
    ['that throws when one looks at it', unreadable, 'an error was thrown that cannot be read'],
  ])(
    '[B5a, A7d] an error %s fails the run, can be read, and does not stand in the way of the next input',
    async (_what, make, message) => {
      const scene = failing(where, make);
      const thread = await scene.begun();
      expect(await thread.run()).toMatchObject({ end: 'failed' });
      expect((await head(await scene.open())).control.failure?.message).toContain(message);

      await thread.send({ count: 2 });
      expect(await (await scene.open()).run()).toMatchObject({ end: 'failed' });
      expect(await thread.state()).toEqual({ count: 2 });
    },
  );
});

describe('what is thrown and is no Error', () => {
  const cases: readonly [string, () => unknown, string, string, number | undefined][] = [
    ['a plain object', () => ({ status: 429, message: 'slow down' }), 'slow down', 'recoverable', 429],
    ['one with a statusCode', () => ({ statusCode: 422, message: 'bad' }), 'bad', 'needs_repair', 422],
    ['a Response', () => new Response('x', { status: 503, statusText: 'Busy' }), '503 Busy', 'recoverable', 503],
    ['a bare status', () => ({ status: 404 }), '404', 'final', 404],
    ['an object that says nothing', () => ({ reason: 'why' }), '{"reason":"why"}', 'final', undefined],
    ['a text', () => 'no', 'no', 'final', undefined],
    [
      'a message that is no text',
      () => ({ message: 5, status: 'x' }),
      '{"message":5,"status":"x"}',
      'final',
      undefined,
    ],
  ];
  test.each(cases)(
    '[B8a] %s keeps its message and status, and has its class by them',
    async (_name, make, message, kind, status) => {
      const asked: unknown[] = [];
      for (const where of ['node', 'tool'] as const) {
        const scene = failing(where, make);
        const end = await (await scene.begun()).run();
        const failure = end.end === 'failed' ? end.failure : undefined;
        const cause = where === 'tool' ? failure?.cause : failure;
        asked.push({
          where,
          message: cause?.message,
          status: cause?.status,
          kind: failureOf(errorFromData(cause as ErrorData), 'go').class,
        });
        expect(failureOf(make(), 'go').class).toBe(kind);
      }
      expect(asked).toEqual(['node', 'tool'].map((where) => ({ where, message, status, kind })));
    },
  );
});
