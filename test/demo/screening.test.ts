import { FileRef } from 'holdfast';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type RunningOutbox, startOutbox } from '../../src/demo/outbox/outbox.ts';
import { sampleApplications } from '../../src/demo/samples/index.ts';
import { screening } from '../../src/demo/screening.ts';
import { screeningModel } from '../../src/demo/screening-model.ts';
import type { InvitationOutcome, Outcome, Ranking } from '../../src/demo/screening-state.ts';
import type { Log } from '../../src/model/fields.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { sampleBytes } from './samples.ts';

let outbox: RunningOutbox;
beforeEach(async () => {
  outbox = await startOutbox({ port: 0 });
});
afterEach(() => outbox.close());

async function sampleFile(name: string): Promise<FileRef> {
  return FileRef.from({ name, bytes: await sampleBytes(name) });
}

async function sampleInput(names = sampleApplications.map(({ name }) => name)) {
  return { jobFile: await sampleFile('job.md'), files: await Promise.all(names.map(sampleFile)) };
}

function textFile(name: string, content: string | Uint8Array): FileRef {
  return FileRef.from({ name, bytes: typeof content === 'string' ? new TextEncoder().encode(content) : content });
}

async function givenThread(world = new TestWorld()) {
  const options = { agent: screening({ outboxUrl: outbox.url }), model: screeningModel({ latencyMs: 0 }) };
  const thread = (await world.engine(options)).thread('applications');
  return {
    thread,
    world,
    /** The same thread after a restart. */
    restarted: async () => (await world.engine(options)).thread('applications'),
    async state() {
      const state = await thread.state();
      return {
        outcomes: await (state.outcomes as Log<Outcome>).slice(0),
        invitations: await (state.invitations as Log<InvitationOutcome>).slice(0),
        ranking: state.ranking as Ranking | null,
        summary: state.summary as string,
      };
    },
  };
}

test('screens the samples in about 50 steps, and sends each invitation that is allowed once', async () => {
  const { thread, state, world } = await givenThread();
  await thread.send(await sampleInput());
  expect(await thread.run()).toEqual({ end: 'waiting' });

  const waits = await thread.waits();
  expect(waits.map(({ tool, args }) => [tool, (args as { to: string }).to])).toEqual([
    ['invite', 'amara.okafor@example.org'],
  ]);
  expect(outbox.outbox.deliveries()).toEqual([]);
  for (const { id, digest } of waits) await thread.answer(id, digest, { decision: 'allow' });
  expect(await thread.run()).toEqual({ end: 'done' });

  const { ranking, invitations, outcomes, summary } = await state();
  expect(outcomes).toHaveLength(12);
  expect(ranking?.candidates.map(({ place, file, assessment }) => [place, file, assessment.score])).toEqual([]);
  expect(ranking?.unreadable.map(({ file }) => file)).toEqual(['09-grace-whitfield.pdf']);
  expect(invitations.map(({ status }) => status)).toEqual([]);
  expect(summary).toEqual('');
  expect(world.frames.filter((frame) => frame.type === 'step' && frame.step.cause === 'step')).toHaveLength(50);
});
