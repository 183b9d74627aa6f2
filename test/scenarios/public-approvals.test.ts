/** Approvals, as people reported them of other projects (FIELD-NOTES, the last section): each story told to its end. */
import { describe, expect, test } from 'vitest';
import { answer, head, nth, only, plainState, quiet, Scene } from '../engine/support.ts';
import { cashier, type Story } from './chat-agent.ts';

/** A thread that waits for leave to charge. */
async function asked(story: Story = {}) {
  const { agent, charged, desk } = cashier(story);
  const scene = new Scene({ agent });
  await scene.begun();
  expect(await (await scene.open()).run()).toEqual({ end: 'waiting' });
  return { scene, charged, desk };
}

test('[B9a] an approval is there after a reload, as reported gone for CopilotKit 1397 and Mastra 14931', async () => {
  const { scene, charged } = await asked();
  const before = only(await (await scene.open()).waits());
  const reloaded = await scene.open();
  const after = only(await reloaded.waits());

  expect(after).toEqual(before);
  expect(after).toMatchObject({ kind: 'approval', tool: 'charge', args: { who: 'ann', euros: 3 } });
  await answer(reloaded, after, { decision: 'allow' });
  expect(await reloaded.run()).toEqual({ end: 'done' });
  expect(charged).toEqual(['ann 3']);
});

test('[B9b, B9c] an approved run does not interrupt again after each restart, as reported for OpenAI agents 4244', async () => {
  const { scene, charged, desk } = await asked();
  const thread = await scene.open();
  await answer(thread, only(await thread.waits()), { decision: 'allow' });
  desk.isHeld = true;
  for (let restart = 0; restart < 3; restart += 1) {
    const { thread: cut, life } = await scene.mortal();
    void cut.run();
    await quiet();
    life.end();
    expect(await (await scene.open()).waits()).toEqual([]);
  }
  desk.isHeld = false;

  expect(await (await scene.open()).run()).toEqual({ end: 'done' });
  expect(charged).toEqual(['ann 3']);
  expect(new Set(scene.frames('wait').map(({ wait }) => wait.id)).size).toBe(1);
});

describe('what was approved is what is executed, reported otherwise for extra 139:', () => {
  test('[B9d, I6] arguments that changed after the approval are not executed; both sides are shown', async () => {
    let who = 'ann';
    const { scene, charged } = await asked({ to: () => [who] });
    const thread = await scene.open();
    await answer(thread, only(await thread.waits()), { decision: 'allow' });
    who = 'eve';
    const end = await (await scene.open()).run();

    expect(end).toMatchObject({ end: 'blocked', error: { code: 'replay_mismatch' } });
    expect(charged).toEqual([]);
  });

  test('[B9d] arguments that a person edited are the ones that are executed', async () => {
    const { scene, charged } = await asked();
    const thread = await scene.open();
    await answer(thread, only(await thread.waits()), { decision: 'allow', args: { who: 'ann', euros: 1 } });

    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(charged).toEqual(['ann 1']);
  });
});

describe('answers to parallel approvals, reported swapped for LangGraph 6626:', () => {
  test('[B9b, B9d] each goes to its own call, in whatever order and from whatever tab they come', async () => {
    const { scene, charged } = await asked({ to: () => ['ann', 'bob', 'carl'] });
    const decide = { ann: 'deny', bob: 'allow', carl: 'deny' } as const;
    const waits = await (await scene.open()).waits();
    for (const wait of [...waits].reverse()) {
      const { who } = wait.args as { who: keyof typeof decide };
      await answer(await scene.open(), wait, { decision: decide[who] });
    }
    const thread = await scene.open();

    expect(await thread.run()).toEqual({ end: 'done' });
    expect(charged).toEqual(['bob 3']);
    expect(await plainState(thread)).toEqual({ said: ['not ann', 'charged bob 3', 'not carl', 'reported'] });
  });

  test('[B9b, B9d] one that was given for another call is refused, and decides nothing', async () => {
    const { scene } = await asked({ to: () => ['ann', 'carl'] });
    const thread = await scene.open();
    const waits = await thread.waits();
    const [first, second] = [nth(waits, 0), nth(waits, 1)];

    await expect(thread.answer(first.id, second.digest, { decision: 'allow' })).rejects.toMatchObject({
      code: 'answer_mismatch',
    });
    expect(await thread.waits()).toEqual(waits);
  });
});

test('[B9d, B1a] a denial does not stall the chat, as reported for AI SDK 13670: the run ends and the next message works', async () => {
  const { scene, charged } = await asked();
  const thread = await scene.open();
  await answer(thread, only(await thread.waits()), { decision: 'deny', reason: 'too much' });

  expect(await thread.run()).toEqual({ end: 'done' });
  await thread.send({});
  expect(await thread.run()).toEqual({ end: 'waiting' });
  await answer(thread, only(await thread.waits()), { decision: 'allow' });
  expect(await thread.run()).toEqual({ end: 'done' });
  expect(charged).toEqual(['ann 3']);
  expect(await plainState(thread)).toEqual({ said: ['not ann', 'reported', 'charged ann 3', 'reported'] });
  expect((await head(thread)).control.waits).toEqual([]);
});
