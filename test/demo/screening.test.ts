import { FileRef } from 'holdfast';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { deferred } from '../../src/base/deferred.ts';
import { type RunningOutbox, startOutbox } from '../../src/demo/outbox/outbox.ts';
import { readApplication } from '../../src/demo/read-application.ts';
import { DOCUMENT_LIMIT_BYTES } from '../../src/demo/read-document.ts';
import { sampleApplications } from '../../src/demo/samples/index.ts';
import { screening } from '../../src/demo/screening.ts';
import { screeningModel } from '../../src/demo/screening-model.ts';
import type { Invitation, InvitationOutcome, Outcome, Ranking } from '../../src/demo/screening-state.ts';
import type { Job } from '../../src/demo/types.ts';
import type { Log } from '../../src/model/fields.ts';
import type { WaitAnswer } from '../../src/model/wait.ts';
import { TestWorld } from '../../src/testing/test-engine.ts';
import { sampleBytes } from './samples.ts';

const INVITED = [
  'amara.okafor@example.org',
  'jonas.brandstaetter@example.org',
  'sam.oneill@example.org',
  'oskar.lindqvist@example.org',
  'priya.raman@example.org',
  'hana.sato@example.org',
  'camille.laurent@example.org',
];

let outbox: RunningOutbox;
beforeEach(async () => {
  outbox = await startOutbox({ port: 0 });
});
afterEach(() => outbox.close());

async function sampleFile(name: string): Promise<FileRef> {
  return FileRef.from({ name, bytes: await sampleBytes(name) });
}

async function sampleInput() {
  const files = await Promise.all(sampleApplications.map(({ name }) => sampleFile(name)));
  return { jobFile: await sampleFile('job.md'), files };
}

function textFile(name: string, content: string | Uint8Array): FileRef {
  return FileRef.from({ name, bytes: typeof content === 'string' ? new TextEncoder().encode(content) : content });
}

const bakerJob = textFile('job.txt', 'Title: Baker\nRequired skills: bread\nExperience: 3 years');
const ann = textFile('ann.txt', 'Name: Ann Example\nE-mail: ann@example.org\nExperience: 4 years\nSkills: bread');

/** A screening of which each call of `restarted` is a fresh engine on what was stored. */
async function givenScreening(outboxUrl = outbox.url) {
  const world = new TestWorld();
  const options = { agent: screening({ outboxUrl }), model: screeningModel({ latencyMs: 0 }) };
  const restarted = async () => (await world.engine(options)).thread('applications');
  const thread = await restarted();
  return {
    thread,
    world,
    restarted,
    async answerAll(answer: WaitAnswer = { decision: 'allow' }) {
      for (const { id, digest } of await thread.waits()) await thread.answer(id, digest, answer);
    },
    async state() {
      const state = await thread.state();
      return {
        job: state.job as Job | null,
        outcomes: await (state.outcomes as Log<Outcome>).slice(0),
        invitations: await (state.invitations as Log<InvitationOutcome>).slice(0),
        ranking: state.ranking as Ranking | null,
        summary: state.summary as string,
      };
    },
  };
}

test('[B1a] screens the samples in 50 steps: reads, ranks, and asks before each invitation', async () => {
  const { thread, state, world, answerAll } = await givenScreening();
  await thread.send(await sampleInput());
  expect(await thread.run()).toEqual({ end: 'waiting' });
  const waits = await thread.waits();
  expect(waits.map(({ args }) => (args as Invitation).to)).toEqual(INVITED);
  expect(waits[0]?.reason).toContain('Place 1 with 94 of 100 points.');
  expect(outbox.outbox.deliveries()).toEqual([]);

  await answerAll();
  expect(await thread.run()).toEqual({ end: 'done' });
  const { ranking, invitations, outcomes, summary } = await state();
  expect(outcomes).toHaveLength(12);
  expect(ranking?.candidates.map(({ place, file, assessment }) => `${place} ${file} ${assessment.score}`)).toEqual([
    '1 01-amara-okafor.pdf 94',
    '1 02-jonas-brandstaetter.pdf 94',
    '1 12-sam-oneill.txt 94',
    '4 08-oskar-lindqvist.pdf 92',
    '5 03-priya-raman.md 91',
    '5 06-mateo-fuentes.pdf 91',
    '7 07-hana-sato.txt 83',
    '8 05-camille-laurent.md 71',
    '9 11-leila-haddad.md 68',
    '10 04-tomasz-zielinski.txt 65',
    '11 10-dmitri-volkov.txt 30',
  ]);
  expect(ranking?.unreadable.map(({ file }) => file)).toEqual(['09-grace-whitfield.pdf']);
  expect(invitations.map(({ status }) => status)).toEqual(INVITED.map(() => 'sent'));
  expect(summary).toContain('Amara Okafor fits best, with 94 of 100 points.');
  const steps = world.frames.filter((frame) => frame.type === 'step' && frame.step.cause === 'step');
  expect(steps).toHaveLength(50);
});

