import { expect, test } from 'vitest';
import { defineAgent } from '../../src/program/agent.ts';
import { head, Scene } from './support.ts';

const agent = (version: number) =>
  defineAgent({ name: 'versions', version, state: {}, start: 'go', nodes: { go: (_state, { end }) => end() } });

test('[B12d, B15a] older code makes no fork of what newer code left: it would run it', async () => {
  const scene = new Scene({ agent: agent(2) });
  const source = await scene.begun();
  await source.run();
  const { id } = await head(source);
  const older = await scene.world.engine({ agent: agent(1) });

  await expect(older.thread(source.id).fork(id, { id: 'fork' })).rejects.toMatchObject({
    code: 'agent_too_old',
    details: { agentVersion: 2, version: 1 },
  });
  expect(await older.thread('fork').row()).toBeUndefined();
});

test('[B12d, B15a] older code forks a checkpoint of its own, also where newer code went on', async () => {
  const scene = new Scene({ agent: agent(1) });
  const source = await scene.begun();
  await source.run();
  const { id } = await head(source);
  const newer = (await scene.world.engine({ agent: agent(2) })).thread(source.id);
  await newer.send({});
  await newer.run();
  const older = await scene.world.engine({ agent: agent(1) });
  await older.thread(source.id).fork(id, { id: 'fork' });

  expect(await older.thread('fork').run()).toEqual({ end: 'done' });
});
