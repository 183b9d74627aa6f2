import { describe, expect, test } from 'vitest';
import { eventsOf } from './events.ts';
import { head, nth, only, plainState, quiet } from './support.ts';
import { beforeNode, choices, TravelWorld } from './travel-agent.ts';

describe('rolling back', () => {
  test('[B12c] without the choices it needs it names each effect, and changes nothing', async () => {
    const world = new TravelWorld();
    const thread = await world.done();
    const [row, list] = [await thread.row(), await thread.checkpoints()];

    await expect(thread.rollBack(await beforeNode(thread, 'mail'))).rejects.toMatchObject({
      code: 'choice_needed',
      details: {
        effects: [
          {
            name: 'send',
            effectClass: 'once',
            status: 'succeeded',
            args: { to: 'ann', text: 'thought of mail to ann' },
          },
          { name: 'post', effectClass: 'idempotent', status: 'succeeded', args: { n: 1 } },
        ],
      },
    });
    expect(await thread.row()).toEqual(row);
    expect(await thread.checkpoints()).toEqual(list);
  });

  test('[B12c, B12a] it makes a new checkpoint with the state of the target, which is its parent', async () => {
    const world = new TravelWorld();
    const thread = await world.done();
    const target = await beforeNode(thread, 'mail');
    const effects = await choices(thread.rollBack(target), () => 'redo');
    const made = await thread.rollBack(target, { effects });

    expect(await head(thread)).toMatchObject({ id: made, parent: target, cause: 'rolled_back', sequence: 5 });
    expect(await plainState(thread)).toMatchObject({ round: 1, notes: ['thought of mail to ann'] });
    const [, ...older] = await thread.checkpoints();
    expect(older).toHaveLength(5); // the lineage that was left is still there
  });

  test('[B12c] the steps that are scheduled get new ids, and run by the next run', async () => {
    const world = new TravelWorld();
    const thread = await world.done();
    const target = await beforeNode(thread, 'mail');
    const was = (await thread.inspect(target)).info.position.next;
    await thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'redo') });
    const { position, control } = await head(thread);

    expect(control.status).toBe('running');
    expect(position.next).toMatchObject([{ node: 'mail', path: '' }]);
    expect(only(position.next).step).not.toBe(only(was).step);
    expect(await thread.run()).toEqual({ end: 'done' });
    expect((await plainState(thread)).notes).toHaveLength(4);
  });

  test('[B12c] a thread with several logs and lines goes on writing behind the same index', async () => {
    const world = new TravelWorld();
    const thread = await world.done();
    for (let round = 0; round < 3; round += 1) {
      const target = await beforeNode(thread, 'mail');
      await thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'redo') });
      expect(await thread.run()).toEqual({ end: 'done' });
    }

    expect(world.sent).toHaveLength(4);
    expect((await plainState(thread)).notes).toMatchObject({ length: 4, 3: '3 notes' });
  });

  test('[B12c, B4c] `reuse` gives the same call its recorded result: nothing is called, and the ledger says so', async () => {
    const world = new TravelWorld();
    const thread = await world.done();
    const first = await plainState(thread);
    const target = await beforeNode(thread, 'think');
    await thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'reuse') });
    expect(await thread.run()).toEqual({ end: 'done' });

    expect([world.sent.length, world.posted.length, world.model.calls.length]).toEqual([1, 1, 1]);
    expect(await plainState(thread)).toEqual(first);
    const effects = await thread.effects();
    expect(effects.map(({ name, status }) => [name, status])).toEqual([
      ['scripted', 'succeeded'],
      ['send', 'succeeded'],
      ['look', 'succeeded'],
      ['post', 'succeeded'],
      ['scripted', 'succeeded'],
      ['send', 'succeeded'],
      ['look', 'succeeded'],
      ['post', 'succeeded'],
    ]);
    expect(nth(effects, 5).key).not.toBe(nth(effects, 1).key);
    expect((await thread.compare('thread')).before.effects).toMatchObject([
      { name: 'scripted', count: 1, reused: 1 },
      { name: 'send', count: 1, reused: 1 },
      { name: 'look', count: 1, reused: 0 },
      { name: 'post', count: 1, reused: 1 },
    ]);
  });

  test('[B12c] what a reused model answer cost is not counted again', async () => {
    const world = new TravelWorld();
    const thread = await world.done();
    const { usage } = (await head(thread)).control;
    const target = await beforeNode(thread, 'think');
    await thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'reuse') });
    await thread.run();

    expect((await head(thread)).control.usage).toEqual(usage);
  });

  test('[B12c] a call with other arguments than the recorded one is made', async () => {
    const world = new TravelWorld();
    const thread = await world.done();
    const target = await beforeNode(thread, 'mail');
    await thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'reuse') });
    await thread.edit({ name: 'bob' });
    await thread.run();

    expect(world.sent).toEqual(['ann: thought of mail to ann', 'bob: thought of mail to ann']);
    expect(world.posted).toEqual(['1']);
  });

  test('[B12c] results are on offer until the run ends: a later run means its calls', async () => {
    const world = new TravelWorld();
    const thread = await world.done();
    const target = await beforeNode(thread, 'think');
    await thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'reuse') });
    await thread.edit({ name: 'bob' });
    await thread.run();
    await thread.send({ name: 'ann' });
    await thread.run();

    expect(world.sent.filter((mail) => mail.startsWith('ann'))).toHaveLength(2);
  });

  test('[B12c] `redo` makes the call again, under a key of its own', async () => {
    const world = new TravelWorld();
    const thread = await world.done();
    const target = await beforeNode(thread, 'mail');
    await thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'redo') });
    await thread.run();
    const keys = (await thread.effects()).filter(({ name }) => name === 'send').map(({ key }) => key);

    expect(world.sent).toHaveLength(2);
    expect(new Set(keys).size).toBe(2);
  });

  test('[B12c] `compensate` has the effect undone by its tool, under the key it was made with, before anything runs', async () => {
    const world = new TravelWorld();
    const thread = await world.done();
    const sent = only((await thread.effects()).filter(({ name }) => name === 'send'));
    const target = await beforeNode(thread, 'mail');
    const choose = (name: string) => (name === 'send' ? 'compensate' : 'reuse');
    await thread.rollBack(target, { effects: await choices(thread.rollBack(target), choose) });

    expect(world.calledBack).toEqual([`ann ${sent.key}`]);
    expect(nth(await thread.effects(), -1)).toMatchObject({ kind: 'compensate', status: 'succeeded' });
    expect((await head(thread)).control.past.choices).toMatchObject([{ choice: 'reuse' }]);
    await thread.run();
    expect(world.sent).toHaveLength(2);
    expect(world.calledBack).toHaveLength(1);
  });

  test('[B12c, I7] a compensation that fails keeps the thread from running until it succeeds', async () => {
    const world = new TravelWorld();
    const thread = await world.done();
    const target = await beforeNode(thread, 'mail');
    const effects = await choices(thread.rollBack(target), (name) => (name === 'send' ? 'compensate' : 'redo'));
    world.refusals = 2;

    await expect(thread.rollBack(target, { effects })).rejects.toMatchObject({ code: 'compensation_failed' });
    expect(await thread.run()).toMatchObject({ end: 'blocked', error: { code: 'compensation_failed' } });
    expect([world.sent.length, world.calledBack.length]).toEqual([1, 0]);
    expect(await (await world.scene.open()).run()).toEqual({ end: 'done' });
    expect([world.sent.length, world.calledBack.length]).toEqual([2, 1]);
  });

  test('[B12c] a compensation that keeps failing can be given up for another choice', async () => {
    const world = new TravelWorld();
    const thread = await world.done();
    const target = await beforeNode(thread, 'mail');
    const effects = await choices(thread.rollBack(target), (name) => (name === 'send' ? 'compensate' : 'redo'));
    world.refusals = 1;
    await thread.rollBack(target, { effects }).catch(() => undefined);
    const [key = ''] = Object.entries(effects).find(([, choice]) => choice === 'compensate') ?? [];
    await thread.rollBack(target, { effects: { [key]: 'redo' } });

    expect(await thread.run()).toEqual({ end: 'done' });
    expect([world.sent.length, world.calledBack.length]).toEqual([2, 0]);
  });

  test('[B12c] target, reason and choices are in the event log', async () => {
    const world = new TravelWorld();
    const thread = await world.done();
    const target = await beforeNode(thread, 'publish');
    const effects = await choices(thread.rollBack(target), () => 'redo');
    const made = await thread.rollBack(target, { effects, reason: 'wrong number' });
    const { events } = await thread.inspect(made);

    expect(events.map(({ type, details }) => [type, details])).toEqual([
      ['rolled_back', { to: target, from: expect.any(String), reason: 'wrong number' }],
      ['effect_choice', { effect: expect.any(String), name: 'post', entry: 4, choice: 'redo' }],
    ]);
    expect((await eventsOf(world.scene)).map(({ type }) => type)).toContain('rolled_back');
  });

  test('[B12c] reads are passed over freely, and read again', async () => {
    const world = new TravelWorld();
    const thread = await world.done();
    await thread.rollBack(await beforeNode(thread, 'finish'));
    const target = await beforeNode(thread, 'publish');
    await thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'redo') });
    await thread.run();

    expect(world.looked).toHaveLength(2);
  });

  test('[B12c] an effect that was decided on the way back is not asked about again on the next way back', async () => {
    const world = new TravelWorld();
    const thread = await world.done();
    const target = await beforeNode(thread, 'mail');
    await thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'redo') });
    const again = await thread.rollBack(await beforeNode(thread, 'think'), {
      effects: await choices(thread.rollBack(await beforeNode(thread, 'think')), (name) => {
        expect(name).toBe('scripted');
        return 'reuse';
      }),
    });

    expect((await head(thread)).id).toBe(again);
  });

  test('[B12c] to a checkpoint of the lineage that was left: its effects count as done again', async () => {
    const world = new TravelWorld();
    const thread = await world.done();
    const old = await head(thread);
    const target = await beforeNode(thread, 'mail');
    await thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'redo') });
    await thread.rollBack(old.id);

    expect((await head(thread)).control.status).toBe('done');
    await expect(thread.rollBack(target)).rejects.toMatchObject({
      details: { effects: [{ name: 'send' }, { name: 'post' }] },
    });
  });

  test('[B12c] what was consumed, spent and counted stays the thread’s', async () => {
    const world = new TravelWorld();
    const thread = await world.done();
    await thread.send({ name: 'bob' });
    await thread.run();
    const old = (await head(thread)).control;
    const target = await beforeNode(thread, 'think');
    await thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'redo') });
    const { control } = await head(thread);

    expect(control).toMatchObject({ inboxTaken: 2, usage: old.usage, ledger: { count: 8, digest: old.ledger.digest } });
    expect(control.epoch.local).toBeGreaterThan(old.epoch.local);
  });
});

