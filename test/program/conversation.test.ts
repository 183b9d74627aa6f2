import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type Log, log, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { messageWindow, noSummary, type Summary, summarized, unseen } from '../../src/program/conversation.ts';
import { plainState, Scene, ScriptedModel } from '../engine/support.ts';

interface Message {
  readonly id: string;
  readonly role: string;
  readonly tokens: number;
}

const tokensOf = ({ tokens }: Message) => tokens;

/** A log in memory that notes which indexes were read. */
function logOf<Item>(items: readonly Item[]): Log<Item> & { readonly read: Set<number> } {
  const read = new Set<number>();
  const slice = async (from: number, to = items.length) => {
    for (let index = from; index < to; index += 1) read.add(index);
    return items.slice(from, to);
  };
  return {
    read,
    length: items.length,
    slice,
    tail: (count) => slice(Math.max(0, items.length - count)),
    async *[Symbol.asyncIterator]() {
      yield* items;
    },
  };
}

function messages(count: number, role = 'user'): Message[] {
  return Array.from({ length: count }, (_, index) => ({ id: `m${index}`, role, tokens: 10 }));
}

const message = fc.record({
  id: fc.integer({ min: 0, max: 30 }).map((number) => `m${number}`),
  role: fc.constantFrom('user', 'assistant', 'tool'),
  tokens: fc.integer({ min: 0, max: 50 }),
});

describe('a window', () => {
  test('[A9b] of any conversation stays within its limits, holds each id once, and begins with no result', async () => {
    const limits = fc.record({ messages: fc.integer({ min: 1, max: 20 }), tokens: fc.integer({ min: 0, max: 200 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 100 }), limits, async (items, limit) => {
        const window = await messageWindow(logOf(items), { ...limit, tokensOf });
        const spent = window.reduce((sum, { tokens }) => sum + tokens, 0);
        expect(window.length).toBeLessThanOrEqual(limit.messages);
        if (window.length > 1) expect(spent).toBeLessThanOrEqual(limit.tokens);
        expect(new Set(window.map(({ id }) => id)).size).toBe(window.length);
        expect(window[0]?.role).not.toBe('tool');
        const places = window.map((item) => items.indexOf(item));
        expect(places).toEqual([...places].sort((a, b) => a - b));
      }),
    );
  });

  test('[A9b] by messages gives the newest ones', async () => {
    const window = await messageWindow(logOf(messages(100)), { messages: 3 });
    expect(window.map(({ id }) => id)).toEqual(['m97', 'm98', 'm99']);
  });

  test('[A9b] by tokens gives as many as fit, and the newest in any case', async () => {
    const log = logOf(messages(100));
    expect(await messageWindow(log, { tokens: 35, tokensOf })).toHaveLength(3);
    expect(await messageWindow(log, { tokens: 1, tokensOf })).toHaveLength(1);
  });

  test('[A9b, A9a] of a long conversation reads no more than it needs', async () => {
    const log = logOf(messages(10_000));
    await messageWindow(log, { messages: 20 });
    expect(log.read.size).toBeLessThan(70);
  });

  test('[A9b, A9d] counts a message that came twice once, where it came first', async () => {
    const [a, b] = messages(2);
    if (a === undefined || b === undefined) throw new Error('two were made');
    expect(await messageWindow(logOf([a, b, a]), { tokens: 20, tokensOf })).toEqual([a, b]);
    expect(await messageWindow(logOf([a, b, a]), { messages: 1 })).toEqual([a]);
  });

  test('[A9b] without limits, and without any message, gives what there is', async () => {
    expect(await messageWindow(logOf(messages(100)))).toHaveLength(100);
    expect(await messageWindow(logOf([]))).toEqual([]);
  });

  test.each<[object, string]>([
    [{ message: 3 }, 'its options have "message"; there are messages, tokens, tokensOf'],
    [{ messages: '3' }, 'messages is of type string, not a number from 0'],
    [{ messages: Number.NaN }, 'messages is NaN, not a number from 0'],
    [{ tokens: -1 }, 'tokens is -1, not a number from 0'],
  ])('[A9b] of %j is refused', async (limits, problem) => {
    await expect(messageWindow(logOf(messages(3)), limits as never)).rejects.toMatchObject({
      code: 'argument_invalid',
      details: { problem },
    });
  });
});

describe('a summary', () => {
  const limits = { messages: 4 };

  test('[A9c] covers what left the window, and the log still holds it', async () => {
    const log = logOf(messages(10));
    const summary = await summarized(log, noSummary, limits, async (_, leaving) => leaving.map(({ id }) => id).join());
    expect(summary).toEqual({ text: 'm0,m1,m2,m3,m4,m5', upTo: 6 });
    expect((await messageWindow(log, limits, summary.upTo)).map(({ id }) => id)).toEqual(['m6', 'm7', 'm8', 'm9']);
    expect(await log.slice(0, 6)).toHaveLength(6);
  });

  test('[A9c] goes on from the one before, with what left since', async () => {
    const given: [string, number][] = [];
    const write = async (text: string, leaving: readonly unknown[]) => {
      given.push([text, leaving.length]);
      return `${text}+${leaving.length}`;
    };
    const first = await summarized(logOf(messages(10)), noSummary, limits, write);
    const second = await summarized(logOf(messages(12)), first, limits, write);
    expect(second).toEqual({ text: '+6+2', upTo: 8 });
    expect(given).toEqual([
      ['', 6],
      ['+6', 2],
    ]);
  });

  test('[A9c] is the same object while nothing left the window, and nothing is written', async () => {
    const before: Summary = { text: 'so far', upTo: 6 };
    const write = () => Promise.reject(new Error('nobody asked'));
    expect(await summarized(logOf(messages(10)), before, limits, write)).toBe(before);
  });
});

describe('messages that come again', () => {
  test('[A9d] are those that the log holds, or that come twice at once', async () => {
    const again = [...messages(3), { id: 'new', role: 'user', tokens: 1 }, { id: 'new', role: 'user', tokens: 2 }];
    expect(await unseen(logOf(messages(50)), again)).toEqual([{ id: 'new', role: 'user', tokens: 1 }]);
  });

  test('[A9d] do not make the context longer, however often the thread is resumed', async () => {
    const said = z.object({ id: z.string(), text: z.string() });
    const seen: string[] = [];
    const agent = defineAgent({
      name: 'talker',
      version: 1,
      state: { incoming: value(z.array(said), []), talk: log(said) },
      start: 'add',
      nodes: {
        add: async ({ incoming, talk }, { goto }) => goto('answer', { talk: await unseen(talk, incoming) }),
        answer: async ({ talk }, { model, end }) => {
          const window = await messageWindow(talk, { messages: 8 });
          await model.text(window.map(({ text }) => text).join(' '));
          return end();
        },
      },
    });
    const model = new ScriptedModel((prompt) => {
      seen.push(prompt);
      return 'well';
    });
    const scene = new Scene({ agent, model });
    const whole = [
      { id: '1', text: 'hello' },
      { id: '2', text: 'there' },
    ];
    for (let resume = 0; resume < 3; resume += 1) {
      const thread = await scene.open();
      await thread.send({ incoming: whole });
      expect(await thread.run()).toEqual({ end: 'done' });
    }
    expect(seen).toEqual(['hello there', 'hello there', 'hello there']);
    expect((await plainState(await scene.open())).talk).toEqual(whole);
  });
});