test('[B3c] the outbox gets each invitation once, also when every answer is followed by a restart', async () => {
  const { thread, restarted } = await givenScreening();
  await thread.send(await sampleInput());
  await thread.run();
  for (const { id, digest } of await thread.waits()) {
    const after = await restarted();
    await after.answer(id, digest, { decision: 'allow' });
    await after.run();
  }
  const deliveries = outbox.outbox.deliveries();
  expect(deliveries.map(({ to }) => to).sort()).toEqual([...INVITED].sort());
  expect(new Set(deliveries.map(({ key }) => key)).size).toBe(INVITED.length);
});

test('[B9d] an invitation that is denied is not sent, one that is edited goes out as edited', async () => {
  const { thread, state } = await givenScreening();
  const bea = textFile('bea.txt', 'Name: Bea Example\nE-mail: bea@example.org\nExperience: 5 years\nSkills: bread');
  await thread.send({ jobFile: bakerJob, files: [ann, bea] });
  await thread.run();
  const [first, second] = await thread.waits();
  if (first === undefined || second === undefined) throw new Error('Two invitations should wait.');
  const args = { ...(first.args as Invitation), body: 'Come on Monday.' };
  await thread.answer(first.id, first.digest, { decision: 'allow', args });
  await thread.answer(second.id, second.digest, { decision: 'deny' });
  expect(await thread.run()).toEqual({ end: 'done' });
  expect(outbox.outbox.deliveries().map(({ to, body }) => [to, body])).toEqual([
    ['ann@example.org', 'Come on Monday.'],
  ]);
  const { invitations, summary } = await state();
  expect(invitations.map(({ status }) => status)).toEqual(['sent', 'denied']);
  expect(summary).toContain('Not invited after all: Bea Example.');
});

test('files that cannot be read are recorded with what to do, and the run goes on', async () => {
  const { thread, state } = await givenScreening();
  const files = [textFile('empty.txt', ''), textFile('photo.jpg', new Uint8Array([0xff, 0xd8])), ann];
  await thread.send({ jobFile: bakerJob, files: [...files, await sampleFile('09-grace-whitfield.pdf')] });
  expect(await thread.run()).toEqual({ end: 'waiting' });
  const { ranking } = await state();
  expect(ranking?.candidates.map(({ file }) => file)).toEqual(['ann.txt']);
  expect(ranking?.unreadable.map(({ message }) => message)).toEqual([
    '"empty.txt" is empty. Check the file, or ask for another copy.',
    '"photo.jpg" is of a type that cannot be read here. Add plain text (.txt), Markdown (.md) or PDF (.pdf).',
    expect.stringContaining('is damaged and cannot be read as PDF'),
  ]);
});

test('a file that is too large is not even loaded', async () => {
  const file = textFile('huge.txt', new Uint8Array(DOCUMENT_LIMIT_BYTES + 1));
  const load = vi.spyOn(file.constructor.prototype, 'bytes');
  const read = await readApplication(file, new AbortController().signal);
  expect(read).toMatchObject({ file: 'huge.txt', message: expect.stringContaining('the limit is 20 MB') });
  expect(load).not.toHaveBeenCalled();
  load.mockRestore();
});

test('a job description in another encoding is read', async () => {
  const { thread, state } = await givenScreening();
  const bytes = new Uint8Array([...'Title: B\u00e4cker\nRequired skills: bread'].map((c) => c.charCodeAt(0)));
  await thread.send({ jobFile: textFile('job.txt', bytes), files: [ann] });
  await thread.run();
  expect((await state()).job?.title).toBe('Bäcker');
});

