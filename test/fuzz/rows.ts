/** The thread's row, whose fields are partly plain and bound by a seal; the wrap of its key; and the key ring. */

import { ringOwner } from '../../src/codec/key-ring.ts';
import { openThreadImage } from '../../src/codec/thread-image.ts';
import type { ThreadRow } from '../../src/model/records.ts';
import type { Corpus, Exhibit } from './corpus.ts';
import type { Dice } from './dice.ts';
import { mutated } from './hostile-bytes.ts';
import { hostileValue } from './hostile-values.ts';
import { judgeError, type Verdict } from './verdict.ts';

/** What the sealed part of a row authenticates. The others are the store's to change (docs/format.md). */
const bound = [
  'thread',
  'namespace',
  'owner',
  'agent',
  'head',
  'sequence',
  'ledger',
  'incarnation',
  'format',
  'control',
] as const;

export async function tryRow(dice: Dice, corpus: Corpus, thread: Exhibit): Promise<Verdict> {
  const { olderRows } = thread;
  const row = dice.pick([thread.row, ...olderRows]);
  const [one, other] = corpus.threads;
  const neighbour = (row.thread === one.hash ? other : one).row;
  const field = dice.pick(bound);
  const changed: Record<string, unknown> = { ...row };
  changed[field] = dice.pick<() => unknown>([
    () => (field === 'thread' ? dice.pick(['', 'another', ringOwner]) : hostileValue(dice)),
    () => neighbour[field],
    () => dice.pick(olderRows)[field],
    () => (field === 'control' ? mutated(dice, row.control, neighbour.control) : disguised(row[field])),
  ])();
  if (sameField(changed[field], row[field])) return { is: 'read' };
  try {
    const hostile = changed as unknown as ThreadRow;
    const codec = await corpus.keyRing.openThread(hostile.thread, hostile.incarnation);
    await openThreadImage(codec, hostile);
  } catch (error) {
    return judgeError(error);
  }
  return { is: 'accepted', message: `a row whose field ${field} was changed is read` };
}

function disguised(value: unknown): unknown {
  if (typeof value === 'string') return new TextEncoder().encode(value);
  if (typeof value !== 'number') return undefined;
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, BigInt(value));
  return value === 0 ? 2 ** 64 : new TextDecoder().decode(bytes);
}

function sameField(a: unknown, b: unknown): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array)
    return a.length === b.length && a.every((byte, at) => byte === b[at]);
  return a === b;
}

/** Records of the ring and of wraps: plain fields, bytes, and those of one another. */
export async function tryWrap(
  dice: Dice,
  { store, reopen, keyRing, threads }: Corpus,
  thread: Exhibit,
): Promise<Verdict> {
  const owner = dice.chance(0.5) ? ringOwner : thread.hash;
  const records = await store.range('wraps', owner, {});
  const record = dice.pick(records);
  const pool = [
    ...(await store.range('wraps', ringOwner, {})),
    ...(await Promise.all(threads.map(({ hash }) => store.range('wraps', hash, {})))).flat(),
  ];
  const other = dice.pick(pool.filter(({ body }) => body !== record.body));
  const changed = dice.pick<() => object>([
    () => ({ ...record, body: mutated(dice, record.body, other.body) }),
    () => ({ ...record, body: hostileValue(dice) }),
    () => ({ ...record, body: other.body }),
    () => ({ ...other, key: record.key }),
    () => ({ ...record, plain: hostileValue(dice) }),
    () => ({ ...record, format: dice.pick([0, 2, -1, 0.5, Number.NaN, 2 ** 64, '1', {}, null, undefined, [1]]) }),
    () => ({
      ...record,
      plain: Object.fromEntries(Object.keys(record.plain).map((name) => [name, hostileValue(dice)])),
    }),
  ])();
  store.put('wraps', owner, record.key, changed);
  try {
    if (owner === ringOwner) await (await reopen()).openThread(thread.hash, thread.row.incarnation);
    else await openThreadImage(await keyRing.openThread(thread.hash, thread.row.incarnation), thread.row);
  } catch (error) {
    return judgeError(error);
  }
  return {
    is: 'accepted',
    message: `${record.key} of the key ring was changed and is read`,
  };
}
