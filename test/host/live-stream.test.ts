/** What views get of a step that is under way: tokens and custom events, which are never stored. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { type Deferred, deferred } from '../../src/base/deferred.ts';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { LanguageModel, ModelPart } from '../../src/program/model.ts';
import { quiet } from '../engine/support.ts';
import { settled, watched } from './acting-agent.ts';
import { Workers } from './workers.ts';

/** A model that says what a test lets it say, one word at a time; the first attempt breaks off where it is told to. */
class TalkingModel implements LanguageModel {
  readonly name = 'talking';
  readonly #words: (string | Error | undefined)[] = [];
  #more: Deferred<void> = deferred();

  async say(...words: (string | Error | undefined)[]): Promise<void> {
    this.#words.push(...words);
    this.#more.resolve();
    await quiet();
    await quiet();
  }

  async *stream(): AsyncGenerator<ModelPart> {
    for (;;) {
      while (this.#words.length === 0) {
        this.#more = deferred();
        await this.#more.promise;
      }
      const word = this.#words.shift();
      if (word instanceof Error) throw word;
      if (word === undefined) break;
      yield { type: 'text', text: word };
    }
    yield { type: 'finish', usage: { inputTokens: 1, outputTokens: 1 } };
  }
}

test('[B13b] a view that opens while an answer streams beside a question gets its text so far', async () => {
  const model = new TalkingModel();
  const agent = defineAgent({
    name: 'talker',
    version: 1,
    state: { said: log(z.string()) },
    start: 'talk',
    nodes: {
      talk: async (_state, { all, end }) => {
        await all([0, 1], (n, { model: scoped, ask }) => (n === 0 ? scoped.text('hi') : ask<string>('well?')));
        return end();
      },
    },
  });
  const host = await new Workers(agent, model).start();
  const early = await watched(host);
  await host.send('t', {}, 'a');
  await settled();
  await model.say('one ', 'two ');
  const late = await watched(host);
  await model.say('three');
  const textOf = (messages: readonly { readonly type: string }[]) =>
    messages.map((message) => ('text' in message ? message.text : '')).join('');
  expect([textOf(early.messages), textOf(late.messages)]).toEqual(['one two three', 'one two three']);
  await host.close();
});

test('[B13b] a view that opens gets no text of a line that has ended, nor of a step that a policy began anew', async () => {
  const model = new TalkingModel();
  const agent = defineAgent({
    name: 'talker',
    version: 1,
    state: { said: log(z.string()) },
    policy: [{ node: 'odd', action: 'retry', times: 1 }],
    start: 'go',
    nodes: {
      go: (_state, { parallel }) => parallel(['quick', 'odd'], { join: 'sum' }),
      quick: async (_state, { model: ask, end }) => end({ said: [await ask.text('quick')] }),
      odd: {
        retry: { attempts: 1 },
        run: async (_state, { model: ask, waitFor, end }) => {
          await waitFor('go');
          const said = await ask.text('odd');
          if (said === 'wrong') throw new Error('odd');
          return end({ said: [said] });
        },
      },
      sum: (_state, { end }) => end(),
    },
  });
  const host = await new Workers(agent, model).start();
  await host.send('t', {}, 'a');
  await settled();
  await model.say('first', undefined);
  await settled();
  await host.signal('t', 'go', null, 'b');
  await settled();
  await model.say('wrong', undefined);
  await settled();
  await host.signal('t', 'go', null, 'c');
  await settled();
  await model.say('right');
  const late = await watched(host);
  await settled();
  expect(late.messages.flatMap((message) => ('text' in message ? [message.text] : []))).toEqual(['right']);
  await host.close();
});

async function talking() {
  const model = new TalkingModel();
  const agent = defineAgent({
    name: 'talker',
    version: 1,
    state: { said: log(z.string()) },
    start: 'talk',
    nodes: {
      talk: async (_state, { model: ask, emit, end }) => {
        emit('begun', { part: 1 });
        const said = await ask.text('hi');
        emit('said');
        return end({ said: [said] });
      },
    },
  });
  const workers = new Workers(agent, model);
  const host = await workers.start();
  await host.send('t', {}, 'a');
  await quiet();
  return { host, model, workers };
}

/** What a view knows of the running step: its text, and the names of its custom events. */
function shown(messages: Awaited<ReturnType<typeof watched>>['messages']) {
  let text = '';
  let customs: string[] = [];
  for (const message of messages) {
    if (message.type === 'running') [text, customs] = ['', []];
    if (message.type === 'restart') text = '';
    if (message.type === 'token') {
      expect(message.offset).toBe(text.length);
      text += message.text;
    }
    if (message.type === 'custom') customs = [...customs, message.name];
  }
  return { text, customs };
}

test('[B13a] tokens and custom events reach every view that is open', async () => {
  const { host, model } = await talking();
  const views = [await watched(host), await watched(host)];
  await model.say('Good ', 'day', undefined);

  for (const { messages, stop } of views) {
    expect(shown(messages)).toEqual({ text: 'Good day', customs: ['begun', 'said'] });
    expect(messages.find(({ type }) => type === 'custom')).toMatchObject({ name: 'begun', data: { part: 1 } });
    stop();
  }
});

test('[B13b] a view that comes late gets what it missed of the step under way, in order, once', async () => {
  const { host, model } = await talking();
  await model.say('Good ', 'day ');
  const late = await watched(host);
  await settled();
  expect(shown(late.messages)).toEqual({ text: 'Good day ', customs: ['begun'] });
  await model.say('to you', undefined);

  expect(shown(late.messages)).toEqual({ text: 'Good day to you', customs: ['begun', 'said'] });
  late.stop();
});

test('[B13b] a new attempt begins anew, for views that saw the old one and for those that come later', async () => {
  const { host, model, workers } = await talking();
  const early = await watched(host);
  await model.say('Bad ', new Error('cut off'));
  workers.world.clock.advance(2_000);
  await quiet();
  await model.say('Good ');
  const late = await watched(host);
  await model.say('day', undefined);

  expect(early.messages.some(({ type }) => type === 'restart')).toBe(true);
  for (const { messages, stop } of [early, late]) {
    expect(shown(messages).text).toBe('Good day');
    stop();
  }
  expect(late.messages.filter(({ type }) => type === 'token').map((frame) => 'text' in frame && frame.text)).toEqual([
    'Good ',
    'day',
  ]);
});

test('[B13b] what is stored by now does not come again as live text', async () => {
  const { host, model } = await talking();
  await model.say('Good day', undefined);
  const late = await watched(host);
  await settled();

  expect(late.messages.map(({ type }) => type)).toEqual(['view']);
  expect((await host.state('t', null)).said).toEqual({ length: 1, tail: ['Good day'] });
  late.stop();
});
