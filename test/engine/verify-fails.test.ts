import { expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool, type Verdict } from '../../src/program/tool.ts';
import { only, Scene } from './support.ts';

function sending(verify: () => Verdict<string>): Scene {
  const send = tool({
    name: 'send',
    description: 'Sends',
    input: z.object({}),
    effect: 'once',
    retry: { backoffMs: [0] },
    run: (): string => {
      throw new Error('boom');
    },
    verify,
  });
  const agent = defineAgent({
    name: 'sender',
    version: 1,
    state: { said: log(z.string()) },
    tools: { send },
    start: 'go',
    nodes: { go: async (_state, { call, end }) => end({ said: [await call('send', {})] }) },
  });
  return new Scene({ agent });
}

test.each([
  [
    () => {
      throw new Error('no list');
    },
    'Its verify failed: no list.',
  ],
  [() => 'yes' as never, 'Its verify failed: it answered something else than done(…), notDone(…) or unknown.'],
  [() => null as never, 'Its verify failed: it answered something else than done(…), notDone(…) or unknown.'],
])('[B4d, B4f] a person who is asked about a call in doubt reads how its verify failed (%#)', async (verify, told) => {
  const scene = sending(verify);

  expect(await (await scene.begun()).run()).toEqual({ end: 'waiting' });
  expect(only(await (await scene.open()).waits()).reason).toBe(
    `Attempt 1 ended without a clear answer (boom): it may have happened or not. ${told} Look it up before you answer.`,
  );
});
