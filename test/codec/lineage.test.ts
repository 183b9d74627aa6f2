/** Checkpoints, logs and their records, on the level of the codec. */
import { expect, test } from 'vitest';
import { isLogImage } from '../../src/codec/checkpoint-codec.ts';
import { buildCheckpoint, type CheckpointPlan, noChange, type StateChange } from '../../src/codec/commit-builder.ts';
import { LogView } from '../../src/codec/log-codec.ts';
import { openStateImage, openThreadImage, type ThreadImage } from '../../src/codec/thread-image.ts';
import { emptyControl, emptyPosition } from '../../src/model/empty-control.ts';
import { checkpointIdFor } from '../../src/model/ids.ts';
import { givenThread } from './given.ts';

type Given = Awaited<ReturnType<typeof givenThread>>;

async function commit(
  given: Given,
  image: ThreadImage,
  change: Partial<StateChange>,
  plan: Partial<CheckpointPlan> = {},
) {
  const built = await buildCheckpoint(given.codec, image, {
    id: checkpointIdFor(image.row.sequence + 1, given.random),
    kind: 'delta',
    cause: 'step',
    change: { ...noChange, ...change },
    position: emptyPosition,
    control: emptyControl(image.row, image.control.ledgerDigest),
    agent: 'test',
    agentVersion: 1,
    stateVersion: 1,
    atMs: 0,
    span: 'span',
    events: [],
    durability: 'strict',
    ...plan,
  });
  const [result] = await given.store.commit([built.group]);
  expect(result).toEqual({ status: 'applied' });
  return built;
}

async function givenLineage(steps: number) {
  const given = await givenThread(11);
  let image = await openThreadImage(given.codec, given.row);
  for (let step = 0; step < steps; step += 1) {
    const set = new Map<string, unknown>([['count', step]]);
    if (step === 0) set.set('fixed', { text: 'x'.repeat(10_000) });
    const append = new Map([['log', [`item ${step}`, { step }]]]);
    image = (await commit(given, image, { set, append }, { kind: step % 5 === 0 ? 'snapshot' : 'delta' })).image;
  }
  return { given, image };
}

test('[A5d, A2b] the state is the newest snapshot and the deltas after it', async () => {
  const { given, image } = await givenLineage(14);
  const row = await given.store.readThread(given.hash);
  const opened = await openThreadImage(given.codec, row ?? given.row);
  expect(opened.state?.sinceBase).toBe(3);
  expect([...(opened.state?.fields ?? [])]).toEqual([...(image.state?.fields ?? [])]);
  const stored = opened.state?.fields.get('count');
  expect(stored !== undefined && !isLogImage(stored) && (await given.codec.decodeValue(stored))).toBe(13);
});

test('[A1a, A5d] any checkpoint on the way can be opened', async () => {
  const { given } = await givenLineage(12);
  const records = await given.store.range('checkpoints', given.hash, {});
  for (const [step, { key }] of records.entries()) {
    const { fields } = await openStateImage(given.codec, key as never);
    const count = fields.get('count');
    expect(count !== undefined && !isLogImage(count) && (await given.codec.decodeValue(count))).toBe(step);
    const log = fields.get('log');
    expect(log !== undefined && isLogImage(log) && new LogView(given.codec, 'log', log).length).toBe((step + 1) * 2);
  }
});

test('[A3a, A3b] ids sort in commit order, carry a random part, and each names its parent', async () => {
  const { given } = await givenLineage(40);
  const records = await given.store.range('checkpoints', given.hash, {});
  const keys = records.map(({ key }) => key);
  expect(keys).toEqual([...keys].sort());
  expect(new Set(keys.map((key) => key.slice(11))).size).toBe(40);
  expect(records.map(({ plain }) => plain.parent)).toEqual([null, ...keys.slice(0, -1)]);
});

test('[A8c, I8] an untouched 10 MB field adds nothing to a commit, a snapshot included', async () => {
  const given = await givenThread(12);
  const big = new Uint8Array(10 * 2 ** 20).map((_, index) => index);
  const start = await openThreadImage(given.codec, given.row);
  const { image } = await commit(given, start, {
    set: new Map<string, unknown>([
      ['big', big],
      ['small', 1],
    ]),
  });
  const bytesOf = async (kind: 'delta' | 'snapshot') => {
    const { group } = await commit(
      { ...given, store: { commit: async () => [{ status: 'applied' }] } as never },
      image,
      {
        set: new Map([['small', 2]]),
      },
      { kind },
    );
    return group.records.reduce((sum, { body }) => sum + body.length, 0);
  };
  expect(await bytesOf('delta')).toBeLessThan(600);
  expect(await bytesOf('snapshot')).toBeLessThan(700);
});

test('[A3c, I2] a group that lost its head writes nothing', async () => {
  const { given, image } = await givenLineage(3);
  const rival = await commit(given, image, { set: new Map([['count', 'theirs']]) });
  const before = await given.store.range('checkpoints', given.hash, {});
  const late = await buildCheckpoint(given.codec, image, {
    ...({} as CheckpointPlan),
    id: checkpointIdFor(image.row.sequence + 1, given.random),
    kind: 'delta',
    cause: 'step',
    change: { ...noChange, set: new Map([['count', 'mine']]) },
    position: emptyPosition,
    control: emptyControl(image.row, image.control.ledgerDigest),
    agent: 'test',
    agentVersion: 1,
    stateVersion: 1,
    atMs: 0,
    span: 'span',
    events: [],
    durability: 'strict',
  });
  expect(await given.store.commit([late.group])).toEqual([
    { status: 'head_moved', expected: image.row.head, actual: rival.image.row.head },
  ]);
  expect(await given.store.range('checkpoints', given.hash, {})).toEqual(before);
});

