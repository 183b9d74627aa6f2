/** Reloads and kills, as people reported them of other projects (FIELD-NOTES, 43 and the last section): each told to its end. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type Deferred, deferred } from '../../src/base/deferred.ts';
import { log, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { messageWindow } from '../../src/program/conversation.ts';
import type { LanguageModel, ModelPart, ModelRequest } from '../../src/program/model.ts';
import { tool } from '../../src/program/tool.ts';
import type { StreamMessage } from '../../src/protocol/host-api.ts';
import { answer, head, never, nth, only, plainState, quiet, Scene, ScriptedModel } from '../engine/support.ts';
import { settled, watched } from '../host/acting-agent.ts';
import { Workers } from '../host/workers.ts';

const talk = defineAgent({
  name: 'talker',
  version: 1,
  state: { said: log(z.string()) },
  start: 'talk',
  nodes: { talk: async (_state, { model, end }) => end({ said: [await model.text('hi')] }) },
});

/** Says its answer in two halves; the second one when it is let. */
class HalvedModel implements LanguageModel {
  readonly name = 'halved';
  readonly more: Deferred<void> = deferred();
  calls = 0;

  async *stream(): AsyncGenerator<ModelPart> {
    this.calls += 1;
    yield { type: 'text', text: 'the first half, ' };
    await this.more.promise;
    yield { type: 'text', text: 'and the second' };
    yield { type: 'finish', usage: { inputTokens: 1, outputTokens: 1 } };
  }
}

const textOf = (messages: readonly StreamMessage[]) =>
  messages.map((message) => (message.type === 'token' ? message.text : '')).join('');

describe('a refresh in the middle of an answer', () => {
  test('[B3c] does not lose it, as reported for AI SDK 14688: the answer is in the state after the reload', async () => {
    const model = new HalvedModel();
    const scene = new Scene({ agent: talk, model });
    await scene.begun();
    const { thread, life } = await scene.mortal();
    void thread.run();
    await quiet();
    life.end();
    model.more.resolve();
    const reloaded = await scene.open();

    expect(await reloaded.run()).toEqual({ end: 'done' });
    expect(await plainState(reloaded)).toEqual({ said: ['the first half, and the second'] });
  });

  test('[B11a] does not double it, as reported for AI SDK 18457: page and worker repeat the input, one run answers it', async () => {
    const model = new ScriptedModel(() => 'hello');
    const scene = new Scene({ agent: talk, model });
    for (const _ of ['sent', 'sent again after the refresh']) {
      const thread = await scene.open();
      await thread.send({}, 'message 1');
      expect(await thread.run()).toEqual({ end: 'done' });
    }

    expect(await plainState(await scene.open())).toEqual({ said: ['hello'] });
    expect(model.calls).toHaveLength(1);
  });

  test('[B13b] does not show its second half only, as reported for AI SDK 470 and Open WebUI 29596', async () => {
    const model = new HalvedModel();
    const host = await new Workers(talk, model).start();
    await host.send('t', {}, 'message 1');
    await quiet();
    const refreshed = await watched(host);
    await settled();
    model.more.resolve();
    await settled();

    expect(textOf(refreshed.messages)).toBe('the first half, and the second');
    refreshed.stop();
  });
});

test('[B11a] a page that React mounts twice starts one run, as feared for useChat in StrictMode', async () => {
  const model = new ScriptedModel(() => 'hello');
  const workers = new Workers(talk, model);
  const [first, second] = [await workers.start(), await workers.start()];
  await Promise.all([first.send('t', {}, 'message 1'), second.send('t', {}, 'message 1')]);
  await settled();

  expect((await first.view('t'))?.status).toBe('done');
  expect(model.calls).toHaveLength(1);
});

test('[B1f] a subgraph goes on inside of it and does not restart from its start, as reported for LangGraph.js 1552', async () => {
  const runs: string[] = [];
  let isHeld = true;
  const agent = defineAgent({
    name: 'outer',
    version: 1,
    state: { said: log(z.string()) },
    start: 'research',
    nodes: {
      research: {
        start: 'search',
        nodes: {
          search: (_state, { goto }) => {
            runs.push('search');
            return goto('read', { said: ['searched'] });
          },
          read: (_state, { end }) => {
            runs.push('read');
            return isHeld ? never() : end({ said: ['read'] });
          },
        },
      },
      write: (_state, { end }) => end({ said: ['written'] }),
    },
    edges: { research: 'write' },
  });
  const scene = new Scene({ agent });
  await scene.begun();
  const { thread, life } = await scene.mortal();
  void thread.run();
  await quiet();
  life.end();
  isHeld = false;
  const reloaded = await scene.open();

  expect(await reloaded.run()).toEqual({ end: 'done' });
  expect(runs).toEqual(['search', 'read', 'read']);
  expect(await plainState(reloaded)).toEqual({ said: ['searched', 'read', 'written'] });
});

