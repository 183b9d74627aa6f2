/** Parents and children at the edges: deleted, cancelled, and asking at once. */
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { log, value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { answer, head, nth, only, plainState, withMethods } from './support.ts';

/** A parent that starts a child for each name; each child sends a letter, which a person must allow. */
function family(names: readonly string[]) {
  const sent: string[] = [];
  const send = tool({
    name: 'send',
    description: 'Sends a letter',
    input: z.object({ to: z.string() }),
    effect: 'once',
    approval: 'always',
    run: ({ to }) => {
      sent.push(to);
      return to;
    },
  });
  const sender = defineAgent({
    name: 'sender',
    version: 1,
    state: { to: value(z.string(), ''), receipt: value(z.string(), '') },
    tools: { send },
    start: 'send',
    nodes: { send: async ({ to }, { call, end }) => end({ receipt: await call('send', { to }) }) },
  });
  const parent = defineAgent({
    name: 'parent',
    version: 1,
    state: { said: log(z.string()) },
    agents: [sender],
    start: 'go',
    nodes: {
      go: async (_state, { all, end }) => {
        const ends = await all(names, (to, { child }) => child(sender, { to }));
        return end({ said: ends.map(({ status, state }) => `${status} ${state?.receipt ?? ''}`) });
      },
    },
  });
  return { parent, sent };
}

async function runAll(engine: Engine) {
  const ends = new Map<string, string>();
  const stand = async () =>
    (await engine.threads(99, { children: true })).map(({ row }) => [row.thread, row.head, row.inbox]);
  for (let before: unknown; !isDeepStrictEqual(before, await stand()); ) {
    before = await stand();
    for (const { id = '' } of await engine.threads(99, { children: true })) {
      ends.set(id, (await engine.thread(id).run()).end);
    }
  }
  return ends;
}

async function given(names: readonly string[]) {
  const { parent, sent } = family(names);
  const world = new TestWorld();
  const engine = await world.engine({ agent: parent });
  await engine.thread('thread').send({});
  await runAll(engine);
  const all = await engine.threads(99, { children: true });
  const children = all.filter(({ row }) => row.agent === 'sender').map(({ id = '' }) => engine.thread(id));
  return { world, agent: parent, engine, sent, children };
}

test('[B2a, B9d] two approvals in two children go each to its own call, in whatever order they are answered', async () => {
  const { engine, sent, children } = await given(['ann', 'ben']);
  const waits = await Promise.all(children.map(async (child) => only(await child.waits())));
  const [first, second] = [nth(children, 0), nth(children, 1)];

  await expect(answer(first, nth(waits, 1), { decision: 'allow' })).rejects.toMatchObject({ code: 'wait_unknown' });
  await answer(second, nth(waits, 1), { decision: 'allow' });
  await runAll(engine);
  expect(sent).toEqual([(nth(waits, 1).args as { to: string }).to]);
  expect((await engine.thread('thread').row())?.status).toBe('waiting');
  await answer(first, nth(waits, 0), { decision: 'allow' });

  expect((await runAll(engine)).get('thread')).toBe('done');
  expect(sent.sort()).toEqual(['ann', 'ben']);
  expect((await plainState(engine.thread('thread'))).said).toEqual(['done ann', 'done ben']);
});

describe('a child whose parent is deleted', () => {
  test('[B2a, I10] ends as it would have, and keeps what it did', async () => {
    const { world, agent, sent, children } = await given(['ann']);
    const child = only(children);
    const wait = only(await child.waits());
    const parent = only((await (await world.engine({ agent })).threads()).map(({ row }) => row));
    await world.store().deleteThread(parent.thread, parent.incarnation, world.clock.nowMs());
    await answer(child, wait, { decision: 'allow' });

    const later = (await world.engine({ agent })).thread(child.id);
    expect(await later.run()).toEqual({ end: 'done' });
    expect(sent).toEqual(['ann']);
    expect(await plainState(later)).toMatchObject({ receipt: 'ann' });
  });

  test('[B2a, I10] and made again under the same id: tells the new one nothing', async () => {
    const { world, agent, engine, children } = await given(['ann']);
    const child = only(children);
    const wait = only(await child.waits());
    const parent = only((await engine.threads()).map(({ row }) => row));
    await world.store().deleteThread(parent.thread, parent.incarnation, world.clock.nowMs());
    const anew = await world.engine({ agent });
    await anew.thread('thread').send({});
    await anew.thread('thread').run();
    await answer(child, wait, { decision: 'allow' });

    expect(await anew.thread(child.id).run()).toEqual({ end: 'done' });
    expect((await anew.thread('thread').row())?.status).toBe('waiting');
    expect((await head(anew.thread('thread'))).control.waits).toHaveLength(1);
    expect(await anew.thread('thread').waits()).toHaveLength(1);
  });
});

test('[B2a, B10a, B9b] a parent that is cancelled while its child waits cancels it; a late answer is refused, and nothing is sent', async () => {
  const { engine, sent, children } = await given(['ann']);
  const child = only(children);
  const wait = only(await child.waits());
  await engine.thread('thread').cancel();

  expect([...(await runAll(engine)).values()]).toEqual(['cancelled', 'cancelled']);
  await expect(answer(child, wait, { decision: 'allow' })).rejects.toMatchObject({
    code: 'wait_closed',
    details: { winner: 'cancelled' },
  });
  expect(sent).toEqual([]);
});

test('[B2a, B3c] a child that is deleted while its parent waits is not made again: its parent hears that it was cancelled', async () => {
  const { world, agent, sent, children } = await given(['ann']);
  const row = await only(children).row();
  if (row === undefined) throw new Error('there is no child');
  await world.store().deleteThread(row.thread, row.incarnation, world.clock.nowMs());
  const engine = await world.engine({ agent });
  await runAll(engine);

  expect(await plainState(engine.thread('thread'))).toEqual({ said: ['cancelled '] });
  expect((await engine.threads(9, { children: true })).length).toBe(1);
  expect(sent).toEqual([]);
});

test('[B2a, B10a, B14c] a child that is made late, by a runner that stood still, of a parent that was cancelled meanwhile does nothing', async () => {
  const { parent, sent } = family(['ann']);
  const world = new TestWorld();
  const [isAboutTo, goesOn] = [deferred<void>(), deferred<void>()];
  const store = world.store();
  const frozen = withMethods(store, {
    createThread: async (row, ...rest) => {
      if (row.agent === 'sender') {
        isAboutTo.resolve();
        await goesOn.promise;
      }
      return store.createThread(row, ...rest);
    },
  });
  const old = (await world.engine({ agent: parent }, frozen)).thread('thread');
  await old.send({});
  const running = old.run();
  await isAboutTo.promise;
  const engine = await world.engine({ agent: parent });
  await engine.thread('thread').cancel();
  expect(await engine.thread('thread').run()).toEqual({ end: 'cancelled' });
  goesOn.resolve();
  expect(await running).toEqual({ end: 'lost' });

  const ends = await runAll(engine);
  expect([...ends.values()]).not.toContain('waiting');
  const all = await engine.threads(9, { children: true });
  const child = only(all.filter(({ row }) => row.agent === 'sender'));
  expect(child.row.head === null || child.row.status === 'cancelled').toBe(true);
  expect(sent).toEqual([]);
});
