import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import type { GroupResult } from '../../src/model/commit.ts';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { type ToolCall, tool } from '../../src/program/tool.ts';
import { never, nth, only, plainState, Scene, ScriptedModel, withMethods } from './support.ts';

/** One node that makes three calls, the last of which can be cut off. */
function threeCalls({
  cut = () => false,
  stored = () => undefined as unknown,
}: {
  cut?: () => boolean;
  stored?: () => unknown;
} = {}) {
  const calls: { readonly tool: string; readonly input: unknown; readonly call: ToolCall; readonly stored: unknown }[] =
    [];
  const isCut = deferred<void>();
  const made = (name: string) => (input: { readonly text: string }, call: ToolCall) => {
    calls.push({ tool: name, input, call, stored: stored() });
    if (name !== 'third' || !cut()) return `${name} ${input.text}`;
    isCut.resolve();
    return never<string>();
  };
  const input = z.object({ text: z.string() });
  const agent = defineAgent({
    name: 'caller',
    version: 1,
    state: { results: log(z.string()) },
    tools: {
      first: tool({ name: 'first', description: 'First', input, effect: 'once', run: made('first') }),
      second: tool({ name: 'second', description: 'Second', input, effect: 'idempotent', run: made('second') }),
      third: tool({ name: 'third', description: 'Third', input, effect: 'idempotent', run: made('third') }),
    },
    start: 'go',
    nodes: {
      go: async (_state, { call, model, end }) => {
        const one = await call('first', { text: 'a' });
        const thought = await model.text(`after ${one}`);
        const two = await call('second', { text: thought });
        const three = await call('third', { text: two });
        return end({ results: [one, thought, two, three] });
      },
    },
  });
  return { agent, calls, isCut: isCut.promise };
}

const results = ['first a', 'thought', 'second thought', 'third second thought'];

