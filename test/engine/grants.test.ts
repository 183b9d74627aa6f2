import { expect, test } from 'vitest';
import * as z from 'zod';
import { readAnswer } from '../../src/codec/wait-codec.ts';
import { value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';

function givenAgent() {
  const calls: string[] = [];
  const toolNamed = <const Name extends string>(name: Name) =>
    tool({
      name,
      description: name,
      input: z.object({ to: z.string() }),
      effect: 'once',
      approval: 'always',
      run: ({ to }) => {
        calls.push(`${name} ${to}`);
        return to;
      },
    });
  const agent = defineAgent({
    name: 'granted',
    version: 1,
    state: { rounds: value(z.number(), 0) },
    tools: { send: toolNamed('send'), erase: toolNamed('erase') },
    start: 'ask',
    nodes: {
      async ask({ rounds }, { all, goto, end }) {
        await all(['a', 'b', 'c'], (to, { call }) => call('send', { to }));
        if (rounds === 0) await all(['x'], (to, { call }) => call('erase', { to }));
        return rounds < 1 ? goto('ask', { rounds: rounds + 1 }) : end();
      },
    },
  });
  return { agent, calls };
}

test('[B9e] allowed for the thread: what is asked already goes through too, and nothing of another tool', async () => {
  const { agent, calls } = givenAgent();
  const world = new TestWorld();
  const thread = (await world.engine({ agent })).thread('t');
  await thread.send({});
  expect(await thread.run()).toEqual({ end: 'waiting' });
  const [first] = await thread.waits();
  if (first === undefined) throw new Error('three calls are asked');
  await thread.answer(first.id, first.digest, { decision: 'allow', forThread: true });
  expect(await thread.run()).toEqual({ end: 'waiting' });
  expect([...calls].sort()).toEqual(['send a', 'send b', 'send c']);
  const open = await thread.waits();
  expect(open.map((wait) => wait.tool)).toEqual(['erase']);
  for (const wait of open) await thread.answer(wait.id, wait.digest, { decision: 'allow' });

  expect(await thread.run()).toEqual({ end: 'done' });
  expect([...calls].sort()).toEqual(['erase x', 'send a', 'send a', 'send b', 'send b', 'send c', 'send c']);
});

test('[B9d, B9e] what was denied stays denied when another call of the tool is allowed for the thread', async () => {
  const calls: string[] = [];
  const send = tool({
    name: 'send',
    description: 'Sends',
    input: z.object({ to: z.string() }),
    effect: 'once',
    approval: 'always',
    run: ({ to }) => {
      calls.push(to);
      return to;
    },
  });
  const agent = defineAgent({
    name: 'denied',
    version: 1,
    state: { sent: value(z.array(z.string()), []) },
    tools: { send },
    start: 'ask',
    nodes: {
      async ask(_, { all, end }) {
        const work = async (to: string, call: (to: string) => Promise<string>) => call(to).catch(() => `${to} denied`);
        const sent = await all(['a', 'b', 'c'], (to, scope) => work(to, (name) => scope.call('send', { to: name })));
        return end({ sent });
      },
    },
  });
  const world = new TestWorld();
  const thread = (await world.engine({ agent })).thread('t');
  await thread.send({});
  await thread.run();
  const [a, b] = await thread.waits();
  if (a === undefined || b === undefined) throw new Error('three calls are asked');
  await thread.answer(b.id, b.digest, { decision: 'deny' });
  await thread.run();
  await thread.answer(a.id, a.digest, { decision: 'allow', forThread: true });
  const restarted = (await world.engine({ agent })).thread('t');
  expect(await restarted.run()).toEqual({ end: 'done' });
  expect(calls).toHaveLength(2);
  expect((await restarted.state()).sent).toContain(`${(b.args as { to: string }).to} denied`);
  expect(calls).not.toContain((b.args as { to: string }).to);
});

test('[B9e, B9b] a grant that comes while its siblings are being asked answers them on record, and each call is made once', async () => {
  for (let slowness = 0; slowness < 12; slowness += 1) {
    const { agent, calls } = givenAgent();
    const world = new TestWorld({ seed: slowness + 1 });
    const store = world.store();
    const commit = store.commit.bind(store);
    store.commit = async (groups) => {
      for (let tick = 0; tick < slowness * 7; tick += 1) await Promise.resolve();
      return commit(groups);
    };
    const granting: Promise<void>[] = [];
    const engine = await world.engine(
      {
        agent,
        onFrame: (_, frame) => {
          if (frame.type !== 'wait' || frame.wait.tool !== 'send' || granting.length > 0) return;
          granting.push(thread.answer(frame.wait.id, frame.wait.digest, { decision: 'allow', forThread: true }));
        },
      },
      store,
    );
    const thread = engine.thread('t');
    await thread.send({});
    for (let round = 0; round < 10; round += 1) {
      await thread.run();
      await Promise.all(granting);
      for (const wait of await thread.waits()) {
        if (wait.tool === 'erase') await thread.answer(wait.id, wait.digest, { decision: 'allow' });
      }
    }
    expect((await thread.row())?.status, `slowness ${slowness}`).toBe('done');
    expect([...calls].sort()).toEqual(['erase x', 'send a', 'send a', 'send b', 'send b', 'send c', 'send c']);
    const [row] = world.data.threads.values();
    const keys =
      row === undefined
        ? []
        : world.data
            .records('waits', row.thread)
            .range({})
            .map(({ key }) => key);
    const unanswered = keys.filter((key) => key.startsWith('w:') && !keys.includes(key.replace('w:', 'a:')));
    expect(unanswered, `slowness ${slowness}`).toEqual([]);
  }
});

test('[B9e, B9b] a call that reaches its open wait after the grant is answered on record first', async () => {
  const sent: string[] = [];
  const input = z.object({ to: z.string() });
  const look = tool({ name: 'look', description: 'Looks', input, effect: 'idempotent', run: ({ to }) => to });
  const send = tool({
    name: 'send',
    description: 'Sends',
    input,
    effect: 'once',
    approval: 'always',
    run: ({ to }) => sent.push(to),
  });
  const agent = defineAgent({
    name: 'late',
    version: 1,
    state: {},
    tools: { look, send },
    start: 'go',
    nodes: {
      async go(_, { all, end }) {
        await all(['a', 'b'], async (to, { call }) => {
          for (let round = 0; to === 'b' && round < 60; round += 1) await call('look', { to });
          await call('send', { to });
        });
        return end();
      },
    },
  });
  const world = new TestWorld();
  const thread = (await world.engine({ agent })).thread('t');
  await thread.send({});
  await thread.run();
  const waits = await thread.waits();
  expect(waits).toHaveLength(2);
  const [a] = waits.filter(({ args }) => (args as { to: string }).to === 'a');
  if (a === undefined) throw new Error('a is asked');
  await thread.answer(a.id, a.digest, { decision: 'allow', forThread: true });
  expect(await (await world.engine({ agent })).thread('t').run()).toEqual({ end: 'done' });
  expect([...sent].sort()).toEqual(['a', 'b']);
  // Not closed by the end of the step, but allowed before the call was made.
  const [row] = world.data.threads.values();
  if (row === undefined) throw new Error('the thread was made');
  const codec = await (await world.ports()).keyRing.openThread(row.thread, row.incarnation);
  const answers = await Promise.all(waits.map(({ id }) => readAnswer(codec, id)));
  expect(answers.map((found) => found?.answer.decision)).toEqual(['allow', 'allow']);
});
