/** A checkpoint that a thread was, or is being, forked from stays, whoever deletes meanwhile. */
import { describe, expect, test } from 'vitest';
import { Checkpointer } from '../../src/checkpointer/checkpointer.ts';
import type { EngineThread } from '../../src/engine/engine-thread.ts';
import type { Store } from '../../src/store/store.ts';
import { nth, withMethods } from './support.ts';
import { beforeNode, choices, TravelWorld } from './travel-agent.ts';

/** All that may go goes: a thread that is done keeps two checkpoints. */
const little = { keepCheckpoints: 1, eventDays: 0 };

async function givenSource() {
  const world = new TravelWorld();
  const source = await world.done();
  const at = await beforeNode(source, 'mail');
  const effects = await choices(source.fork(at, { id: 'fork' }), () => 'redo');
  const over = async (store: Store): Promise<EngineThread> => world.scene.open({ store });
  const store = world.scene.world.store();
  const ids = async () => (await source.checkpoints()).map(({ id }) => id);
  const checkpointer = new Checkpointer(await world.scene.world.ports());
  const deleteFork = async () => {
    const engine = await world.scene.world.engine({ agent: world.agent, model: world.model });
    const row = await engine.thread('fork').row();
    if (row === undefined) throw new Error('it is there');
    await store.deleteThread(row.thread, row.incarnation, 1);
  };
  /** A store that does something else first when it is to delete records for the first time. */
  const beforeDeletion = (work: () => Promise<void>): Store => {
    let isDone = false;
    return withMethods(store, {
      deleteRecords: async (...given) => {
        if (!isDone) {
          isDone = true;
          await work();
        }
        return store.deleteRecords(...given);
      },
    });
  };
  return { world, source, at, effects, over, store, ids, checkpointer, deleteFork, beforeDeletion };
}

