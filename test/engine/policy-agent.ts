/** What the tests of policies share: an agent with one node that does as the test says. */
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import type { NodeContext } from '../../src/program/node-context.ts';
import type { PolicyTable } from '../../src/program/policy.ts';
import type { Tools } from '../../src/program/tool.ts';
import { eventsOf } from './events.ts';
import { plainState, Scene, type ScriptedModel } from './support.ts';

export const state = { said: log(z.string()) };
export type Context = NodeContext<typeof state, Tools, 'work' | 'after'>;

/** An agent whose node `work` does this, once by itself, and goes on to `after`. */
export function working(
  policy: PolicyTable,
  work: (context: Context) => Promise<string> | string,
  { tools = {}, model, models }: { tools?: Tools; model?: ScriptedModel; models?: Record<string, ScriptedModel> } = {},
): Scene {
  const agent = defineAgent({
    name: 'worker',
    version: 1,
    state,
    tools,
    policy,
    start: 'work',
    nodes: {
      work: { retry: { attempts: 1 }, run: async (_state, context) => context.update({ said: [await work(context)] }) },
      after: (_state, { end }) => end({ said: ['after'] }),
    },
    edges: { work: 'after' },
  });
  return new Scene({ agent, ...(model && { model }), ...(models && { models }) });
}

export const said = async (scene: Scene) => (await plainState(await scene.open())).said;
export const decisions = async (scene: Scene) =>
  (await eventsOf(scene)).filter(({ type }) => type === 'policy').map(({ details }) => details);

/** Fails as often as it is told, then says how often. */
export function failing(times: number, error: () => Error): () => string {
  let calls = 0;
  return () => {
    calls += 1;
    if (calls <= times) throw error();
    return `after ${times}`;
  };
}

export const offline = () => Object.assign(new TypeError('Failed to fetch'));
