import { expect, test } from 'vitest';
import * as z from 'zod';
import { log, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool, type Verdict } from '../../src/program/tool.ts';
import { answer, only, Scene } from './support.ts';

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

/** A call that is in doubt at first, and whose undoing fails each time. */
function undoing() {
  const did = { calls: 0, undoings: 0 };
  const send = tool({
    name: 'send',
    description: 'Sends',
    input: z.object({}),
    effect: 'once',
    retry: { backoffMs: [0] },
    run: (): string => {
      did.calls += 1;
      if (did.calls > 1) return 'sent again';
      throw new Error('boom');
    },
    compensate: () => {
      did.undoings += 1;
      throw new Error('no way back');
    },
  });
  const agent = defineAgent({
    name: 'sender',
    version: 1,
    state: { said: value(z.string(), '') },
    tools: { send },
    start: 'go',
    nodes: {
      go: async (_state, { call, end }) =>
        end({ said: await call('send', {}).catch(({ code }: { code: string }) => code) }),
    },
  });
  return { scene: new Scene({ agent }), did };
}

test.each([
  [{ decision: 'done', result: 'as I saw' }, 'as I saw', 1],
  [{ decision: 'not_done' }, 'sent again', 2],
  [{ decision: 'give_up' }, 'effect_given_up', 1],
] as const)(
  '[B4e, B4f] where a call in doubt cannot be undone a person is asked, and $0.decision counts',
  async (given, said, calls) => {
    const { scene, did } = undoing();
    expect(await (await scene.begun()).run()).toEqual({ end: 'waiting' });
    const thread = await scene.open();
    const wait = only(await thread.waits());
    expect(wait).toMatchObject({ kind: 'in_doubt', tool: 'send' });
    expect(wait.reason).toBe(
      'Attempt 1 ended without a clear answer (boom): it may have happened or not. It was to be undone, and its compensate failed: no way back. It may be undone or not. Look it up before you answer.',
    );
    await answer(thread, wait, given);

    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(await (await scene.open()).state()).toEqual({ said });
    expect(did).toEqual({ calls, undoings: 3 });
  },
);

test('[B4e, B12c] what a person says of a call that could not be undone is what going back is told', async () => {
  const { scene, did } = undoing();
  await (await scene.begun()).run();
  const thread = await scene.open();
  await answer(thread, only(await thread.waits()), { decision: 'done', result: 'as I saw' });
  await thread.run();
  const [call] = (await thread.effects()).filter(({ kind }) => kind === 'tool');
  expect(call?.status).toBe('succeeded');
  const began = (await thread.checkpoints()).at(-1)?.id;
  if (began === undefined || call === undefined) throw new Error('nothing to go back to');
  await thread.rollBack(began, { effects: { [call.key]: 'reuse' } });

  expect(await thread.run()).toEqual({ end: 'done' });
  expect(await thread.state()).toEqual({ said: 'as I saw' });
  expect(did.calls).toBe(1);
});
