/** One thread that stops its worker each time it is run, among a hundred that are only slow (PROTOCOL 5). */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { type Deferred, deferred } from '../../src/base/deferred.ts';
import { Host } from '../../src/host/host.ts';
import { value } from '../../src/model/fields.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { CuttingStore, Life } from '../../src/testing/cutting-store.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { quiet } from '../engine/support.ts';
import { Workers } from './workers.ts';

function given() {
  const now: { life: Life; calls: Deferred<null>[] } = { life: new Life(), calls: [] };
  const act = tool({
    name: 'act',
    description: 'Acts for as long as the test says',
    input: z.object({}),
    effect: 'idempotent',
    run: () => {
      const call = deferred<null>();
      now.calls.push(call);
      return call.promise;
    },
  });
  const agent = defineAgent({
    name: 'worker',
    version: 1,
    state: { isPoison: value(z.boolean(), false) },
    tools: { act },
    start: 'go',
    nodes: {
      go: async ({ isPoison }, { call, end }) => {
        if (isPoison) now.life.end();
        await call('act', {});
        return end();
      },
    },
  });
  return { now, agent };
}

async function settled() {
  for (let turn = 0; turn < 5; turn += 1) await quiet();
}

test('[B5e] a thread that stops its worker each time fails; none of a hundred slow ones is failed with it', async () => {
  const { now, agent } = given();
  const world = new TestWorld();
  const engine = await world.engine({ agent });
  for (let index = 0; index < 100; index += 1) await engine.thread(`thread ${index}`).send({ isPoison: index === 50 });
  const most = { resumes: 0 };
  let lives = 0;
  for (let isOver = false; !isOver; lives += 1) {
    if (lives > 40) throw new Error('The poison was never found.');
    const life = new Life();
    Object.assign(now, { life, calls: [] });
    const host = new Host({
      ports: await world.ports(new CuttingStore(world.store(), life)),
      options: { agent },
      locks: { hold: (_name, _signal, work) => work() },
      hints: { post: () => undefined, listen: () => undefined, close: () => undefined },
      lifeLock: 'life',
      resume: 'auto',
    });
    await Promise.race([host.start(), life.death]);
    await settled();
    // The calls end, one after the other, for as long as the worker lives.
    for (let next = now.calls.shift(); next !== undefined && !life.isOver; next = now.calls.shift()) {
      next.resolve(null);
      await settled();
    }
    const rows = [...world.data.threads.values()];
    most.resumes = Math.max(most.resumes, ...rows.map(({ resumes }) => resumes));
    isOver = rows.every(({ status }) => status === 'done' || status === 'failed');
    if (!isOver && !life.isOver) throw new Error('Nothing goes on.');
  }

  const rows = [...world.data.threads.values()];
  expect(rows.filter(({ status }) => status === 'failed')).toHaveLength(1);
  expect(rows.filter(({ status }) => status === 'done')).toHaveLength(99);
  expect(most.resumes).toBe(8);
  expect(await (await world.engine({ agent })).thread('thread 50').checkpoints({ limit: 1 })).toMatchObject([
    { control: { failure: { code: 'resume_limit' } } },
  ]);
});

test('[B5e, B14a] a suspect that another worker runs does not keep the others waiting', async () => {
  const { now, agent } = given();
  const workers = new Workers(agent);
  const { world } = workers;
  const life = new Life();
  const engine = await world.engine({ agent }, new CuttingStore(world.store(), life));
  for (const id of ['one', 'two']) {
    await engine.thread(id).send({});
    void engine.thread(id).run();
  }
  await settled();
  life.end();
  for (const [hash, row] of world.data.threads) world.data.threads.set(hash, { ...row, resumes: 4 });
  now.calls.length = 0;
  await workers.start(); // runs one of them, whose call does not end
  await settled();
  expect(now.calls).toHaveLength(1);
  await workers.start();
  await settled();
  expect(now.calls).toHaveLength(1);
  world.clock.advance(1_000);
  await settled();

  expect(now.calls).toHaveLength(2);
});
