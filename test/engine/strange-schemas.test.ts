/** Schemas that throw, or answer later: the program's fault, told as it is, and nobody is asked for ever. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { Checkpointer } from '../../src/checkpointer/checkpointer.ts';
import { value } from '../../src/model/fields.ts';
import type { Schema } from '../../src/model/schema.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { NodeContext } from '../../src/program/node-context.ts';
import { type Tools, tool } from '../../src/program/tool.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { answer, only, Scene, ScriptedModel } from './support.ts';

const boom = (): never => {
  throw new Error('boom');
};
const plain = (validate: () => never | Promise<never>): Schema<unknown, string> => ({
  '~standard': { version: 1, vendor: 'test', validate },
});
const later = 'its schema is asynchronous; use one that answers at once';
const threw = 'its schema threw Error: boom';

const schemas: readonly [string, Schema<unknown, string>, string][] = [
  ['a transform that throws', z.string().transform(boom), threw],
  ['a refinement that throws', z.string().refine(boom), threw],
  ['a validate that throws', plain(boom), threw],
  ['a refinement that answers later', z.string().refine(async () => true), later],
  ['a validate that rejects', plain(() => Promise.reject(new Error('boom'))), later],
];

function doing(
  work: (context: NodeContext<{ word: ReturnType<typeof field> }, Tools, 'go'>) => unknown,
  schema?: Schema<unknown, string>,
) {
  const use = tool({ name: 'use', description: 'Uses', input: schema ?? z.string(), effect: 'read', run: () => 1 });
  const agent = defineAgent({
    name: 'odd',
    version: 1,
    state: { word: field(schema) },
    tools: { use } as Tools,
    start: 'go',
    nodes: { go: async (_state, context) => ((await work(context as never)) as never) ?? context.end() },
  });
  return new Scene({ agent, model: new ScriptedModel(() => '"x"') });
}

const field = (schema: Schema<unknown, string> = z.string()) => value(schema, '');

describe.each(schemas)('%s', (_name, schema, problem) => {
  test('[B9c] of a question fails its step, and nobody is asked again', async () => {
    const scene = doing(({ ask }) => ask('well?', { answer: schema }));
    const thread = await scene.begun();
    await thread.run();
    await answer(thread, only(await thread.waits()), { decision: 'reply', value: 'x' });

    expect(await thread.run()).toMatchObject({
      end: 'failed',
      failure: { code: 'argument_invalid', details: { problem: expect.stringContaining(problem) } },
    });
    expect(await thread.waits()).toEqual([]);
  });

  test('[A7e] of a field is told by send, by an update, and by a checkpointer', async () => {
    const refused = { code: 'state_invalid', details: { field: 'word', problem } };
    const scene = doing(({ end }) => end({ word: 'x' }), schema);
    const thread = await scene.open();
    await expect(thread.send({ word: 'x' })).rejects.toMatchObject(refused);
    await thread.send({});
    expect(await thread.run()).toMatchObject({ end: 'failed', failure: refused });

    const saver = new Checkpointer<{ word: string }>(await new TestWorld().ports(), {
      fields: { word: field(schema) },
    });
    await expect(saver.save('t', { word: 'x' })).rejects.toMatchObject(refused);
  });

  test("[B2a] of a tool, a model's answer or an event is told as it is", async () => {
    const failing = async (scene: Scene) => {
      const thread = await scene.begun();
      await thread.signal('word', 'x');
      return thread.run();
    };
    const told = (code: string) => ({ failure: { code, details: { problem } } });
    expect(await failing(doing(({ call }) => call('use', 'x' as never), schema))).toMatchObject(
      told('tool_input_invalid'),
    );
    expect(await failing(doing(({ model }) => model.object(schema, 'q')))).toMatchObject(told('model_output_invalid'));
    expect(await failing(doing(({ waitFor }) => waitFor('word', { value: schema })))).toMatchObject(
      told('event_invalid'),
    );
  });
});
