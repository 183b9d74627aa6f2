import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import { value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { quiet, withMethods } from './support.ts';

const agentNamed = (name: string) =>
  defineAgent({
    name,
    version: 1,
    state: { count: value(z.number(), 0) },
    start: 'go',
    nodes: { go: (_state, { end }) => end({ count: 1 }) },
  });

describe('an engine', () => {
  test('[A14a] lists the threads of its agent and owner with their ids, newest change first', async () => {
    const world = new TestWorld();
    const agent = agentNamed('mine');
    const engine = await world.engine({ agent });
    for (const id of ['old', 'new']) {
      await engine.thread(id).send({});
      await engine.thread(id).run();
      world.clock.advance(1_000);
    }
    await (await world.engine({ agent, owner: 'somebody' })).thread('theirs').send({});
    await (await world.engine({ agent: agentNamed('other') })).thread('of another agent').send({});

    const entries = await (await world.engine({ agent })).threads();
    expect(entries.map(({ id, row }) => [id, row.status])).toEqual([
      ['new', 'done'],
      ['old', 'done'],
    ]);
  });

  test('[A11a] a thread that does not open is listed without its id, and hides no other', async () => {
    const world = new TestWorld();
    const engine = await world.engine({ agent: agentNamed('mine') });
    await engine.thread('good').send({});
    await engine.thread('bad').send({});
    const bad = await engine.thread('bad').row();
    if (bad !== undefined) world.data.threads.set(bad.thread, { ...bad, control: bad.control.slice(0, -1) });

    const entries = await engine.threads();
    expect(entries.map(({ id }) => id).sort()).toEqual(['good', undefined]);
    expect(entries.find(({ id }) => id === undefined)?.error).toMatchObject({ code: 'record_damaged' });
  });

  test('[A14a] threads of the same id in two namespaces are two threads', async () => {
    const world = new TestWorld();
    const agent = agentNamed('mine');
    const here = (await world.engine({ agent, namespace: 'here' })).thread('same');
    const there = (await world.engine({ agent, namespace: 'there' })).thread('same');
    await here.send({});
    await here.run();

    expect(await there.row()).toBeUndefined();
    expect((await here.state()).count).toBe(1);
  });

  test('[I10] the thread of another agent is refused and not touched', async () => {
    const world = new TestWorld();
    await (await world.engine({ agent: agentNamed('mine') })).thread('t').send({});
    const other = (await world.engine({ agent: agentNamed('other') })).thread('t');

    await expect(other.send({})).rejects.toMatchObject({
      code: 'thread_of_another_agent',
      details: { agent: 'mine', expected: 'other' },
    });
    expect(await other.run()).toMatchObject({ end: 'blocked', error: { code: 'thread_of_another_agent' } });
  });

  test.each([
    ['no characters', ''],
    ['too many', 'x'.repeat(1_025)],
    ['half of a surrogate pair', 'a\ud800'],
    ['no text', 7 as unknown as string],
  ])('[A1d] a thread id with %s is refused', async (_what, id) => {
    const engine = await new TestWorld().engine({ agent: agentNamed('mine') });

    expect(() => engine.thread(id)).toThrowError(expect.objectContaining({ code: 'thread_id_invalid' }));
  });

  test('[B10c] a thread that is not there has nothing to run, to cancel or to answer', async () => {
    const thread = (await new TestWorld().engine({ agent: agentNamed('mine') })).thread('nobody');

    expect(await thread.run()).toEqual({ end: 'idle' });
    expect([await thread.checkpoints(), await thread.waits(), await thread.effects()]).toEqual([[], [], []]);
    await expect(thread.cancel()).rejects.toMatchObject({ code: 'thread_unknown' });
    await expect(thread.state()).rejects.toMatchObject({ code: 'thread_unknown' });
  });

  test('[B10c] a stop ends the run that was asked for before it, also one that is still being opened, and none asked for after it', async () => {
    const thread = (await new TestWorld().engine({ agent: agentNamed('mine') })).thread('t');
    await thread.send({});
    const first = thread.run();
    thread.stop();
    const second = thread.run();

    expect(await first).toEqual({ end: 'stopped' });
    expect(await second).toEqual({ end: 'done' });
  });

  test('[B12c, B10c] a run that is asked for while two edits wait for one another begins behind both', async () => {
    const world = new TestWorld();
    const store = world.store();
    const gate = deferred<void>();
    const held = withMethods(store, {
      takeLease: async (...given) => {
        await gate.promise;
        return store.takeLease(...given);
      },
    });
    const agent = agentNamed('mine');
    const before = (await world.engine({ agent })).thread('t');
    await before.send({});
    await before.run();
    const thread = (await world.engine({ agent }, held)).thread('t');
    const edits = [thread.edit({ count: 5 }), thread.edit({ count: 6 })];
    await quiet();
    await thread.send({});
    const run = thread.run();
    gate.resolve();

    await Promise.all(edits);
    expect(await run).toEqual({ end: 'done' });
    expect((await thread.checkpoints()).map(({ cause }) => cause)).toEqual([
      'step',
      'input',
      'edited',
      'edited',
      'step',
      'input',
    ]);
  });
});
