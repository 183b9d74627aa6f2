import { describe, expect, test } from 'vitest';
import { askingAgent } from './asking-agent.ts';
import { answer, head, only, plainState, Scene, withMethods } from './support.ts';
import { beforeNode, choices, TravelWorld } from './travel-agent.ts';

describe('editing the state', () => {
  test('[B12d] goes through reducers and logs, as a checkpoint of its own after the head', async () => {
    const thread = await new TravelWorld().done();
    const was = await head(thread);
    const made = await thread.edit({ round: 10, notes: ['edited'] }, { reason: 'test' });

    expect(await head(thread)).toMatchObject({ id: made, parent: was.id, cause: 'edited' });
    expect(await plainState(thread)).toMatchObject({ round: 11, notes: { length: 5, 4: 'edited' } });
    expect((await thread.inspect(made)).events).toMatchObject([{ type: 'edited', details: { reason: 'test' } }]);
    expect((await head(thread)).control.status).toBe('done');
  });

  test('[B12d] the step that is scheduled runs with the edited state', async () => {
    const world = new TravelWorld();
    const thread = await world.done();
    const target = await beforeNode(thread, 'mail');
    await thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'redo') });
    await thread.edit({ name: 'bob' });
    await thread.run();

    expect(world.sent.at(-1)).toBe('bob: thought of mail to ann');
  });

  test('[B12d] recorded calls of a step that is open need a choice', async () => {
    const world = new TravelWorld();
    world.onSend = () => new Promise(() => undefined);
    const thread = await world.scene.begun({ name: 'ann' });
    const run = thread.run();
    await world.scene.clock.whenAsleep((ms) => ms === 60_000);
    const effects = await choices(thread.edit({ name: 'bob' }), () => 'redo');
    expect(Object.keys(effects)).toHaveLength(1);
    await thread.edit({ name: 'bob' }, { effects });
    world.onSend = () => undefined;

    expect(await run).toEqual({ end: 'stopped' });
    expect(await thread.run()).toEqual({ end: 'done' });
    expect(world.sent).toEqual(['bob: thought of mail to ann']);
  });

  test('[B12d] waits of the open step are closed as cancelled, and asked anew by the step that takes its place', async () => {
    const { agent, sent } = askingAgent({ to: ['ann'] });
    const scene = new Scene({ agent });
    const thread = await scene.begun();
    expect(await thread.run()).toEqual({ end: 'waiting' });
    const old = only(await thread.waits());
    await thread.edit({ log: ['looked'] }, { effects: await choices(thread.edit({}), () => 'reuse') });

    expect(await thread.waits()).toEqual([]);
    await expect(answer(thread, old, { decision: 'allow' })).rejects.toMatchObject({
      code: 'wait_closed',
      details: { winner: 'cancelled' },
    });
    expect(await thread.run()).toEqual({ end: 'waiting' });
    await answer(thread, only(await thread.waits()), { decision: 'allow' });
    expect(await thread.run()).toEqual({ end: 'done' });
    expect(sent).toHaveLength(1);
  });

  test('[B12d] an answer that comes while the thread goes back is not overwritten', async () => {
    const { agent } = askingAgent({ to: ['ann'] });
    const scene = new Scene({ agent });
    const thread = await scene.begun();
    await thread.run();
    const wait = only(await thread.waits());
    const effects = await choices(thread.edit({}), () => 'reuse');
    const store = scene.world.store();
    let isFirst = true;
    const late = await scene.open({
      store: withMethods(store, {
        commit: async (groups) => {
          if (isFirst) await answer(thread, wait, { decision: 'deny', reason: 'no' });
          isFirst = false;
          return store.commit(groups);
        },
      }),
    });
    await late.edit({ log: ['looked'] }, { effects });

    await expect(answer(thread, wait, { decision: 'allow' })).rejects.toMatchObject({ details: { winner: 'deny' } });
    expect((await head(thread)).cause).toBe('edited');
  });

  test.each([
    [{ round: 'many' }, 'state_invalid'],
    [{ other: 1 }, 'field_unknown'],
    [{ notes: [1] }, 'state_invalid'],
    [{ facts: { run: () => 1 } }, 'value_not_storable'],
    [null, 'state_invalid'],
    [[], 'state_invalid'],
  ])('[B12d] what does not fit is refused, and nothing changes: %j', async (update, code) => {
    const thread = await new TravelWorld().done();
    const [row, list] = [await thread.row(), await thread.checkpoints()];

    await expect(thread.edit(update as object)).rejects.toMatchObject({ code });
    expect([await thread.row(), await thread.checkpoints()]).toEqual([row, list]);
  });

  test('[B12d] a thread without a checkpoint cannot be edited', async () => {
    const thread = await new TravelWorld().scene.begun();
    await expect(thread.edit({ name: 'bob' })).rejects.toMatchObject({ code: 'thread_empty' });
  });
});
