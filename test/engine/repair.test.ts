/** A damaged, swapped or missing record of the state: the thread goes on from what is left, and nothing is done twice. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { deferred } from '../../src/base/deferred.ts';
import type { RunEnd } from '../../src/engine/run-end.ts';
import { log, value } from '../../src/model/fields.ts';
import type { CheckpointId } from '../../src/model/ids.ts';
import type { StoredRecord } from '../../src/model/records.ts';
import { defineAgent } from '../../src/program/agent.ts';
import { tool } from '../../src/program/tool.ts';
import { eventsOf } from './events.ts';
import { answer, never, nth, only, plainState, Scene, ScriptedModel } from './support.ts';

/** Five rounds of a model call, a `once` call and a look at the clock behind it; at the end one that wants an approval. */
function given({ approval = false } = {}) {
  const sent: string[] = [];
  let thoughts = 0;
  const model = new ScriptedModel((prompt) => `thought ${++thoughts} of ${prompt}`); // another one on each call
  const send = tool({
    name: 'send',
    description: 'Sends',
    input: z.object({ text: z.string() }),
    effect: 'once',
    run: ({ text }) => {
      sent.push(text);
      return `receipt ${sent.length}`;
    },
  });
  let isCutOff = !approval;
  const atLast = deferred<void>();
  const close = tool({
    name: 'close',
    description: 'Closes',
    input: z.object({}),
    effect: approval ? 'once' : 'idempotent',
    approval: approval ? 'always' : 'never',
    run: () => {
      atLast.resolve();
      if (isCutOff) return never<string>();
      sent.push('closed');
      return 'closed';
    },
  });
  const agent = defineAgent({
    name: 'rounds',
    version: 1,
    state: {
      round: value(z.number(), 0),
      file: value(z.string(), ''),
      big: value(z.string(), ''),
      lines: log(z.string()),
    },
    tools: { send, close },
    start: 'work',
    nodes: {
      work: async ({ round }, { call, model, now, random, goto }) => {
        const thought = await model.text(`round ${round}`);
        const receipt = await call('send', { text: thought });
        const chance = random();
        const line = `${receipt} ${now()} ${chance}`;
        const big = round === 2 ? 'b'.repeat(9_000) : undefined;
        return goto(round < 4 ? 'work' : 'last', { round: round + 1, lines: [line], ...(big && { big }) });
      },
      last: async ({ file, lines, big }, { call, end }) => {
        const all = await lines.slice(0);
        return end({ lines: [await call('close', {}), `file of ${file.length}, ${big.length}, ${all.length}`] });
      },
    },
  });
  const scene = new Scene({ agent, model });
  const run = async (): Promise<RunEnd> => {
    scene.clock.advance(5_000); // a value that is not recorded shows
    return (await scene.open()).run();
  };
  const now = async () => ({ state: await plainState(await scene.open()), sent: [...sent], calls: model.calls.length });
  /** As far as the last node: it waits for its approval, or is cut off in its call. */
  const arrived = async () => {
    await scene.begun({ file: 'f'.repeat(10_000) });
    const { thread, life } = await scene.mortal();
    const running = thread.run();
    await Promise.race([running, atLast.promise]);
    life.end();
    isCutOff = false;
    return now();
  };
  /** What must have come of `before` at the end. */
  const ending = (before: Awaited<ReturnType<typeof now>>) => ({
    ...before,
    state: { ...before.state, lines: [...(before.state.lines as string[]), 'closed', 'file of 10000, 9000, 5'] },
    sent: [...before.sent, 'closed'],
  });
  return { scene, sent, model, run, arrived, ending, now };
}

/** The key of the checkpoint that many from the newest. */
async function keyOf(scene: Scene, back: number): Promise<string> {
  return nth(await scene.stored('checkpoints'), -1 - back).key;
}

const ruins: readonly [string, (scene: Scene, key: string) => void][] = [
  ['damaged', (scene, key) => scene.damage('checkpoints', (other) => other === key)],
  ['missing', (scene, key) => scene.lose('checkpoints', (other) => other === key)],
  [
    'cut short',
    (scene, key) => scene.change('checkpoints', key, (record) => ({ ...record, body: record.body.slice(0, 90) })),
  ],
];

