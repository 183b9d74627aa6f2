import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { PolicyTable } from '../../src/program/policy.ts';
import { Refusal, tool } from '../../src/program/tool.ts';
import { type Context, decisions, said, working } from './policy-agent.ts';
import { head, ScriptedModel } from './support.ts';

describe('a call that failed for good', () => {
  const broken = tool({
    name: 'broken',
    description: 'Fails',
    input: z.object({ q: z.string() }),
    effect: 'read',
    retry: { attempts: 1 },
    run: () => Promise.reject(new Error('down')),
  });
  const spare = tool({
    name: 'spare',
    description: 'Works',
    input: z.object({ q: z.string() }),
    effect: 'read',
    run: ({ q }) => `spare ${q}`,
  });
  const call = ({ call: make }: Context) => make('broken', { q: 'x' }) as Promise<string>;

  test('[B8b] is made by another tool, with the same arguments', async () => {
    const policy: PolicyTable = [{ tool: 'broken', action: 'use_tool', use: 'spare' }];
    const scene = working(policy, call, { tools: { broken, spare } });

    expect(await (await scene.begun()).run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['spare x', 'after']);
    expect(await decisions(scene)).toMatchObject([
      { rule: 1, action: 'use_tool', tool: 'broken', code: 'effect_failed' },
    ]);
  });

  test('[B6b] gets a default value', async () => {
    const policy: PolicyTable = [{ tool: 'broken', action: 'value', value: 'nothing found' }];
    const scene = working(policy, call, { tools: { broken, spare } });

    expect(await (await scene.begun()).run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['nothing found', 'after']);
  });

  test('[B6a] of a model is made with another model, and the next one if that fails too', async () => {
    const dead = (name: string) => new ScriptedModel(() => Promise.reject(new Error(`${name} is down`)), name);
    const policy: PolicyTable = [
      { action: 'use_model', use: 'second' },
      { action: 'use_model', use: 'third' },
    ];
    const scene = working(policy, ({ model }) => model.text('hi'), {
      model: dead('first'),
      models: { second: dead('second'), third: new ScriptedModel(() => 'hello', 'third') },
    });
    const running = (await scene.begun()).run();
    for (const _ of [1, 2]) {
      await scene.passes(500, 2_000);
      await scene.passes(4_000, 6_000);
    }

    expect(await running).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual(['hello', 'after']);
  });

  test('[B6a] with a model that is not there says which there are', async () => {
    const model = new ScriptedModel(() => Promise.reject(new Refusal('no', { retry: false })), 'first');
    const scene = working([{ action: 'use_model', use: 'other' }], ({ model: ask }) => ask.text('hi'), {
      model,
      models: { spare: model },
    });

    expect(await (await scene.begun()).run()).toMatchObject({ end: 'failed' });
    expect((await head(await scene.open())).control.failure).toMatchObject({
      code: 'model_unknown',
      details: { model: 'other', known: '"spare"' },
    });
  });

  const mute = () => new ScriptedModel(() => Promise.reject(new Refusal('down', { retry: false })));
  const whole = { text: 'whole', toolCalls: [], usage: { inputTokens: 1, outputTokens: 2 } };

  test.each<[string, unknown, (context: Context) => Promise<string>, string]>([
    ['text', 'five', ({ model }) => model.text('hi'), 'five'],
    ['text', whole, ({ model }) => model.text('hi'), 'whole'],
    ['text', { text: 'five' }, ({ model }) => model.text('hi'), 'five'],
    ['object', { a: 1 }, async ({ model }) => `${(await model.object(z.object({ a: z.number() }), 'hi')).a}`, '1'],
    ['object', 'five', ({ model }) => model.object(z.string(), 'hi'), 'five'],
    [
      'answer',
      'five',
      async ({ model }) => JSON.stringify(await model.answer({ messages: [{ role: 'user', text: 'hi' }] })),
      '{"text":"five","toolCalls":[],"usage":{"inputTokens":0,"outputTokens":0}}',
    ],
  ])('[B6b, A2a] of model.%s gets what the rule has as its value (%#)', async (_call, value, work, expected) => {
    const scene = working([{ action: 'value', value }], work, { model: mute() });

    expect(await (await scene.begun()).run()).toEqual({ end: 'done' });
    expect(await said(scene)).toEqual([expected, 'after']);
  });

  test.each<[unknown, string]>([
    [5, '5, which is no text'],
    [null, 'null, which is no text'],
    [{ a: 1 }, '{"a":1}, which is no text'],
  ])('[B6b] of model.text is refused the value %j, with what it needs', async (value, problem) => {
    const scene = working([{ action: 'value', value }], ({ model }) => model.text('hi'), { model: mute() });

    expect(await (await scene.begun()).run()).toMatchObject({
      end: 'failed',
      failure: { code: 'agent_invalid', details: { problem: expect.stringContaining(problem) } },
    });
  });

  test('[B6b] of model.object is told where the value does not fit the schema, or has no form in JSON', async () => {
    for (const [value, code] of [
      [{ a: 'x' }, 'model_output_invalid'],
      [{ a: 1n }, 'agent_invalid'],
    ] as const) {
      const work = async ({ model }: Context) => String((await model.object(z.object({ a: z.number() }), 'hi')).a);
      const scene = working([{ action: 'value', value }], work, { model: mute() });
      expect(await (await scene.begun()).run()).toMatchObject({ end: 'failed', failure: { code } });
    }
  });
});