describe('a run that is under way', () => {
  test('[B12c, B14c] here: it is stopped first, and its call in doubt needs a choice', async () => {
    const world = new TravelWorld();
    world.onSend = () => new Promise(() => undefined);
    const thread = await world.scene.begun({ name: 'ann' });
    const run = thread.run();
    await world.scene.clock.whenAsleep((ms) => ms === 60_000);
    const target = await beforeNode(thread, 'think');
    const attempt = thread.rollBack(target);
    await expect(attempt).rejects.toMatchObject({
      details: { effects: [{ name: 'scripted' }, { name: 'send', status: 'in_progress' }] },
    });
    const effects = await choices(attempt, () => 'redo');
    await thread.rollBack(target, { effects });

    expect(await run).toEqual({ end: 'stopped' });
    world.onSend = () => undefined;
    expect(await thread.run()).toEqual({ end: 'done' });
    expect(world.sent).toHaveLength(1);
  });

  test('[B12c] a call in doubt has no result to reuse', async () => {
    const world = new TravelWorld();
    world.onSend = () => new Promise(() => undefined);
    const thread = await world.scene.begun({ name: 'ann' });
    void thread.run();
    await world.scene.clock.whenAsleep((ms) => ms === 60_000);
    const target = await beforeNode(thread, 'think');
    const effects = await choices(thread.rollBack(target), () => 'reuse');

    await expect(thread.rollBack(target, { effects })).rejects.toMatchObject({ code: 'choice_invalid' });
    expect((await thread.row())?.status).toBe('running');
    thread.stop();
  });

  test('[B12c, B14c] elsewhere: it loses the lease and commits nothing behind it', async () => {
    const world = new TravelWorld();
    let release = () => undefined as undefined;
    world.onSend = () => new Promise<void>((resolve) => (release = () => void resolve() as undefined));
    const other = await world.scene.begun({ name: 'ann' });
    const run = other.run();
    await world.scene.clock.whenAsleep((ms) => ms === 60_000);
    const thread = await world.scene.open();
    const target = await beforeNode(thread, 'think');
    const made = await thread.rollBack(target, { effects: await choices(thread.rollBack(target), () => 'redo') });
    release();

    expect(await run).toEqual({ end: 'lost' });
    await quiet();
    expect((await head(thread)).id).toBe(made);
  });
});