describe('a snapshot that is', () => {
  test.each(ruins)(
    '[A11d, A6d] %s is made again from the events, and nothing is lost or run again',
    async (_what, ruin) => {
      const { scene, arrived, run, now, ending } = given({ approval: true });
      const before = await arrived();
      ruin(scene, await keyOf(scene, 0));

      expect(await run()).toEqual({ end: 'waiting' });
      expect(await now()).toEqual(before);
      expect(only(scene.frames('repaired')).repair).toMatchObject({ passedOver: 0 });
      const thread = await scene.open();
      await answer(thread, only(await thread.waits()), { decision: 'allow' });
      expect(await run()).toEqual({ end: 'done' });
      expect(await now()).toEqual(ending(before));
    },
  );

  test('[A6d] any, the first included: with no snapshot left all is made again from the events', async () => {
    const { scene, arrived, run, now, ending } = given();
    const before = await arrived();
    const snapshots = (await scene.stored('checkpoints')).filter(({ plain }) => plain.kind === 'snapshot');
    scene.damage('checkpoints', (key) => snapshots.some((snapshot) => snapshot.key === key));

    expect(await run()).toEqual({ end: 'done' });
    expect(await now()).toEqual(ending(before));
    expect(only(scene.frames('repaired')).repair).toMatchObject({ passedOver: 0 });
  });
});

describe('a change that is', () => {
  test.each(ruins)(
    '[A11d, B3c] %s: the steps behind its parent run again, with what is on record',
    async (_what, ruin) => {
      const { scene, arrived, run, now, ending } = given();
      const before = await arrived();
      ruin(scene, await keyOf(scene, 3));

      expect(await run()).toEqual({ end: 'done' });
      expect(await now()).toEqual(ending(before));
      expect(only(scene.frames('repaired')).repair).toMatchObject({ passedOver: 4 });
    },
  );

  test('[A11b, A11d] replaced by an older one that was good there is passed over', async () => {
    const { scene, arrived, run, now, ending } = given();
    const before = await arrived();
    const older = nth(await scene.stored('checkpoints'), -5);
    scene.change('checkpoints', await keyOf(scene, 3), (there) => ({ ...there, body: older.body }));

    expect(await run()).toEqual({ end: 'done' });
    expect(await now()).toEqual(ending(before));
  });

  test('[A11d, B3c] damaged a second time, behind a repair: nothing is done twice', async () => {
    const { scene, arrived, run, now, ending } = given();
    const before = await arrived();
    scene.damage('checkpoints', (key) => key > '0000000003');
    await run();
    scene.damage('checkpoints', (key) => key > '0000000002');

    expect(await run()).toEqual({ end: 'done' });
    expect(await now()).toEqual(ending(before));
  });
});

test('[A11d, A6d] with no checkpoint and no event left the thread begins with its first input, and repeats no call', async () => {
  const { scene, arrived, run, now } = given();
  const before = await arrived();
  scene.damage('checkpoints', () => true);
  scene.damage('events', () => true);

  expect(await run()).toEqual({ end: 'done' });
  const { sent, calls, state } = await now();
  expect({ sent, calls, round: state.round }).toEqual({
    sent: [...before.sent, 'closed'],
    calls: before.calls,
    round: 5,
  });
  expect(only(scene.frames('repaired')).repair).toMatchObject({ to: null });
});

test('[A11d, B9d] an open wait that was passed over is shown again, with its id, and can be answered', async () => {
  const { scene, arrived, run, sent } = given({ approval: true });
  await arrived();
  const wait = only(await (await scene.open()).waits());
  scene.damage('checkpoints', (key) => key > '0000000002');
  scene.damage('events', (key) => key > '0000000002');

  expect(await run()).toEqual({ end: 'waiting' });
  const thread = await scene.open();
  expect(only(await thread.waits())).toEqual(wait);
  await answer(thread, wait, { decision: 'allow' });
  expect(await run()).toEqual({ end: 'done' });
  expect(sent.filter((text) => text === 'closed')).toHaveLength(1);
});

describe('what a state refers to', () => {
  test('[A11d] a lost segment of a log is made again by the steps that made it', async () => {
    const { scene, arrived, run, now, ending } = given();
    const before = await arrived();
    const { key } = nth(await scene.stored('segments'), 2);
    scene.lose('segments', (other) => other === key);

    expect(await run()).toEqual({ end: 'done' });
    expect(await now()).toEqual(ending(before));
  });

  test('[A11d, A11c] a damaged blob is made again by the step that made it, and is kept in its mark', async () => {
    const { scene, arrived, run, now, ending } = given();
    const before = await arrived();
    const { key } = only(
      (await scene.stored('blobs')).filter(({ body }) => body.length > 9_000 && body.length < 9_500),
    );
    scene.damage('blobs', (other) => other === key);

    expect(await run()).toEqual({ end: 'done' });
    expect(await now()).toEqual(ending(before));
    const mark = only((await scene.stored('events')).filter((record) => record.key === `q:blobs/${key}`));
    expect(mark.body.length).toBeGreaterThan(9_000);
  });

  test('[A11d, I10] a lost blob of an input that no step made blocks the thread: nothing can make it again', async () => {
    const { scene, arrived, run } = given();
    await arrived();
    scene.damage('blobs', () => true);

    expect(await run()).toMatchObject({
      end: 'blocked',
      error: { code: 'record_damaged', details: { table: 'blobs' } },
    });
  });
});

