import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { Checkpointer } from '../../src/checkpointer/checkpointer.ts';
import { log } from '../../src/model/fields.ts';
import { defaultTiers } from '../../src/model/tiers.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';

test('[A5f] the default is the one that the recorded measurement chose, and still costs what was measured', async () => {
  const record = readFileSync(new URL('../../docs/decisions/0004-tiers.md', import.meta.url), 'utf8');
  const choice = /\*\*Choice\.\*\* (\d+) checkpoints or (\w+) minutes/.exec(record);
  expect(choice?.slice(1)).toEqual(['32', 'five']);
  expect(defaultTiers).toMatchObject({ everySteps: 32, everyMs: 5 * 60_000 });

  const world = new TestWorld();
  const saver = new Checkpointer<{ messages: { text: string }[] }>(await world.ports(), {
    fields: { messages: log(z.object({ text: z.string() })) },
  });
  const messages: { text: string }[] = [];
  for (let step = 0; step < 96; step += 1) {
    messages.push({ text: 'm'.repeat(1_000) });
    await saver.save('t', { messages });
  }
  const [row] = world.data.threads.values();
  const checkpoints = row === undefined ? [] : world.data.records('checkpoints', row.thread).range({});
  expect(checkpoints.filter(({ plain }) => plain.kind === 'snapshot')).toHaveLength(3);
  const bytesPerStep = checkpoints.reduce((sum, { body }) => sum + body.length, 0) / checkpoints.length;
  expect(bytesPerStep).toBeLessThan(400);
});