describe('an effect', () => {
  test('[B3a, I5] is called only once its intent is stored, with name, arguments, key and latest start', async () => {
    const { agent, calls } = threeCalls({ stored: () => scene.stored('ledger') });
    const scene: Scene = new Scene({ agent, model: new ScriptedModel(() => 'thought') });
    const thread = await scene.begun();
    await thread.run();
    const at = async (index: number) =>
      ((await nth(calls, index).stored) as readonly { key: string }[])
        .map(({ key }) => key)
        .filter((key) => !key.endsWith('.r')); // space for the outcome

    expect(await at(0)).toEqual(['0000000001.i']);
    expect(await at(1)).toEqual(['0000000001.i', '0000000001.o', '0000000002.i', '0000000002.o', '0000000003.i']);
    const effects = await thread.effects();
    expect(effects.map(({ name, effectClass }) => [name, effectClass])).toEqual([
      ['first', 'once'],
      ['scripted', 'idempotent'],
      ['second', 'idempotent'],
      ['third', 'idempotent'],
    ]);
    expect(nth(calls, 0).call).toMatchObject({
      effectKey: nth(effects, 0).key,
      attempt: 1,
      notAfterMs: scene.clock.nowMs() + 10_000,
    });
    expect(nth(calls, 0).input).toEqual({ text: 'a' });
  });

  test('[B3b] has its result and status stored before its node goes on', async () => {
    const scene = new Scene({ agent: threeCalls().agent, model: new ScriptedModel(() => 'thought') });
    const thread = await scene.begun();
    await thread.run();

    expect((await thread.effects()).map(({ status }) => status)).toEqual(Array(4).fill('succeeded'));
    expect((await scene.stored('ledger')).map(({ key }) => key.slice(-1)).join('')).toBe('iorioriorior');
  });

  test('[B3c, I6] a node that runs again after a crash gets what is recorded and calls only what is not', async () => {
    let cuts = true;
    const { agent, calls, isCut } = threeCalls({ cut: () => cuts });
    const model = new ScriptedModel(() => 'thought');
    const scene = new Scene({ agent, model });
    void (await scene.begun()).run();
    await isCut;
    cuts = false;
    const thread = await scene.open();

    expect(await thread.run()).toEqual({ end: 'done' });
    expect((await plainState(thread)).results).toEqual(results);
    expect(calls.map(({ tool: name }) => name)).toEqual(['first', 'second', 'third', 'third']);
    expect(model.calls).toHaveLength(1);
  });

  test('[B3c, I6] a completed model call is not made again, whatever the model would say now', async () => {
    let cuts = true;
    const { agent, isCut } = threeCalls({ cut: () => cuts });
    const scene = new Scene({ agent, model: new ScriptedModel(() => 'thought') });
    void (await scene.begun()).run();
    await isCut;
    cuts = false;
    const other = new ScriptedModel(() => 'something else');
    const thread = await scene.open({ model: other });
    await thread.run();

    expect(other.calls).toEqual([]);
    expect((await plainState(thread)).results).toEqual(results);
  });

  test('[B3c] the model that a crash cut off is asked again, with the same key', async () => {
    let isCut = true;
    const model = new ScriptedModel(() => (isCut ? never<string>() : 'thought'));
    const scene = new Scene({ agent: threeCalls().agent, model });
    void (await scene.begun()).run();
    await scene.clock.whenAsleep((ms) => ms === 120_000);
    isCut = false;

    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(model.calls.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(new Set(model.calls.map(({ effectKey }) => effectKey)).size).toBe(1);
  });

  test('[B3a] the same call in another step of a loop has a key of its own', async () => {
    const keys: string[] = [];
    const ping = tool({
      name: 'ping',
      description: 'Pings',
      input: z.object({}),
      effect: 'idempotent',
      run: (_input, { effectKey }) => keys.push(effectKey),
    });
    const agent = defineAgent({
      name: 'pinger',
      version: 1,
      state: { done: log(z.number()) },
      tools: { ping },
      start: 'turn',
      nodes: {
        turn: async ({ done }, { call, all, goto, end }) => {
          await call('ping', {});
          await all([1, 2], (_item, scope) => scope.call('ping', {}));
          await Promise.all([call('ping', {}, { key: 'x' }), call('ping', {}, { key: 'y' })]);
          return done.length < 1 ? goto('turn', { done: [1] }) : end();
        },
      },
    });
    const thread = await new Scene({ agent }).begun();
    await thread.run();
    await thread.send({});
    await thread.run();

    expect(keys).toHaveLength(15);
    expect(new Set(keys).size).toBe(15);
  });

  test('[B3b] a result that cannot be stored is a success on record, and an error for the node on every run', async () => {
    let calls = 0;
    let cuts = 1;
    const isCut = deferred<void>();
    const odd = tool({
      name: 'odd',
      description: 'Odd',
      input: z.object({}),
      effect: 'once',
      run: () => {
        calls += 1;
        return () => 1;
      },
    });
    const wait = tool({
      name: 'wait',
      description: 'Waits',
      input: z.object({}),
      effect: 'idempotent',
      run: () => {
        if (cuts === 0) return 'waited';
        cuts -= 1;
        isCut.resolve();
        return never<string>();
      },
    });
    const agent = defineAgent({
      name: 'odd',
      version: 1,
      state: { seen: log(z.string()) },
      tools: { odd, wait },
      start: 'go',
      nodes: {
        go: async (_state, { call, end }) => {
          const seen = await call('odd', {}).then(
            () => 'nothing',
            (error: { code: string }) => error.code,
          );
          await call('wait', {});
          return end({ seen: [seen] });
        },
      },
    });
    const scene = new Scene({ agent });
    void (await scene.begun()).run();
    await isCut.promise;
    const thread = await scene.open();

    expect(await thread.run()).toEqual({ end: 'done' });
    expect((await plainState(thread)).seen).toEqual(['tool_result_invalid']);
    expect(calls).toBe(1);
    const effect = nth(await thread.effects(), 0);
    expect(effect.status).toBe('succeeded');
    expect(effect.error?.message).toMatch(
      /it has .+ at .+ The call was made, and is on record\. To mend it, .+\. Return plain data\.$/,
    );
  });

  test('[B3a] a call whose input does not fit its schema is refused before anything is recorded', async () => {
    const { tools } = threeCalls().agent;
    const agent = defineAgent({
      name: 'wrong',
      version: 1,
      state: {},
      tools,
      start: 'go',
      nodes: {
        go: async (_state, { call, end }) => {
          await call('first', { text: 7 as unknown as string });
          return end();
        },
      },
    });
    const scene = new Scene({ agent });

    expect(await (await scene.begun()).run()).toMatchObject({ end: 'failed' });
    expect(only(scene.frames('status').filter(({ status }) => status === 'failed')).failure?.code).toBe(
      'tool_input_invalid',
    );
    expect(await scene.stored('ledger')).toEqual([]);
  });
});

describe('the call starts in time', () => {
  test('[B3a] where the intent took too long to become durable, the call is not made and a later one is', async () => {
    const { agent, calls } = threeCalls();
    const scene = new Scene({ agent, model: new ScriptedModel(() => 'thought') });
    await scene.begun();
    const store = scene.world.store();
    let isSlow = true;
    const thread = await scene.open({
      store: withMethods(store, {
        commit: async (groups): Promise<readonly GroupResult[]> => {
          const applied = await store.commit(groups);
          if (isSlow && groups.some(({ records }) => records.some(({ key }) => key === '0000000001.i'))) {
            isSlow = false;
            scene.clock.advance(10_001);
          }
          return applied;
        },
      }),
    });

    expect(await thread.run()).toEqual({ end: 'done' });
    const first = (await thread.effects()).filter(({ name }) => name === 'first');
    expect(first.map(({ attempt, status, error }) => [attempt, status, error?.code])).toEqual([
      [1, 'failed', 'effect_not_started'],
      [2, 'succeeded', undefined],
    ]);
    expect(calls.filter(({ tool: name }) => name === 'first').map(({ call }) => call.attempt)).toEqual([2]);
  });
});
