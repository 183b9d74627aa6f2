/** A version that was not given what the thread needs: its model, a tool, a child agent. The right one goes on. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { LanguageModel, ModelRequest } from '../../src/program/model.ts';
import { tool } from '../../src/program/tool.ts';
import { answer, only, plainState, Scene, ScriptedModel } from './support.ts';

const plain = { description: 'Acts', input: z.object({}), effect: 'once' } as const;
const child = defineAgent({
  name: 'child',
  version: 1,
  state: {},
  start: 'go',
  nodes: { go: (_state, { end }) => end() },
});

/** Sends, asks the model, asks a person, then uses `late` or a child: with what came of it. `without`: what this version lacks. */
function needing(
  without: 'nothing' | 'send' | 'late' | 'children',
  { catches = false, sent = [] }: { catches?: boolean; sent?: string[] } = {},
) {
  const make = (name: string) => tool({ ...plain, name, run: () => void sent.push(name) });
  const tools = { send: make('send'), late: make('late') };
  const left = Object.fromEntries(Object.entries(tools).filter(([name]) => name !== without)) as typeof tools;
  const agent = defineAgent({
    name: 'needing',
    version: 1,
    state: { said: log(z.string()) },
    tools: left,
    agents: without === 'children' ? [] : [child],
    start: 'go',
    nodes: {
      go: async (_state, { call, model, ask, child: start, end }) => {
        const fallback = (error: { code: string }) => {
          if (!catches) throw error;
          return error.code;
        };
        await call('send', {}).catch(fallback);
        const text = await model.text('Well?').catch(fallback);
        await ask('Shall I?');
        await call('late', {}).catch(fallback);
        await start(child, {}).catch(fallback);
        return end({ said: [text] });
      },
    },
  });
  return { agent, sent };
}

const missing: readonly [string, Parameters<typeof needing>[0], boolean, object][] = [
  ['its model', 'nothing', false, { code: 'model_missing' }],
  ['a tool that it has called', 'send', true, { code: 'tool_unknown', details: { tool: 'send', isMissing: true } }],
  ['a tool that it is to call', 'late', true, { code: 'tool_unknown', details: { tool: 'late' } }],
  ['an agent of its children', 'children', true, { code: 'child_unknown' }],
];

describe.each([false, true])('a thread under a version (whose node catches all: %s) that lacks', (catches) => {
  test.each(missing)(
    '[B15a, B15b] %s is blocked, and the right version goes on',
    async (_what, without, hasModel, error) => {
      const model = new ScriptedModel(() => 'ok');
      const full = needing('nothing');
      const scene = new Scene({ agent: full.agent });
      const thread = await scene.open({ model });
      await thread.send({});
      expect(await thread.run()).toEqual({ end: 'waiting' });
      await answer(thread, only(await thread.waits()), { decision: 'reply', value: 'yes' });

      const wrong = await scene.open({
        agent: needing(without, { catches, sent: full.sent }).agent,
        ...(hasModel && { model }),
      });
      expect(await wrong.run()).toMatchObject({ end: 'blocked', error });
      expect((await wrong.row())?.status).not.toBe('failed');

      const right = await scene.open({ model });
      expect(await right.run()).toEqual({ end: 'waiting' }); // for its child
      expect(full.sent).toEqual(['send', 'late']);
      expect(model.calls).toHaveLength(1);
    },
  );
});

/** Answers with a call of this tool. */
function naming(tool: string): LanguageModel {
  return {
    name: 'naming',
    async *stream() {
      yield { type: 'tool_call', call: { callId: '1', tool, input: {} } } as const;
      yield { type: 'finish', usage: { inputTokens: 1, outputTokens: 1 } } as const;
    },
  };
}

describe('a tool that a model names, and the agent does not have,', () => {
  const offer = { name: 'gone', description: 'Acts' };
  function following(tools: ModelRequest['tools']) {
    return defineAgent({
      name: 'following',
      version: 1,
      state: { said: log(z.string()) },
      start: 'ask',
      nodes: {
        ask: async (_state, { model, goto }) => {
          const { toolCalls } = await model.answer({
            messages: [{ role: 'user', text: 'Well?' }],
            ...(tools && { tools }),
          });
          return goto('call', { said: toolCalls.map((call) => call.tool) });
        },
        call: async ({ said }, { call, end }) => {
          const [name = ''] = await said.tail(1);
          return end({
            said: [
              await (call as (name: string, input: object) => Promise<string>)(name, {}).catch((error) => error.code),
            ],
          });
        },
      },
    });
  }

  test('[B15b, B6a] is one that it made up: the node is told, and goes on', async () => {
    const scene = new Scene({ agent: following(undefined), model: naming('invented') });
    const thread = await scene.begun();

    expect(await thread.run()).toEqual({ end: 'done' });
    expect((await plainState(await scene.open())).said).toEqual(['invented', 'tool_unknown']);
  });

  test('[B15b] and that was offered to it is missing: the thread is blocked', async () => {
    const scene = new Scene({ agent: following([offer]), model: naming('gone') });
    const thread = await scene.begun();

    expect(await thread.run()).toMatchObject({ end: 'blocked', error: { code: 'tool_unknown' } });
  });
});
