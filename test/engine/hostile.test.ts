/** Found by attacking the engine: each line was a fault once. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { log, value } from '../../src/model/fields.ts';
import { type AnyAgent, defineAgent } from '../../src/program/agent.ts';
import type { LanguageModel } from '../../src/program/model.ts';
import { tool } from '../../src/program/tool.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';

function givenSend(approval: 'always' | 'never' = 'never') {
  const calls: unknown[] = [];
  const send = tool({
    name: 'send',
    description: 'Sends',
    input: z.object({ euros: z.number() }).transform(({ euros }) => ({ cents: euros * 100 })),
    effect: 'once',
    approval,
    run: (input) => {
      calls.push(input);
      return 'sent';
    },
  });
  return { send, calls };
}

async function threadOf(agent: AnyAgent, world = new TestWorld(), model?: LanguageModel) {
  return (await world.engine({ agent, ...(model && { model }) })).thread('t');
}

describe('calls', () => {
  test('[B4c, B3d] one key used twice in one scope is refused before anything is sent twice', async () => {
    const { send, calls } = givenSend();
    const agent = defineAgent({
      name: 'a',
      version: 1,
      state: {},
      tools: { send },
      start: 'go',
      nodes: {
        async go(_, { call, end }) {
          await Promise.all([
            call('send', { euros: 1 } as never, { key: 'k' }),
            call('send', { euros: 1 } as never, { key: 'k' }),
          ]);
          return end();
        },
      },
    });
    const thread = await threadOf(agent);
    await thread.send({});
    expect(await thread.run()).toMatchObject({ end: 'failed' });
    expect(calls.length).toBeLessThanOrEqual(1);
  });

  test('[B9d] edited arguments go through the schema once, as those given do', async () => {
    const { send, calls } = givenSend('always');
    const agent = defineAgent({
      name: 'b',
      version: 1,
      state: {},
      tools: { send },
      start: 'go',
      nodes: {
        async go(_, { call, end }) {
          await call('send', { euros: 5 } as never);
          return end();
        },
      },
    });
    const thread = await threadOf(agent);
    await thread.send({});
    await thread.run();
    const [wait] = await thread.waits();
    if (wait === undefined) throw new Error('the call is asked');
    expect(wait.args).toEqual({ euros: 5 });
    await thread.answer(wait.id, wait.digest, { decision: 'allow', args: { euros: 4 } });
    expect(await thread.run()).toEqual({ end: 'done' });
    expect(calls).toEqual([{ cents: 400 }]);
  });

  test('[B3c] an answer of a model is complete at its finish, also when the stream stays open', async () => {
    let asked = 0;
    const model: LanguageModel = {
      name: 'open',
      async *stream() {
        asked += 1;
        yield { type: 'text', text: 'whole' };
        yield { type: 'finish', usage: { inputTokens: 1, outputTokens: 1 } };
        await new Promise(() => undefined);
      },
    };
    const agent = defineAgent({
      name: 'c',
      version: 1,
      state: { text: value(z.string(), '') },
      start: 'go',
      nodes: { go: async (_, ctx) => ctx.end({ text: await ctx.model.text('x') }) },
    });
    const thread = await threadOf(agent, new TestWorld(), model);
    await thread.send({});
    expect(await thread.run()).toEqual({ end: 'done' });
    expect([asked, (await thread.state()).text]).toEqual([1, 'whole']);
  });
});

describe('inputs and state', () => {
  const notes = { notes: log(z.string()), first: value(z.unknown(), null) };

  test('[B11a] inputs that wait behind one that fails are taken up all the same, after a restart too', async () => {
    const agent = defineAgent({
      name: 'd',
      version: 1,
      state: notes,
      start: 'go',
      nodes: {
        go: ({ first }, { end }) => {
          if (first === 'bad') throw new TypeError('bad input');
          return end({ notes: ['good'] });
        },
      },
    });
    const world = new TestWorld();
    const before = await threadOf(agent, world);
    await before.send({ first: 'bad' });
    await before.send({ first: 'fine' });
    const thread = await threadOf(agent, world);
    const running = thread.run();
    for (const ms of [1_000, 5_000]) {
      await world.clock.whenAsleep((asleep) => Math.abs(asleep - ms) < ms / 5);
      world.clock.advance(ms * 2);
    }
    expect(await running).toEqual({ end: 'done' });
  });

  test('[A7d] an input that its schema turns into something that cannot be stored fails its run, and no later one', async () => {
    const agent = defineAgent({
      name: 'e',
      version: 1,
      state: {
        url: value(
          z.unknown().transform((text) => (text === null ? null : new URL(String(text)))),
          null,
        ),
      },
      start: 'go',
      nodes: { go: (_, { end }) => end() },
    });
    const thread = await threadOf(agent);
    await thread.send({ url: 'https://example.org' });
    expect(await thread.run()).toMatchObject({ end: 'failed' });
    await thread.send({});
    expect(await thread.run()).toEqual({ end: 'done' });
  });

  test.each(['constructor', 'toString', '__proto__'])(
    '[A7e] a field named %s is unknown, not a surprise',
    async (name) => {
      const agent = defineAgent({
        name: 'f',
        version: 1,
        state: {},
        start: 'go',
        nodes: { go: (_, { end }) => end() },
      });
      const update = JSON.parse(`{"${name}": 1}`) as object;
      await expect((await threadOf(agent)).send(update)).rejects.toMatchObject({ code: 'field_unknown' });
    },
  );

  test('[A9a] a log of 150,000 items can be read whole', async () => {
    const agent = defineAgent({
      name: 'g',
      version: 1,
      state: { notes: log(z.unknown()) },
      start: 'go',
      nodes: {
        go: (_, { goto }) => goto('read', { notes: Array.from({ length: 150_000 }, (_unused, at) => at) }),
        read: async ({ notes: all }, { end }) => end({ notes: [(await all.slice(0)).length] }),
      },
    });
    const thread = await threadOf(agent);
    await thread.send({});
    expect(await thread.run()).toEqual({ end: 'done' });
    const state = (await thread.state()) as { notes: { tail(count: number): Promise<unknown[]> } };
    expect(await state.notes.tail(1)).toEqual([150_000]);
  }, 30_000);

  test('[B5a] what cannot even be printed can be thrown, and is reported', async () => {
    const agent = defineAgent({
      name: 'h',
      version: 1,
      state: {},
      start: 'go',
      nodes: {
        go: {
          retry: { attempts: 1 },
          run: () => {
            throw Object.create(null);
          },
        },
      },
    });
    const thread = await threadOf(agent);
    await thread.send({});
    expect(await thread.run()).toMatchObject({ end: 'failed' });
  });
});
