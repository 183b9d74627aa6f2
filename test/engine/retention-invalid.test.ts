/** Retention deletes: what it is given is checked before. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { log } from '../../src/model/fields.ts';
import { type CheckpointId, sequenceOf } from '../../src/model/ids.ts';
import { dayMs, type RetentionPolicy } from '../../src/model/retention.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { Scene } from './support.ts';

const agent = defineAgent({
  name: 'sayer',
  version: 1,
  state: { said: log(z.string()) },
  start: 'go',
  nodes: { go: (_state, { end }) => end({ said: ['word'] }) },
});

async function given() {
  const scene = new Scene({ agent });
  for (let run = 0; run < 4; run += 1) {
    const thread = await scene.open();
    await thread.send({});
    await thread.run();
  }
  return scene;
}

const odd: readonly (readonly [object, string])[] = [
  [{ doneDays: -1 }, 'doneDays is -1, not a number from 0'],
  [{ failedDays: Number.NaN }, 'failedDays is NaN, not a number from 0'],
  [{ eventDays: 'x' }, 'eventDays is "x", not a number from 0'],
  [{ keepCheckpoints: -3 }, 'keepCheckpoints is -3, not a whole number from 0'],
  [{ eventDays: '5' }, 'eventDays is "5", not a number from 0'],
  [{ keepCheckpoints: 1.5 }, 'keepCheckpoints is 1.5, not a whole number from 0'],
  [{ doneDay: 3 }, 'it has "doneDay"; there are keepCheckpoints, eventDays, failedDays, doneDays'],
];

describe('a retention', () => {
  test.each(odd)('[A12b] of %j is refused by purge and compact, and nothing is deleted', async (policy, problem) => {
    const scene = await given();
    const before = (await scene.stored('checkpoints')).length;
    const refused = { code: 'retention_invalid', details: { problem } };

    await expect((await scene.world.engine({ agent })).purge(policy as Partial<RetentionPolicy>)).rejects.toMatchObject(
      refused,
    );
    await expect((await scene.open()).compact(policy as Partial<RetentionPolicy>)).rejects.toMatchObject(refused);
    expect(await scene.stored('checkpoints')).toHaveLength(before);
  });

  test.each(odd)('[A12b] of %j does not start an engine', async (policy, problem) => {
    const retention = policy as Partial<RetentionPolicy>;

    await expect(new Scene({ agent }).world.engine({ agent, retention })).rejects.toMatchObject({
      code: 'retention_invalid',
      details: { problem },
    });
  });

  test('[A12b] of Infinity keeps for ever', async () => {
    const scene = await given();
    scene.clock.advance(1_000 * dayMs);

    expect((await (await scene.world.engine({ agent })).purge({ doneDays: Infinity })).purged).toEqual([]);
    const { deleted } = await (await scene.open()).compact({ keepCheckpoints: Infinity });
    expect(deleted.checkpoints).toBe(0);
  });
});

test('[A1a] what a compaction keeps beside the checkpoints is no checkpoint', async () => {
  const scene = await given();
  const thread = await scene.open();
  await thread.compact({ keepCheckpoints: 1, eventDays: 0 });
  const beside = (await scene.stored('checkpoints')).map(({ key }) => key).find((key) => sequenceOf(key) === undefined);

  expect(beside).toMatch(/^[0-9a-f]{10}-[\w-]{12}\.base$/);
  for (const ask of [
    () => thread.state(beside as CheckpointId),
    () => thread.inspect(beside as CheckpointId),
    () => thread.rollBack(beside as CheckpointId),
  ]) {
    await expect(ask()).rejects.toMatchObject({ code: 'checkpoint_unknown' });
  }
});
