/** What JavaScript lets through in the calls of a node: refused before anything is kept, and the thread stays readable. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { NodeContext } from '../../src/program/node-context.ts';
import { type Tools, tool } from '../../src/program/tool.ts';
import { head, Scene, ScriptedModel } from './support.ts';

const state = { said: log(z.string()) };
type Context = NodeContext<typeof state, Tools, 'go'>;

function doing(work: (context: Context) => unknown): Scene {
  const get = tool({ name: 'get', description: 'Gets', input: z.object({}), effect: 'read', run: () => 'got' });
  const send = tool({ ...get, name: 'send', approval: 'always' });
  const agent = defineAgent({
    name: 'odd',
    version: 1,
    state,
    tools: { get, send } as Tools,
    start: 'go',
    nodes: {
      go: async (_state, context) => {
        await work(context);
        return context.end({ said: ['done'] });
      },
    },
  });
  return new Scene({ agent, model: new ScriptedModel(() => 'yes') });
}

/** As code without types gives it. */
const odd = (given: unknown) => given as never;

describe('a call of a node', () => {
  test.each<[string, (context: Context) => unknown, string]>([
    ['ask', ({ ask }) => ask(odd({ q: 1 })), 'the question is of type object, not a text'],
    ['ask', ({ ask }) => ask('well?', odd({ expiresMs: '5' })), 'expiresMs is of type string, not a number from 0'],
    ['waitFor', ({ waitFor }) => waitFor(odd(['word'])), 'the name is a list, not a text'],
    ['waitFor', ({ waitFor }) => waitFor(''), 'the name is empty'],
    ['ask', ({ ask }) => ask(''), 'the question is empty'],
    ['waitFor', ({ waitFor }) => waitFor('word', { expiresMs: Number.NaN }), 'expiresMs is NaN, not a number from 0'],
    ['emit', ({ emit }) => emit(odd(undefined)), 'the name is undefined, not a text'],
    ['model', ({ model }) => model.text(odd({ text: 'x' })), 'the prompt is of type object, not a text'],
    ['model', ({ model }) => model.answer(odd({})), 'messages is undefined, not a list'],
    ['child', ({ child }) => child(odd({}), {}), 'the name of the agent is undefined, not a text'],
    ['parallel', ({ parallel }) => parallel(odd('go')), 'what it was given is of type string, not a list'],
    ['fanOut', ({ fanOut }) => fanOut('go', odd({ a: 1 })), 'what it was given as items is of type object, not a list'],
    ['get', ({ call }) => call('get', odd({}), odd({ key: {} })), 'its key is of type object, not a text'],
    ['get', ({ call }) => call('get', odd({}), { key: '\ud800' }), 'its key cannot be kept: half of a surrogate pair'],
    ['sleep', ({ sleep }) => sleep(1, { key: '\udc00' }), 'its key cannot be kept: half of a surrogate pair'],
    ['waitFor', ({ waitFor }) => waitFor('\ud800'), 'the name cannot be kept: half of a surrogate pair'],
    ['waitFor', ({ waitFor }) => waitFor('\ufeffword'), 'the name cannot be kept: it begins with a byte order mark'],
    ['emit', ({ emit }) => emit(''), 'the name is empty'],
    ['waitFor', ({ waitFor }) => waitFor(odd(Symbol('word'))), 'the name is of type symbol, not a text'],
    ['waitFor', ({ waitFor }) => waitFor(odd(Object.create(null))), 'the name is of type object, not a text'],
    ['child', ({ child }) => child(odd({ name: Symbol('c') }), {}), 'the name of the agent is of type symbol, not'],
    ['ask', ({ ask }) => ask('well?', odd(5)), 'its options are of type number, not an object'],
    ['waitFor', ({ waitFor }) => waitFor('word', odd('5')), 'its options are of type string, not an object'],
    ['sleep', ({ sleep }) => sleep(1, odd(null)), 'its options are null, not an object'],
    ['sleep', ({ sleep }) => sleep(1, odd({ kye: 1 })), 'its options have "kye"; there are key'],
    ['online', ({ online }) => online(odd(5)), 'its options are of type number, not an object'],
    ['online', ({ online }) => online(odd({ kye: 1 })), 'its options have "kye"; there are key'],
    ['ask', ({ ask }) => ask('well?', { expiresMs: 1e308 }), 'expiresMs is 1e+308, not a number from 0 to 8e15'],
    ['all', ({ all }) => all(new Array<number>(3), async () => 1), 'items has holes'],
    ['parallel', ({ parallel }) => parallel(new Array(2)), 'what it was given has holes'],
    [
      'fanOut',
      ({ fanOut }) => fanOut('go', Object.assign(new Array(3), { 2: 3 })),
      'what it was given as items has holes',
    ],
    ['model.object', ({ model }) => model.object(odd(null), 'q'), 'what it was given is null, not a schema'],
    ['model.object', ({ model }) => model.object(z.any(), 'q', odd({ name: 5 })), 'name is of type number, not a text'],
    ['model', ({ model }) => model.text('q', odd(null)), 'its options are null, not an object'],
    ['item', ({ item }) => item(odd(undefined)), 'what it was given is undefined, not a schema'],
    ['get', ({ call }) => call('get', odd({}), odd({ key: Symbol('k') })), 'its key is of type symbol, not a text'],
    ...(
      [
        [{ messages: ['hi'] }, 'message 1 is of type string, not an object'],
        [
          { messages: [{ role: 'zz', text: 'hi' }] },
          'message 1 has the role "zz"; there are system, user, assistant, tool',
        ],
        [{ messages: [{ role: 'user', content: 'hi' }] }, 'message 1 has the text undefined, not a text'],
        [{ messages: [{ role: 'tool', callId: 'c', result: 1 }] }, 'message 1 has the tool undefined, not a text'],
        [
          { messages: [{ role: 'assistant', text: '', toolCalls: [{}] }] },
          'message 1 has a tool call without callId and tool',
        ],
        [{ messages: [], tools: 'get' }, 'tools is of type string, not a list'],
        [{ messages: [], tools: ['get'] }, 'tool 1 is of type string, not an object with name and description'],
        [
          { messages: [], tools: [{ name: 'get' }] },
          'tool 1 is of type object, not an object with name and description',
        ],
        [{ messages: [], temperature: 1 }, 'the request has "temperature"; there are messages, tools, output'],
        [{ messages: [], output: 'json' }, 'output is of type string, not an object with a name'],
      ] as const
    ).map(([request, problem]): [string, (context: Context) => unknown, string] => [
      'model.answer',
      ({ model }) => model.answer(odd(request)),
      problem,
    ]),
    ['ask', ({ ask }) => ask('well?', { expiresMs: -1 }), 'expiresMs is -1, not a number from 0'],
    ['ask', ({ ask }) => ask('well?', { expiresMs: Infinity }), 'expiresMs is Infinity, not a number from 0'],
    ['ask', ({ ask }) => ask('well?', odd(null)), 'its options are null, not an object'],
    [
      'ask',
      ({ ask }) => ask('well?', odd({ expireMs: 5 })),
      'its options have "expireMs"; there are answer, show, expiresMs, key',
    ],
    ['ask', ({ ask }) => ask('well?', odd({ answer: {} })), 'answer is of type object, not a schema'],
    ['waitFor', ({ waitFor }) => waitFor('word', odd({ value: 'text' })), 'value is of type string, not a schema'],
    [
      'waitFor',
      ({ waitFor }) => waitFor('word', odd({ schema: z.string() })),
      'its options have "schema"; there are value, expiresMs, key',
    ],
    [
      'child',
      ({ child }) => child({ name: 'odd', state }, {}, odd({ onFailure: 'halt' })),
      'onFailure is "halt"; there are tell, stop',
    ],
    [
      'child',
      ({ child }) => child({ name: 'odd', state }, {}, odd({ onFailure: true })),
      'onFailure is of type boolean',
    ],
    [
      'child',
      ({ child }) => child({ name: 'odd', state }, {}, odd({ failure: 'stop' })),
      'its options have "failure"; there are onFailure, key',
    ],
  ])('[B9f] to %s (%#) with another type is refused, and the thread stays readable', async (name, work, problem) => {
    const scene = doing(work);

    expect(await (await scene.begun()).run()).toMatchObject({ end: 'failed' });
    const later = await scene.open();
    const { failure } = (await head(later)).control;
    expect(failure).toMatchObject({ code: 'argument_invalid', details: { problem: expect.stringContaining(problem) } });
    expect(failure?.message).toContain(name);
    expect(await later.waits()).toEqual([]);
    await later.send({});
    expect(await later.run()).toMatchObject({ end: 'failed' });
  });

  test.each([['get'], 7, undefined])('[B9f] of a tool by %j is one of an unknown tool', async (name) => {
    const scene = doing(({ call }) => call(odd(name), odd({})));

    expect(await (await scene.begun()).run()).toMatchObject({ end: 'failed' });
    expect((await head(await scene.open())).control.failure?.code).toBe('tool_unknown');
  });

  test.each(['5', -1, Number.NaN, Infinity, 1e308, Symbol('s')])(
    '[B9f] to sleep for %s is refused',
    async (durationMs) => {
      const scene = doing(({ sleep }) => sleep(odd(durationMs)));

      expect(await (await scene.begun()).run()).toMatchObject({ end: 'failed' });
      expect((await head(await scene.open())).control.failure?.code).toBe('sleep_invalid');
    },
  );
});

test.each([
  ['no JSON', 'it is not JSON'],
  ['{"good":"yes"}', 'good: '],
])('[B8a] an answer of a model that is %s fails as model_output_invalid, and says why', async (text, problem) => {
  const schema = z.object({ good: z.boolean() });
  const { agent } = doing(({ model }) => model.object(schema, 'Is it?', { name: 'verdict' }));
  const scene = new Scene({ agent, model: new ScriptedModel(() => text) });

  expect(await (await scene.begun()).run()).toMatchObject({
    end: 'failed',
    failure: {
      code: 'model_output_invalid',
      details: { output: 'verdict', text, problem: expect.stringContaining(problem) },
    },
  });
});
