/** What a person said of a call, or was asked, counts also for code whose approval rule does not ask any more. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import type { WaitAnswer } from '../../src/model/wait.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { type Tool, tool } from '../../src/program/tool.ts';
import { answer, only, plainState, Scene } from './support.ts';

type Rule = Tool['approval'];

function mailer(version: number, approval: Rule, sent: string[]) {
  const mail = tool({
    name: 'mail',
    description: 'Sends a mail',
    input: z.object({ to: z.string() }),
    effect: 'once',
    approvalExpiresMs: 60_000,
    ...(approval !== undefined && { approval }),
    run: ({ to }) => {
      sent.push(to);
      return to;
    },
  });
  return defineAgent({
    name: 'mailer',
    version,
    state: { log: log(z.unknown()) },
    tools: { mail },
    start: 'go',
    nodes: {
      go: async (_state, { call, ask, end }) => {
        const came = await call('mail', { to: 'ann' }).catch((error: { code: string }) => error.code);
        return end({ log: [came, await ask('And now?')] });
      },
    },
  });
}

/** An approval that was asked for; then the rule changes. */
async function asked(later: Rule) {
  const sent: string[] = [];
  const scene = new Scene({ agent: mailer(1, 'always', sent) });
  const thread = await scene.begun();
  expect(await thread.run()).toEqual({ end: 'waiting' });
  const newer = () => scene.open({ agent: mailer(2, later, sent) });
  return { scene, thread, sent, newer };
}

const rules: readonly [string, Rule][] = [
  ['says "never"', 'never'],
  ['is gone', undefined],
  ['is a function that says no by now', () => false],
];

describe.each(rules)('an approval on record, where the rule of newer code %s', (_name, rule) => {
  const answers: readonly [string, WaitAnswer, string, readonly string[]][] = [
    ['denied: the call is not made', { decision: 'deny', reason: 'no' }, 'tool_denied', []],
    ['edited: the edited call is made', { decision: 'allow', args: { to: 'bob' } }, 'bob', ['bob']],
    ['allowed: the call is made once', { decision: 'allow' }, 'ann', ['ann']],
  ];
  test.each(answers)('[B9d, B9e, B15b] %s', async (_what, given, came, made) => {
    const { thread, sent, newer } = await asked(rule);
    await answer(thread, only(await thread.waits()), given);

    expect(await (await newer()).run()).toEqual({ end: 'waiting' });
    const again = await newer(); // the node runs once more, with what is on record
    await answer(again, only(await again.waits()), { decision: 'reply', value: 'end' });
    expect(await (await newer()).run()).toEqual({ end: 'done' });
    expect(sent).toEqual(made);
    expect((await plainState(await newer())).log).toEqual([came, 'end']);
  });

  test('[B9e, B15b] expired: the call is not made', async () => {
    const { scene, sent, newer } = await asked(rule);
    scene.clock.advance(60_000);

    expect(await (await newer()).run()).toEqual({ end: 'waiting' });
    expect(sent).toEqual([]);
  });

  test('[B9b, B15b] open: the call goes on waiting for it', async () => {
    const { thread, sent, newer } = await asked(rule);

    expect(await (await newer()).run()).toEqual({ end: 'waiting' });
    expect(sent).toEqual([]);
    expect(only(await (await newer()).waits())).toMatchObject({ kind: 'approval', tool: 'mail' });
    await answer(thread, only(await thread.waits()), { decision: 'deny' });
    await (await newer()).run();
    expect(sent).toEqual([]);
  });

  test('[B9e, A11d] denied, and a repair falls back to before the question: the call is not made', async () => {
    const { scene, thread, sent, newer } = await asked(rule);
    await answer(thread, only(await thread.waits()), { decision: 'deny' });
    const last = (await scene.stored('checkpoints')).map(({ key }) => key).at(-1);
    scene.damage('checkpoints', (key) => key === last);

    expect(await (await newer()).run()).toEqual({ end: 'waiting' });
    expect(sent).toEqual([]);
  });
});

test('[B9e] a rule that says no only on a later run, in the same engine, does not undo a denial', async () => {
  const sent: string[] = [];
  let isAsking = true;
  const scene = new Scene({ agent: mailer(1, () => isAsking, sent) });
  const thread = await scene.begun();
  await thread.run();
  await answer(thread, only(await thread.waits()), { decision: 'deny' });
  isAsking = false;

  expect(await thread.run()).toEqual({ end: 'waiting' });
  expect(sent).toEqual([]);
});
