import { describe, expect, test } from 'vitest';
import type { WaitAnswer } from '../../src/model/wait.ts';
import { Life } from '../../src/testing/cutting-store.ts';
import { askingAgent } from './asking-agent.ts';
import { answer, head, nth, only, plainState, Scene } from './support.ts';

async function waiting(asking: Parameters<typeof askingAgent>[0] = {}) {
  const { agent, sent, noted } = askingAgent(asking);
  const scene = new Scene({ agent });
  const thread = await scene.begun();
  expect(await thread.run()).toEqual({ end: 'waiting' });
  return { scene, thread, sent, noted };
}

/** What the thread comes to when its one wait is answered after a restart. */
async function answered(given: WaitAnswer, edit: Parameters<typeof askingAgent>[0] = {}) {
  const { scene, sent, noted } = await waiting(edit);
  const thread = await scene.open();
  await answer(thread, only(await thread.waits()), given);
  const end = await (await scene.open()).run();
  return { end, sent, noted, log: (await plainState(thread)).log };
}

describe('an approval', () => {
  test('[B9a, I1] the full snapshot and the wait are stored before the run ends, and nothing was called', async () => {
    const { scene, sent } = await waiting();
    const { kind, cause, control } = await head(await scene.open());

    expect({ kind, cause, status: control.status }).toEqual({ kind: 'snapshot', cause: 'wait', status: 'waiting' });
    expect((await scene.stored('waits')).map(({ key }) => key)).toEqual(control.waits.map((id) => `w:${id}`));
    expect(sent).toEqual([]);
  });

  test('[B9d] shows tool, arguments and why, and which call it is for', async () => {
    const { scene, thread } = await waiting();
    const wait = only(await thread.waits());

    expect(wait).toMatchObject({
      kind: 'approval',
      tool: 'send',
      args: { to: 'ann', note: 'hello' },
      reason: 'ann waits for it',
      openedAtMs: scene.clock.nowMs(),
      expiresAtMs: null,
    });
    await answer(thread, wait, { decision: 'allow' });
    await thread.run();
    expect(nth(await thread.effects(), -1).key).toBe(wait.effectKey);
  });

  test('[B9d, B9b] allowed: the call is made once, with what was shown', async () => {
    expect(await answered({ decision: 'allow' })).toEqual({
      end: { end: 'done' },
      sent: ['ann: hello'],
      noted: ['hello'],
      log: ['ann'],
    });
  });

  test('[B9d] denied: the call is not made, and the node is told', async () => {
    expect(await answered({ decision: 'deny', reason: 'not now' })).toMatchObject({
      end: { end: 'done' },
      sent: [],
      log: ['tool_denied'],
    });
  });

  test('[B9d] edited: the call is made with the edited arguments', async () => {
    expect(await answered({ decision: 'allow', args: { to: 'bob', note: 'hi' } })).toMatchObject({
      end: { end: 'done' },
      sent: ['bob: hi'],
      log: ['bob'],
    });
  });

  test('[B9d] edited to what the tool would refuse: the answer is refused and the wait stays open', async () => {
    const { scene, thread } = await waiting();
    const wait = only(await thread.waits());

    await expect(answer(thread, wait, { decision: 'allow', args: { to: 7 } })).rejects.toMatchObject({
      code: 'tool_input_invalid',
    });
    expect(await thread.waits()).toHaveLength(1);
    await answer(thread, wait, { decision: 'allow' });
    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
  });

  test('[B9c, B3c] the node does not repeat what it did before its wait', async () => {
    const { noted } = await answered({ decision: 'allow' });
    expect(noted).toEqual(['hello']);
  });

  test('[B9c] an answered wait is not asked again when a crash follows', async () => {
    const { scene, thread, sent } = await waiting();
    await answer(thread, only(await thread.waits()), { decision: 'deny' });
    for (const at of [7, 9, 11]) {
      const { thread: dying, life } = await scene.mortal({}, new Life({ at, side: 'after' }));
      void dying.run();
      await life.death;
    }
    const last = await scene.open();

    expect(await last.run()).toEqual({ end: 'done' });
    expect(sent).toEqual([]);
    expect(scene.frames('wait')).toHaveLength(1);
  });

  test('[B9e] allowed for the thread: later calls of the tool are not asked for, also after a restart', async () => {
    const { scene, thread, sent } = await waiting();
    await answer(thread, only(await thread.waits()), { decision: 'allow', forThread: true });
    expect(await thread.run()).toEqual({ end: 'done' });
    const again = await scene.open();
    await again.send({});

    expect(await again.run()).toEqual({ end: 'done' });
    expect(sent).toEqual(['ann: hello', 'ann: hello']);
    expect((await head(again)).control.grants).toEqual(['send']);
  });

  test('[B9e] expired: the call is not made, the node is told, and nobody can answer any more', async () => {
    const { scene, thread, sent } = await waiting({ expiresMs: 60_000 });
    expect((await thread.row())?.wakeUpAtMs).toBe(scene.clock.nowMs() + 60_000);
    const wait = only(await thread.waits());
    scene.clock.advance(59_999);
    expect(await (await scene.open()).run()).toEqual({ end: 'waiting' });
    scene.clock.advance(1);

    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(sent).toEqual([]);
    expect((await plainState(thread)).log).toEqual(['approval_expired']);
    expect((await thread.row())?.wakeUpAtMs).toBeNull();
    await expect(answer(thread, wait, { decision: 'allow' })).rejects.toMatchObject({
      code: 'wait_closed',
      details: { winner: 'expired' },
    });
  });

  test('[B9e] an answer in time wins over the expiry, however late the thread runs', async () => {
    const { scene, thread, sent } = await waiting({ expiresMs: 60_000 });
    await answer(thread, only(await thread.waits()), { decision: 'allow' });
    scene.clock.advance(1_000_000);

    expect(await (await scene.open()).run()).toEqual({ end: 'done' });
    expect(sent).toEqual(['ann: hello']);
  });

  test('[B9e] a time that has passed does not wake the thread again while another wait is open', async () => {
    const { scene, thread } = await waiting({ expiresMs: 60_000, to: ['ann', 'bob'] });
    await answer(thread, nth(await thread.waits(), 0), { decision: 'deny' });
    scene.clock.advance(10);
    expect(await thread.run()).toEqual({ end: 'waiting' });
    expect((await thread.row())?.wakeUpAtMs).toBe(scene.clock.nowMs() + 59_990);
    scene.clock.advance(59_990);

    expect(await thread.run()).toEqual({ end: 'done' });
    expect((await thread.row())?.wakeUpAtMs).toBeNull();
  });
});
