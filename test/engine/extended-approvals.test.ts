import { expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { answer, only, plainState, Scene } from './support.ts';

test('[B9d, B7e, B2b] an approval of a child that ended at its step limit is asked for anew when it is extended: nobody has denied it', async () => {
  const state = { said: log(z.string()) };
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: z.object({}),
    effect: 'once',
    approval: 'always',
    run: () => 'paid',
  });
  const child = defineAgent({
    name: 'child',
    version: 1,
    state,
    tools: { pay },
    maxSteps: 3,
    start: 'go',
    nodes: {
      go: (_state, { parallel }) => parallel(['pays', 'works'], { join: 'ends' }),
      pays: {
        retry: { attempts: 1 },
        run: async (_state, { call, end }) =>
          end({ said: [await call('pay', {}).catch((error: { code: string }) => error.code)] }),
      },
      works: (_state, { goto }) => goto('more'),
      more: (_state, { goto }) => goto('last'),
      last: (_state, { end }) => end(),
      ends: (_state, { end }) => end(),
    },
  });
  const agent = defineAgent({
    name: 'parent',
    version: 1,
    state,
    agents: [child],
    start: 'go',
    nodes: { go: async (_state, { child: start, end }) => end({ said: [(await start(child, {})).status] }) },
  });
  const engine = await new Scene({ agent }).world.engine({ agent });
  await engine.thread('parent').send({});
  await engine.thread('parent').run();
  const entries = await engine.threads(9, { children: true });
  const kid = engine.thread(entries.find(({ row }) => row.agent === 'child')?.id ?? '');
  expect(await kid.run()).toMatchObject({ end: 'failed', failure: { code: 'step_limit' } });
  await kid.extend({ steps: 20 });

  expect(await kid.run()).toEqual({ end: 'waiting' });
  await answer(kid, only(await kid.waits()), { decision: 'allow' });
  expect(await kid.run()).toEqual({ end: 'done' });
  expect((await plainState(kid)).said).toEqual(['paid']);
});