test('[B9c, I6] two questions in one node repeat nothing that its start did, as measured for LangGraph (three times)', async () => {
  const booked: string[] = [];
  const book = tool({
    name: 'book',
    description: 'Books',
    input: z.object({}),
    effect: 'once',
    run: () => `booking ${booked.push('one')}`,
  });
  const model = new ScriptedModel(() => 'a plan');
  const agent = defineAgent({
    name: 'asker',
    version: 1,
    state: { said: log(z.unknown()) },
    tools: { book },
    start: 'plan',
    nodes: {
      plan: async (_state, { call, model: llm, now, ask, end }) => {
        const start = [await call('book', {}), await llm.text('plan'), now()];
        return end({ said: [...start, await ask('first?'), await ask('second?')] });
      },
    },
  });
  const scene = new Scene({ agent, model });
  const startMs = scene.clock.nowMs();
  await scene.begun();
  for (const reply of ['one', 'two']) {
    expect(await (await scene.open()).run()).toEqual({ end: 'waiting' });
    scene.clock.advance(60_000);
    const thread = await scene.open();
    await answer(thread, only(await thread.waits()), { decision: 'reply', value: reply });
  }
  const last = await scene.open();

  expect(await last.run()).toEqual({ end: 'done' });
  expect(await plainState(last)).toEqual({ said: ['booking 1', 'a plan', startMs, 'one', 'two'] });
  expect([booked.length, model.calls.length]).toEqual([1, 1]);
});

describe('a tool call that the history leaves unanswered', () => {
  /** Asks the model, does what it wants, and keeps call and result together; then answers. */
  function assistant() {
    const asked: ModelRequest[] = [];
    const held = { isHeld: true };
    const model: LanguageModel = {
      name: 'caller',
      async *stream(request) {
        asked.push(request);
        const isTold = request.messages.at(-1)?.role === 'tool';
        if (isTold) yield { type: 'text', text: 'it is sunny' };
        else yield { type: 'tool_call', call: { callId: 'call 1', tool: 'weather', input: {} } };
        yield { type: 'finish', usage: { inputTokens: 1, outputTokens: 1 } };
      },
    };
    const weather = tool({
      name: 'weather',
      description: 'Looks',
      input: z.object({}),
      effect: 'read',
      run: () => (held.isHeld ? never<string>() : 'sun'),
    });
    const message = z.object({ id: z.string(), role: z.enum(['user', 'assistant', 'tool']), text: z.string() });
    const agent = defineAgent({
      name: 'assistant',
      version: 1,
      state: { history: log(message), question: value(z.string(), '') },
      tools: { weather },
      start: 'turn',
      nodes: {
        turn: async ({ history, question }, { model: llm, call, end }) => {
          const window = (await messageWindow(history)).map(({ role, text }) => ({ role, text }) as never);
          const request: ModelRequest = { messages: [...window, { role: 'user', text: question }] };
          const { toolCalls } = await llm.answer(request);
          const { callId } = nth(toolCalls, 0);
          const result = await call('weather', {});
          const told = await llm.answer({
            messages: [
              ...request.messages,
              { role: 'assistant', text: '', toolCalls },
              { role: 'tool', callId, tool: 'weather', result },
            ],
          });
          const n = history.length;
          const turn = { user: question, assistant: `calls ${callId}`, tool: `${callId}: ${result}` } as const;
          const items = Object.entries(turn).map(([role, text], at) => ({
            id: `${n + at}`,
            role: role as 'user',
            text,
          }));
          return end({ history: [...items, { id: `${n + 3}`, role: 'assistant', text: told.text }] });
        },
      },
    });
    return { scene: new Scene({ agent, model }), asked, held };
  }

  const roles = async (scene: Scene) =>
    ((await plainState(await scene.open())).history as { role: string }[]).map(({ role }) => role);

  test('[B10c, I2] is none after a cancel in its middle, as reported for drua 455: the next turn works', async () => {
    const { scene, held } = assistant();
    const thread = await scene.begun({ question: 'How is the weather?' });
    const run = thread.run();
    await quiet();
    await thread.cancel();
    await thread.look();
    await scene.clock.whenAsleep((ms) => ms === 2_000);
    scene.clock.advance(2_000);

    expect(await run).toEqual({ end: 'cancelled' });
    expect(await roles(scene)).toEqual([]);
    held.isHeld = false;
    await thread.send({ question: 'And now?' });
    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(await roles(scene)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  test('[B3c, I2] is none after a kill in its middle: the call is answered before the model is asked again', async () => {
    const { scene, asked, held } = assistant();
    await scene.begun({ question: 'How is the weather?' });
    const { thread, life } = await scene.mortal();
    void thread.run();
    await quiet();
    life.end();
    expect(await roles(scene)).toEqual([]);
    held.isHeld = false;

    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(asked.map(({ messages }) => messages.at(-1)?.role)).toEqual(['user', 'tool']);
    expect(await roles(scene)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });
});

test('[A9d, I8] nested state is as large after 24 rounds as what they added, as reported doubling for Mastra 20650', async () => {
  const round = z.object({ n: z.number(), found: z.array(z.string()) });
  const agent = defineAgent({
    name: 'looper',
    version: 1,
    state: { rounds: value(z.array(round), []), said: log(z.string()) },
    start: 'work',
    nodes: {
      work: {
        start: 'find',
        nodes: {
          find: ({ rounds }, { goto }) => goto('note', { rounds: [...rounds, { n: rounds.length, found: ['one'] }] }),
          note: ({ rounds }, { end }) => end({ said: [`round ${rounds.length}`] }),
        },
      },
      check: ({ rounds }, { goto, end }) => (rounds.length < 24 ? goto('work') : end()),
    },
    edges: { work: 'check' },
    maxSteps: 100,
  });
  const scene = new Scene({ agent });
  await scene.begun();
  const thread = await scene.open();

  expect(await thread.run()).toEqual({ end: 'done' });
  const { rounds, said } = await plainState(await scene.open());
  expect(rounds).toEqual(Array.from({ length: 24 }, (_, n) => ({ n, found: ['one'] })));
  expect(said).toEqual(Array.from({ length: 24 }, (_, n) => `round ${n + 1}`));
  expect((await head(thread)).position.visits).toEqual({ 'work/find': 24, 'work/note': 24, check: 24 });
});