test('without a job description the thread fails with what to do, and goes on once there is one', async () => {
  const { thread, state } = await givenScreening();
  await thread.send({ files: [ann] });
  expect(await thread.run()).toMatchObject({ end: 'failed' });
  await thread.send({ jobFile: bakerJob });
  await thread.run();
  expect((await state()).outcomes.map(({ kind }) => kind)).toEqual(['assessed']);
});

test('[B10c] a run that was stopped while invitations waited asks for them again, with a warning', async () => {
  const { thread, state } = await givenScreening();
  await thread.send({ jobFile: bakerJob, files: [ann] });
  await thread.run();
  await thread.cancel();
  expect(await thread.run()).toEqual({ end: 'cancelled' });
  expect(await thread.waits()).toEqual([]);
  await thread.send({});
  expect(await thread.run()).toEqual({ end: 'waiting' });
  const [wait] = await thread.waits();
  expect(wait).toMatchObject({ tool: 'invite_again', reason: expect.stringContaining('Look into the outbox first') });
  if (wait !== undefined) await thread.answer(wait.id, wait.digest, { decision: 'allow' });
  expect(await thread.run()).toEqual({ end: 'done' });
  expect(outbox.outbox.deliveries()).toHaveLength(1);
  expect((await state()).invitations.map(({ status }) => status)).toEqual(['sent']);
});

test('[B9e, B10c] what was allowed for the whole run is not allowed for what is asked again after a stop', async () => {
  const { thread, state } = await givenScreening();
  const ben = textFile('ben.txt', 'Name: Ben Baker\nE-mail: ben@example.org\nExperience: 5 years\nSkills: bread');
  await thread.send({ jobFile: bakerJob, files: [ann, ben] });
  await thread.run();
  // The outbox does not answer the first invitation, and the run is stopped meanwhile.
  const { fetch } = globalThis;
  const reached = deferred<void>();
  globalThis.fetch = () => {
    reached.resolve();
    return new Promise(() => undefined);
  };
  const [first] = await thread.waits();
  if (first !== undefined) await thread.answer(first.id, first.digest, { decision: 'allow', forThread: true });
  const running = thread.run();
  await reached.promise;
  await thread.cancel();
  await thread.look();
  expect(await running).toEqual({ end: 'cancelled' });
  globalThis.fetch = fetch;
  await thread.send({});
  expect(await thread.run()).toEqual({ end: 'waiting' });
  expect((await thread.waits()).map(({ tool }) => tool)).toEqual(['invite_again', 'invite_again']);
  expect(outbox.outbox.deliveries()).toEqual([]);
  expect((await state()).invitations).toEqual([]);
});

test('what the outbox refuses is reported, and the run goes on', async () => {
  const { thread, state } = await givenScreening();
  await thread.send({ jobFile: bakerJob, files: [ann] });
  await thread.run();
  const [wait] = await thread.waits();
  if (wait === undefined) throw new Error('An invitation should wait.');
  const args = { ...(wait.args as Invitation), body: 'x'.repeat(1024 * 1024 + 1) };
  await thread.answer(wait.id, wait.digest, { decision: 'allow', args });
  expect(await thread.run()).toEqual({ end: 'done' });
  const [outcome] = (await state()).invitations;
  expect(outcome).toMatchObject({ status: 'refused', note: expect.stringContaining('the limit is') });
});

test('[B4d] an invitation whose answer was lost is looked up, not sent again', async () => {
  const { thread, state, answerAll } = await givenScreening();
  await thread.send({ jobFile: bakerJob, files: [ann] });
  await thread.run();
  await answerAll();
  const { fetch } = globalThis;
  globalThis.fetch = async (...request) => {
    globalThis.fetch = fetch;
    await fetch(...request);
    throw new TypeError('The connection was lost.');
  };
  try {
    expect(await thread.run()).toEqual({ end: 'done' });
  } finally {
    globalThis.fetch = fetch;
  }
  expect(outbox.outbox.deliveries()).toHaveLength(1);
  expect((await state()).invitations.map(({ status }) => status)).toEqual(['sent']);
});