test('[A11b] a checkpoint in the place of another, or an older row, is found', async () => {
  const { given } = await givenLineage(8);
  const records = given.store.data.records('checkpoints', given.hash);
  const [a, b] = (await given.store.range('checkpoints', given.hash, {})).slice(-2);
  if (a === undefined || b === undefined) throw new Error('two checkpoints were made');
  records.put({ ...b, body: a.body, plain: a.plain });
  const row = await given.store.readThread(given.hash);
  const error = await openThreadImage(given.codec, row ?? given.row).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'record_damaged', details: { table: 'checkpoints', key: b.key } });
  records.put(b);
  const replayed = { ...(row ?? given.row), head: a.key as never };
  const other = await openThreadImage(given.codec, replayed).catch((thrown: unknown) => thrown);
  expect(other).toMatchObject({ code: 'record_damaged', details: { table: 'threads', key: 'control' } });
});

test('[A11b] a parent that is not the one a checkpoint was made from is found', async () => {
  const { given, image } = await givenLineage(7);
  const records = await given.store.range('checkpoints', given.hash, {});
  const parent = records.at(-2);
  if (parent === undefined) throw new Error('seven checkpoints were made');
  // Sealed again with the right key at the same place: authentic by itself, but not what the child was made from.
  const { plaintext, parentTag } = await given.codec.openRecord('checkpoints', parent);
  const forged = await given.codec.sealRecord('checkpoints', parent.key, plaintext, { plain: parent.plain, parentTag });
  given.store.data.records('checkpoints', given.hash).put({ ...parent, body: forged.body });
  const error = await openThreadImage(given.codec, image.row).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'record_damaged', details: { key: parent.key } });
});

test('[A9a] a log gives its newest items, ranges and all of them in order', async () => {
  const { given, image } = await givenLineage(100);
  const stored = image.state?.fields.get('log');
  if (stored === undefined || !isLogImage(stored)) throw new Error('log is a log');
  const view = new LogView(given.codec, 'log', stored);
  expect(view.length).toBe(200);
  expect(await view.tail(3)).toEqual([{ step: 98 }, 'item 99', { step: 99 }]);
  expect(await view.slice(99, 102)).toEqual([{ step: 49 }, 'item 50', { step: 50 }]);
  expect(await view.slice(-5, 1)).toEqual([]);
  expect(await view.slice(-500, 1)).toEqual(['item 0']);
  expect(await view.slice(200)).toEqual([]);
  const all: unknown[] = [];
  for await (const item of view) all.push(item);
  expect(all).toHaveLength(200);
  expect(all[101]).toEqual({ step: 50 });
});

test('[A9a, I10] a missing segment is named', async () => {
  const { given, image } = await givenLineage(10);
  const stored = image.state?.fields.get('log');
  if (stored === undefined || !isLogImage(stored)) throw new Error('log is a log');
  const segments = await given.store.range('segments', given.hash, {});
  given.store.data.records('segments', given.hash).delete(segments[4]?.key ?? '');
  const error = await new LogView(given.codec, 'log', stored).slice(6, 12).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'record_missing', details: { table: 'segments' } });
});

test('[A9a] many items in one commit are split into records below 64 KiB, and large ones stored apart', async () => {
  const given = await givenThread(13);
  const items = Array.from({ length: 300 }, (_, index) => ({ index, text: 'y'.repeat(index === 5 ? 9_000 : 900) }));
  const start = await openThreadImage(given.codec, given.row);
  const { image } = await commit(given, start, { append: new Map([['log', items]]) });
  const segments = await given.store.range('segments', given.hash, {});
  expect(segments.length).toBeGreaterThan(5);
  expect(Math.max(...segments.map(({ body }) => body.length))).toBeLessThan(48 * 1024);
  const stored = image.state?.fields.get('log');
  if (stored === undefined || !isLogImage(stored)) throw new Error('log is a log');
  expect(await new LogView(given.codec, 'log', stored).slice(0)).toEqual(items);
  expect(await new LogView(given.codec, 'log', stored).slice(57, 59)).toEqual(items.slice(57, 59));
});

test('[A11b] a head that was sealed again is not the one that the thread names', async () => {
  const { given, image } = await givenLineage(7);
  const [head] = await given.store.range('checkpoints', given.hash, { reverse: true, limit: 1 });
  if (head === undefined) throw new Error('seven checkpoints were made');
  const { plaintext, parentTag } = await given.codec.openRecord('checkpoints', head);
  const forged = await given.codec.sealRecord('checkpoints', head.key, plaintext, { plain: head.plain, parentTag });
  given.store.data.records('checkpoints', given.hash).put({ ...head, body: forged.body });
  const error = await openThreadImage(given.codec, image.row).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'record_damaged', details: { key: head.key } });
});

test('[A8a, A8c] a large structure without any large part is stored apart too, once for any number of snapshots', async () => {
  const given = await givenThread(14);
  const rows = Array.from({ length: 2_000 }, (_, at) => ({ at, text: `row ${at}` }));
  let image = await openThreadImage(given.codec, given.row);
  image = (await commit(given, image, { set: new Map<string, unknown>([['rows', rows]]) })).image;
  for (let n = 0; n < 4; n += 1) {
    image = (await commit(given, image, { set: new Map([['n', n]]) }, { kind: 'snapshot' })).image;
  }
  const checkpoints = await given.store.range('checkpoints', given.hash, {});
  expect(Math.max(...checkpoints.map(({ body }) => body.length))).toBeLessThan(600);
  const stored = image.state?.fields.get('rows');
  expect(stored !== undefined && !isLogImage(stored) && (await given.codec.decodeValue(stored))).toEqual(rows);
});