describe('what cannot be rolled back to', () => {
  const cases = [
    ['no checkpoint', 'nonsense', 'checkpoint_unknown'],
    ['one that is not there', '0000000001-AAAAAAAAAAAA', 'checkpoint_unknown'],
    ['a negative number', -1, 'checkpoint_unknown'],
  ] as const;
  test.each(cases)('[B12c] %s is refused', async (_name, id, code) => {
    const thread = await new TravelWorld().done();
    await expect(thread.rollBack(id as never)).rejects.toMatchObject({ code });
  });

  test('[B12c] a checkpoint of another thread is refused', async () => {
    const world = new TravelWorld();
    const thread = await world.done();
    const engine = await world.scene.world.engine({ agent: world.agent, model: world.model });
    const other = engine.thread('another');
    await other.send({});

    await expect(other.rollBack((await head(thread)).id)).rejects.toMatchObject({ code: 'checkpoint_unknown' });
  });

  test('[B12c] the head itself is refused', async () => {
    const thread = await new TravelWorld().done();
    await expect(thread.rollBack((await head(thread)).id)).rejects.toMatchObject({ code: 'already_there' });
  });

  test('[B12c] a choice for an effect that is not passed over is refused', async () => {
    const thread = await new TravelWorld().done();
    const target = await beforeNode(thread, 'mail');
    const effects = await choices(thread.rollBack(target), () => 'redo');

    await expect(thread.rollBack(target, { effects: { ...effects, other: 'redo' } })).rejects.toMatchObject({
      code: 'choice_unknown',
      details: { effect: 'other' },
    });
  });

  test.each([
    ['compensate', 'where the tool has none'],
    ['forget', 'that there is not'],
  ])('[B12c] the choice `%s` %s is refused', async (choice) => {
    const thread = await new TravelWorld().done();
    const target = await beforeNode(thread, 'publish');
    const effects = await choices(thread.rollBack(target), () => choice as never);

    await expect(thread.rollBack(target, { effects })).rejects.toMatchObject({
      code: 'choice_invalid',
      details: { name: 'post', choice },
    });
  });
});
