import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { Checkpointer } from '../../src/checkpointer/checkpointer.ts';
import type { EngineThread } from '../../src/engine/engine-thread.ts';
import { log } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { plainState, Scene } from './support.ts';

const agent = defineAgent({
  name: 'noter',
  version: 1,
  state: { notes: log(z.string()) },
  start: 'go',
  nodes: { go: (_state, { end }) => end({ notes: ['seen'] }) },
});

/** A thread of Ann, and the same id as Bob opens it. */
async function given() {
  const scene = new Scene({ agent, owner: 'ann' });
  const ann = await scene.begun({ notes: ['private'] });
  await ann.run();
  return { scene, ann, bob: () => scene.open({ owner: 'bob' }) };
}

const refusal = { code: 'not_owner', details: { thread: 'thread', owner: 'bob' } };

const uses: readonly [string, (thread: EngineThread) => Promise<unknown>][] = [
  ['row', (thread) => thread.row()],
  ['state', (thread) => thread.state()],
  ['checkpoints', (thread) => thread.checkpoints()],
  ['waits', (thread) => thread.waits()],
  ['effects', (thread) => thread.effects()],
  ['events', (thread) => thread.events()],
  ['exportLog', (thread) => thread.exportLog().next()],
  ['quarantine', (thread) => thread.quarantine()],
  ['send', (thread) => thread.send({ notes: ['mine'] })],
  ['cancel', (thread) => thread.cancel()],
  ['answer', (thread) => thread.answer('wait', 'digest', { decision: 'deny' })],
  ['compact', (thread) => thread.compact()],
  ['share', (thread) => thread.share('bob', 'write')],
  ['shares', (thread) => thread.shares()],
];

describe('the thread of another owner', () => {
  test.each(uses)('[A14b] cannot be used by %s: the error says so, and nothing is changed', async (_name, use) => {
    const { scene, bob } = await given();
    const before = JSON.stringify([...scene.world.data.threads]);
    await expect(use(await bob())).rejects.toMatchObject(refusal);
    expect(JSON.stringify([...scene.world.data.threads])).toBe(before);
  });

  test('[A14b, A14c] is compared with no thread of his, unless it was shared with him', async () => {
    const { scene, ann } = await given();
    const own = (await scene.world.engine({ agent, owner: 'bob' })).thread('own');
    await own.send({});
    await expect(own.compare('thread')).rejects.toMatchObject(refusal);
    await ann.share('bob', 'read');
    expect((await own.compare('thread')).after.thread).toBe('thread');
  });

  test('[A14b] does not run', async () => {
    const { scene, bob } = await given();
    await (await scene.open()).send({ notes: ['more'] });
    expect(await (await bob()).run()).toMatchObject({ end: 'blocked', error: refusal });
    expect(await plainState(await scene.open())).toEqual({ notes: ['private', 'seen'] });
  });

  test('[A14b, A11b] stays his, whatever somebody wrote into the row', async () => {
    const { scene, bob } = await given();
    scene.changeRow((row) => ({ ...row, owner: 'bob' }));
    await expect((await bob()).checkpoints()).rejects.toMatchObject(refusal);
  });

  test('[A14b] is not listed, and its id is not told', async () => {
    const { scene, ann } = await given();
    const engine = await scene.world.engine({ agent, owner: 'bob' });
    expect(await engine.threads()).toEqual([]);
    expect(await engine.idOf(await ann.hash())).toBeUndefined();
  });

  test('[A14b] is none of a checkpointer either', async () => {
    const world = new Scene({ agent }).world;
    const ports = await world.ports();
    await new Checkpointer(ports, { owner: 'ann' }).save('t', { n: 1 });
    const bob = new Checkpointer(ports, { owner: 'bob' });
    for (const use of [
      () => bob.load('t'),
      () => bob.list('t'),
      () => bob.delete('t'),
      () => bob.save('t', { n: 2 }),
    ]) {
      await expect(use()).rejects.toMatchObject({ code: 'not_owner', details: { thread: 't', owner: 'bob' } });
    }
    expect(await new Checkpointer(ports, { owner: 'ann' }).load('t')).toEqual({ n: 1 });
  });
});

describe('a shared thread', () => {
  test('[A14c] can be read by whom it was shared with, and by nobody else', async () => {
    const { scene, ann, bob } = await given();
    await ann.share('bob', 'read');
    expect(await plainState(await bob())).toEqual({ notes: ['private', 'seen'] });
    await expect((await bob()).send({})).rejects.toMatchObject({ ...refusal, details: { needs: 'write' } });
    const carol = await scene.open({ owner: 'carol' });
    await expect(carol.state()).rejects.toMatchObject({ code: 'not_owner' });
  });

  test('[A14c] can be written to where that was allowed, but not shared further', async () => {
    const { ann, bob } = await given();
    await ann.share('bob', 'write');
    const thread = await bob();
    await thread.send({ notes: ["bob's"] });
    expect(await thread.run()).toEqual({ end: 'done' });
    expect(await plainState(ann)).toEqual({ notes: ['private', 'seen', "bob's", 'seen'] });
    await expect(thread.share('carol', 'read')).rejects.toMatchObject({ ...refusal, details: { needs: 'own' } });
  });

  test('[A14c] is shared no more once that was taken back', async () => {
    const { ann, bob } = await given();
    await ann.share('bob', 'write');
    await ann.share('bob', 'none');
    await expect((await bob()).state()).rejects.toMatchObject(refusal);
    expect(await ann.shares()).toMatchObject([{ owner: 'bob', rights: 'none' }]);
  });

  test('[A14c, A11b] a share of another thread, or for another owner, opens nothing', async () => {
    const { scene, ann, bob } = await given();
    await ann.share('bob', 'read');
    const share = (await scene.stored('wraps')).find(({ key }) => key.startsWith('share:'));
    await ann.share('carol', 'write');
    for (const { key } of await scene.stored('wraps')) {
      if (key.startsWith('share:') && key !== share?.key)
        scene.change('wraps', key, (there) => ({ ...there, body: share?.body ?? there.body }));
    }
    await expect((await scene.open({ owner: 'carol' })).state()).rejects.toMatchObject({ code: 'record_damaged' });
    expect(await plainState(await bob())).toEqual({ notes: ['private', 'seen'] });
  });

  test('[A14c, D2a] tells the store neither whom nor how', async () => {
    const { scene, ann } = await given();
    await ann.share('bob', 'read');
    const share = (await scene.stored('wraps')).find(({ key }) => key.startsWith('share:'));
    expect(JSON.stringify({ ...share, body: '' })).not.toContain('bob');
  });
});
