import { expect, test } from 'vitest';
import * as z from 'zod';
import { value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';

const dayMs = 86_400_000;

const child = defineAgent({
  name: 'child',
  version: 1,
  state: { n: value(z.number(), 0) },
  start: 'go',
  nodes: { go: (_state, { end }) => end() },
});

const parent = defineAgent({
  name: 'parent',
  version: 1,
  state: { status: value(z.string(), '') },
  agents: [child],
  start: 'go',
  nodes: { go: async (_state, { child: begin, end }) => end({ status: (await begin(child, {})).status }) },
});

test('[A12b, B2a] a purge takes children whose time is over, too, and no thread that another agent has for itself', async () => {
  const world = new TestWorld();
  const engine = await world.engine({ agent: parent });
  const own = (await world.engine({ agent: child })).thread('own');
  await own.send({});
  await own.run();
  const thread = engine.thread('thread');
  await thread.send({});
  await thread.run();
  for (const { id, row } of await engine.threads(9, { children: true }))
    if (row.agent === 'child' && id !== 'own') await engine.thread(id ?? '').run();
  expect(await thread.run()).toEqual({ end: 'done' });

  world.clock.advance(6 * dayMs);
  expect((await engine.purge()).purged).toEqual([]);
  world.clock.advance(dayMs);
  expect((await engine.purge()).purged.map(({ agent }) => agent).sort()).toEqual(['child', 'parent']);
  expect((await own.row())?.status).toBe('done');
});