describe('a pin', () => {
  test('[B12d, A3b] keeps the checkpoint that a fork was made from, and names the fork', async () => {
    const { source, at, effects, checkpointer } = await givenSource();
    await source.fork(at, { id: 'fork', effects });

    await expect(checkpointer.delete('thread', at)).rejects.toMatchObject({
      code: 'checkpoint_pinned',
      details: { forks: '"fork"' },
    });
    expect((await source.inspect(at)).forks).toMatchObject([{ thread: 'fork' }]);
  });

  test('[B12b, A11b] that is damaged keeps it too, and hides nothing but the name of its fork', async () => {
    const { world, source, at, effects, checkpointer } = await givenSource();
    await source.fork(at, { id: 'fork', effects });
    await source.fork(at, { id: 'other', effects });
    const [damaged] = (await world.scene.stored('checkpoints')).filter(({ key }) => key.startsWith(`${at}.pin.`));
    world.scene.damage('checkpoints', (key) => key === damaged?.key);

    expect((await source.inspect(at)).forks.filter((fork) => fork === null)).toHaveLength(1);
    expect((await source.inspect(at)).info.id).toBe(at);
    await expect(checkpointer.delete('thread', at)).rejects.toMatchObject({
      code: 'checkpoint_pinned',
      details: { forks: expect.stringContaining('one whose record is damaged') },
    });
  });

  test('[B12d] that was set for another edit, or for other choices, is not taken for what is asked', async () => {
    const { world, source, at, effects, over } = await givenSource();
    const [effect] = Object.keys(effects);
    const differs = { code: 'fork_differs', details: { thread: 'fork' } };
    const store = world.scene.world.store();
    const cutOff = await over(
      withMethods(store, { createThread: () => Promise.reject(new Error('the power is cut')) }),
    );
    await expect(cutOff.fork(at, { id: 'fork', effects, edit: { name: 'bob' } })).rejects.toThrow('the power is cut');

    await expect(source.fork(at, { id: 'fork', effects })).rejects.toMatchObject(differs);
    await expect(source.fork(at, { id: 'fork', effects, edit: { name: 'cid' } })).rejects.toMatchObject(differs);
    await source.fork(at, { id: 'fork', effects, edit: { name: 'bob' }, reason: 'once more' });
    await source.fork(at, { id: 'fork', effects, edit: { name: 'bob' } });
    const others = { ...effects, [String(effect)]: 'reuse' } as const;
    await expect(source.fork(at, { id: 'fork', effects: others, edit: { name: 'bob' } })).rejects.toMatchObject(
      differs,
    );
    await source.fork(at, { id: 'another', effects: others });
  });

  test('[A12e, B12d] keeps it from a compaction too: it can be restored, and the same fork is asked for again', async () => {
    const { source, at, effects, ids } = await givenSource();
    await source.fork(at, { id: 'fork', effects });
    await source.compact(little);
    await source.compact(little);

    expect(await ids()).toHaveLength(3);
    expect((await source.inspect(at)).forks).toMatchObject([{ thread: 'fork' }]);
    await source.fork(at, { id: 'fork', effects });
    await source.fork(at, { id: 'another', effects });
  });

  test('[A12e] keeps it no longer than the fork is there', async () => {
    const { source, at, effects, ids, deleteFork, checkpointer } = await givenSource();
    await source.fork(at, { id: 'fork', effects });
    await deleteFork();
    await checkpointer.delete('thread', at);
    expect(await ids()).not.toContain(at);

    const second = await givenSource();
    await second.source.fork(second.at, { id: 'fork', effects: second.effects });
    await second.deleteFork();
    await second.source.compact(little);
    expect(await second.ids()).not.toContain(second.at);
    expect(await second.store.range('checkpoints', (await second.source.row())?.thread as never, {})).toHaveLength(3);
  });

  test('[A12e] goes without its checkpoint where that one stays for another reason', async () => {
    const { source, at, effects, ids, deleteFork, store } = await givenSource();
    await source.fork(at, { id: 'fork', effects });
    await deleteFork();
    await source.compact({ keepCheckpoints: 100 });
    const records = await store.range('checkpoints', await source.hash(), {});

    expect(await ids()).toContain(at);
    expect(records.filter(({ plain }) => plain.kind === 'pin')).toEqual([]);
  });

  test('[A12e] holds nothing where the id of its fork is another thread’s by now', async () => {
    const { world, source, at, effects, ids, deleteFork } = await givenSource();
    await source.fork(at, { id: 'fork', effects });
    await deleteFork();
    const engine = await world.scene.world.engine({ agent: world.agent, model: world.model });
    await engine.thread('fork').send({ name: 'bob' });
    await source.compact(little);

    expect(await ids()).not.toContain(at);
  });

  test('[A12e, B12d] of a fork that was cut off holds, and the fork is made when it is asked for again', async () => {
    const { source, at, effects, over, store, ids } = await givenSource();
    const refusing = withMethods(store, { createThread: () => Promise.reject(new Error('cut off')) });
    await expect((await over(refusing)).fork(at, { id: 'fork', effects })).rejects.toThrow('cut off');
    await source.compact(little);

    expect(await ids()).toContain(at);
    await source.fork(at, { id: 'fork', effects });
    expect((await source.inspect(at)).forks).toMatchObject([{ thread: 'fork' }]);
  });

  test('[A12e] holds no longer than its fork, also where a compaction has been meanwhile, or another thread of that id', async () => {
    const first = await givenSource();
    await first.source.fork(first.at, { id: 'fork', effects: first.effects });
    await first.source.compact(little);
    await first.deleteFork();
    await first.source.compact(little);
    expect(await first.ids()).not.toContain(first.at);

    const second = await givenSource();
    const { world, source, at, effects, deleteFork } = second;
    const fork = async () =>
      (await world.scene.world.engine({ agent: world.agent, model: world.model })).thread('fork');
    await source.fork(at, { id: 'fork', effects });
    const made = (await (await fork()).row())?.incarnation;
    await deleteFork();
    await (await fork()).send({ name: 'bob' });
    await deleteFork();
    await source.fork(at, { id: 'fork', effects });
    expect((await (await fork()).row())?.incarnation).not.toBe(made);
    await deleteFork();
    await source.compact(little);
    expect(await second.ids()).not.toContain(at);
  });

  test('[A12e] that looked stale, and with which a fork goes on after all, holds', async () => {
    const { world, source, at, effects, over, store, ids, deleteFork, beforeDeletion } = await givenSource();
    const refusing = withMethods(store, { createThread: () => Promise.reject(new Error('cut off')) });
    await expect((await over(refusing)).fork(at, { id: 'fork', effects })).rejects.toThrow('cut off');
    const engine = await world.scene.world.engine({ agent: world.agent, model: world.model });
    await engine.thread('fork').send({ name: 'bob' });
    const meanwhile = beforeDeletion(async () => {
      await deleteFork();
      await source.fork(at, { id: 'fork', effects });
    });
    await (await over(meanwhile)).compact(little);

    expect(await ids()).toContain(at);
  });

  test('[A12e] the tip of a lineage that was left stays, and what was held before it goes once nothing holds it', async () => {
    const { source, at, ids } = await givenSource();
    const tip = nth(await ids(), 0);
    await source.compact(little, [at]);
    await source.rollBack(at, { effects: await choices(source.rollBack(at), () => 'redo') });
    await source.run();
    await source.compact(little);

    expect(await ids()).toContain(tip);
    expect(await ids()).not.toContain(at);
  });

  test('[B12d] of a checkpoint that a compaction takes while the fork is decided: it is unknown', async () => {
    const { world, source, at, effects, over, store } = await givenSource();
    world.scene.clock.advance(86_400_000);
    let isCompacted = false;
    const overtaken = withMethods(store, {
      range: async (table, ...given) => {
        if (table === 'ledger' && !isCompacted) {
          isCompacted = true;
          await source.compact(little);
        }
        return store.range(table, ...given);
      },
    });

    await expect((await over(overtaken)).fork(at, { id: 'fork', effects })).rejects.toMatchObject({
      code: 'checkpoint_unknown',
    });
  });

  test('[A12e] that is set while it is decided what a compaction takes holds', async () => {
    const { source, at, effects, over, ids, beforeDeletion } = await givenSource();
    const forkedMeanwhile = beforeDeletion(() => source.fork(at, { id: 'fork', effects }));
    const { deleted } = await (await over(forkedMeanwhile)).compact(little);

    expect(deleted.checkpoints).toBe(2);
    expect(await ids()).toContain(at);
    await source.fork(at, { id: 'another', effects });
  });

  test('[A12e] that is set anew for another fork of the same id holds', async () => {
    const { source, at, effects, over, ids, deleteFork, beforeDeletion } = await givenSource();
    await source.fork(at, { id: 'fork', effects });
    await deleteFork();
    const forkedMeanwhile = beforeDeletion(() => source.fork(at, { id: 'fork', effects }));
    await (await over(forkedMeanwhile)).compact(little);

    expect(await ids()).toContain(at);
    await source.fork(at, { id: 'fork', effects });
  });

  test('[A12e] that is set while the checkpoint is being deleted holds', async () => {
    const { source, at, effects, world, store, ids } = await givenSource();
    const forkedMeanwhile = withMethods(store, {
      deleteRecords: async (...given) => {
        await source.fork(at, { id: 'fork', effects });
        return store.deleteRecords(...given);
      },
    });
    const checkpointer = new Checkpointer(await world.scene.world.ports(forkedMeanwhile));

    await expect(checkpointer.delete('thread', at)).rejects.toMatchObject({ code: 'checkpoint_pinned' });
    expect(await ids()).toContain(at);
  });
});