test('[A11d, A2a] a row whose sealed part does not open is made again from the records', async () => {
  const { scene, arrived, run, now, ending } = given();
  const before = await arrived();
  const old = nth(await scene.stored('checkpoints'), 2).key as CheckpointId;
  scene.changeRow((row) => ({ ...row, head: old, ledger: 1 }));

  expect(await run()).toEqual({ end: 'done' });
  expect(await now()).toEqual(ending(before));
});

describe('the user', () => {
  test('[A11e] is told what was lost: by a frame, an event and the marks of the records', async () => {
    const { scene, arrived, run } = given();
    await arrived();
    const [from, damaged] = [await keyOf(scene, 0), await keyOf(scene, 3)];
    nth(ruins, 0)[1](scene, damaged);
    await run();

    const { repair } = only(scene.frames('repaired'));
    expect(repair).toMatchObject({ from, passedOver: 4 });
    expect(repair.quarantined).toMatchObject([{ table: 'checkpoints', key: damaged }]);
    const event = only((await eventsOf(scene)).filter(({ type }) => type === 'repaired'));
    expect(event.details).toMatchObject({ from, to: repair.to, passedOver: 4, records: 1 });
    expect(await (await scene.open()).quarantine()).toEqual(repair.quarantined);
  });

  test('[A11c, I10] keeps every damaged record as it was', async () => {
    const { scene, arrived, run } = given();
    await arrived();
    nth(ruins, 0)[1](scene, await keyOf(scene, 3));
    const before = await scene.stored('checkpoints');
    await run();

    expect((await scene.stored('checkpoints')).slice(0, before.length)).toEqual(before);
  });

  test('[A11c, A2b] still gets the list of the good checkpoints', async () => {
    const { scene, arrived, run } = given();
    await arrived();
    const damaged = await keyOf(scene, 3);
    nth(ruins, 0)[1](scene, damaged);
    await run();

    const ids = (await (await scene.open()).checkpoints()).map(({ id }) => id as string);
    expect(ids).not.toContain(damaged);
    expect(ids).toHaveLength((await scene.stored('checkpoints')).length - 1);
  });
});

describe('no repair is made', () => {
  const newer = (record: StoredRecord): StoredRecord => ({ ...record, format: 2 });

  test('[A11d, I10] of a record in a format of newer code', async () => {
    const { scene, arrived, run } = given();
    await arrived();
    scene.change('checkpoints', await keyOf(scene, 0), newer);
    const before = await scene.stored('checkpoints');

    expect(await run()).toMatchObject({ end: 'blocked', error: { code: 'format_unknown' } });
    expect(await scene.stored('checkpoints')).toEqual(before);
  });

  test('[A11d, I10] where an ancestor is in a format of newer code', async () => {
    const { scene, arrived, run } = given();
    await arrived();
    const [key, older] = [await keyOf(scene, 3), await keyOf(scene, 4)];
    scene.damage('checkpoints', (other) => other === key);
    scene.change('checkpoints', older, newer);
    const before = await scene.stored('checkpoints');

    expect(await run()).toMatchObject({ end: 'blocked', error: { code: 'record_damaged' } });
    expect(await scene.stored('checkpoints')).toEqual(before);
  });

  test('[A11d, I10] of a thread none of whose records opens: its key may be another one', async () => {
    const { scene, arrived, run } = given();
    await arrived();
    for (const table of ['checkpoints', 'events', 'inbox', 'segments', 'blobs', 'ledger'] as const)
      scene.damage(table, (key) => !key.startsWith('id:'));
    const before = await scene.stored('checkpoints');

    expect(await run()).toMatchObject({ end: 'blocked' });
    expect(await scene.stored('checkpoints')).toEqual(before);
  });

  test('[A11d, I10] where neither a checkpoint nor an input opens, whatever the row says of inputs', async () => {
    const { scene, arrived, run } = given();
    await arrived();
    for (const table of ['checkpoints', 'events'] as const) scene.damage(table, () => true);
    scene.lose('inbox', () => true);
    scene.changeRow((row) => ({ ...row, inbox: 0 }));

    expect(await run()).toMatchObject({ end: 'blocked', error: { code: 'record_damaged' } });
  });

  test('[A11d, A14b] of a row that names another owner than the one it was made for', async () => {
    const { scene, arrived, run } = given();
    await arrived();
    scene.changeRow((row) => ({ ...row, owner: 'thief' }));

    expect(await run()).toMatchObject({ end: 'blocked', error: { code: 'record_damaged' } });
  });
});
